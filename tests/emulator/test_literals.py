"""Every literal that compiled code prints against the bits of its encoding, and literals that hide their bits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.emulator import compiled
from tests.emulator.encoding import code_of, literals
from tests.emulator.harness import double, doubles, listing, run, words
from warpfile.compiler import load_listing, parse
from warpfile.compiler.instruction_text import decode_instruction
from warpfile.compiler.model import Immediate, Instruction
from warpfile.emulator.errors import ExecutionError

CUBINS = sorted((Path(__file__).parents[2] / "kernels").glob("*/kernel.cubin"))


def bundled() -> Iterator[tuple[Instruction, int]]:
    """Instructions of the bundled kernels with the encodings of their machine code."""
    for cubin in CUBINS:
        code = code_of(cubin)
        for name, function in load_listing(cubin.with_suffix(".sass")).functions.items():
            for one in function.instructions:
                yield one, int.from_bytes(code[name][one.offset : one.offset + 16], "little")


def packed(name: str, shows_encoding: bool) -> Iterator[tuple[Instruction, int]]:
    """Instructions of a compiled source, as the listing with or without encodings has them."""
    for function in compiled.listing(name).functions.values():
        for one in function.instructions:
            assert one.encoding is not None
            plain = decode_instruction(one.line, one.offset, one.text, function.labels)
            yield one if shows_encoding else plain, one.encoding


def hides(instruction: Instruction) -> bool:
    """Whether a literal of the text does not tell its bits."""
    return any(isinstance(operand, Immediate) and operand.hides_bits for operand in instruction.operands)


def wrong(code: Iterator[tuple[Instruction, int]]) -> tuple[int, list[str]]:
    """Number of literals that were compared, and the instructions that print another value than they hold."""
    count, found = 0, list[str]()
    with np.errstate(all="ignore"):
        for instruction, encoding in code:
            pairs = [] if hides(instruction) else list(literals(instruction, encoding))
            count += len(pairs)
            found += [f"{instruction.text} {encoding:#x}" for shown, held in pairs if shown != held]
    return count, found


def test_literals_of_the_bundled_kernels() -> None:
    count, found = wrong(bundled())
    assert not found and count > 2000


@pytest.mark.parametrize("shows_encoding", [True, False])
@pytest.mark.parametrize("name", compiled.NAMES)
def test_literals_of_compiled_code(name: str, shows_encoding: bool) -> None:
    count, found = wrong(packed(name, shows_encoding))
    assert not found and count > 100


def test_literals_without_bits_are_few_and_known() -> None:
    hidden = {one.full_opcode for name in compiled.NAMES for one, _ in packed(name, False) if hides(one)}
    assert hidden == {"FSEL", "FFMA", "MUFU.RSQ"}  # arithmetic gives the same NaN for all
    assert not any(hides(one) for name in compiled.NAMES for one, _ in packed(name, True))


@pytest.mark.parametrize("bit", [32, 45, 63, 38, 54, 72])
def test_a_changed_literal_is_found(bit: int) -> None:
    """Control: one bit of the encodings is wrong."""
    changed = ((one, encoding ^ 1 << bit) for one, encoding in packed("math", False))
    assert wrong(changed)[1]


@pytest.mark.parametrize("value", [13.0, 7.0, 0.1, 3e-308, 4e307])
def test_a_literal_of_a_high_word_is_printed_as_a_double(value: float) -> None:
    high = int(np.float64(value).view(np.uint64)) >> 32
    printed = np.uint64(high << 32).view(np.float64)
    held = run(f"MUFU.RCP64H R0, {float(printed)!r}").registers[0][0]
    assert held == int(np.float64(1 / printed).view(np.uint64)) >> 32


def test_a_quotient_of_doubles_by_a_constant() -> None:
    """``x / 13.0`` as ptxas compiles it, without the subroutine for extreme operands."""
    low, high = double(91.0)
    code = """MUFU.RCP64H R3, 13
        MOV R6, 0x0
        MOV R7, 0x402a0000
        MOV R2, 0x1
        DFMA R8, R2, -R6, 1
        DFMA R8, R8, R8, R8
        DFMA R8, R2, R8, R2
        DFMA R2, R8, -R6, 1
        DFMA R8, R8, R2, R8
        DMUL R0, R4, R8"""
    assert doubles(run(code, {4: low, 5: high}), 0)[0] == 7.0


def coded(code: str, word: int) -> str:
    """A listing whose first instruction shows an encoding with that immediate field."""
    first, rest = listing(code).split(" ;\n", 1)
    return f"{first} ;  /* {word << 32 | 0x7808:#018x} */\n  /* {0xFE400:#018x} */\n{rest}"


@pytest.mark.parametrize(("text", "bits"), [("-QNAN", 0xFFF00000), ("+QNAN", 0x7FF80000), ("+QNAN", 0x7FFFFFFF)])
def test_bits_of_a_nan_come_from_the_encoding(text: str, bits: int) -> None:
    literal = parse(coded(f"FSEL R0, R1, {text}, !PT", bits), "t").functions["k"].instructions[0].operands[2]
    assert isinstance(literal, Immediate) and literal.bits == bits and not literal.hides_bits


@pytest.mark.parametrize("code", ["FSEL R0, R1, -QNAN, !P0", "FSEL R0, -QNAN, R1, P0", "@P1 FSEL R0, R1, +QNAN, !P0"])
def test_a_nan_without_bits_is_refused_where_a_lane_takes_it(code: str) -> None:
    registers = {1: words(5)}
    assert run(code, registers, {0: 0, 1: 0}).registers[0][0] in (0, 5)
    with pytest.raises(ExecutionError, match=r"k: FSEL at 0x0000 must not take a NaN whose bits .*'nvdisasm -hex"):
        run(code, registers, {0: 8, 1: 8})


def test_a_double_nan_without_bits_is_refused() -> None:
    with pytest.raises(ExecutionError, match=r"line 3: .*literal must show its bits, -QNAN does not; make the listing"):
        run("DADD R0, R2, -QNAN")
