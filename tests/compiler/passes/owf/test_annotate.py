"""What ``warpfile analyze`` shows of registers that two CTAs share."""

from __future__ import annotations

from warpfile.compiler import parse
from warpfile.compiler.model import Function
from warpfile.compiler.passes.owf.annotate import shown
from warpfile.pages.mutation import configured
from warpfile.schemes import find

CFG = configured(find("owf"), "tiny")


def function_of(*code: str) -> Function:
    lines = "".join(f"        /*{16 * number:04x}*/                   {text} ;\n" for number, text in enumerate(code))
    (function,) = parse(f'\t.section\t.text.k,"ax",@progbits\nk:\n{lines}', "t").functions.values()
    return function


def test_an_unknown_opcode_leaves_the_number_of_registers_open_and_is_named() -> None:
    found = shown(function_of("MOV R1, RZ", "FUTURE.NEW R2, R4, {odd}", "EXIT"), CFG)
    assert list(found) == [0] and found[0].startswith(
        "the number of registers is not known: the operands of FUTURE.NEW"
    )


def test_code_whose_opcodes_are_known_has_private_and_shared_registers() -> None:
    assert shown(function_of("MOV R1, RZ", "MOV R2, R1", "EXIT"), CFG)[0].startswith("private ")
