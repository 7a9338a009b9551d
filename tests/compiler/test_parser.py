"""Listings, good and bad."""

from __future__ import annotations

from pathlib import Path

import pytest

from compiler import ListingError, load_listing, parse
from compiler.model import Address, Constant, File, Immediate, Instruction, Label, Name, Predicate, Register

HEAD = '\t.section\t.text.k,"ax",@progbits\nk:\n'
KERNELS = Path(__file__).parents[2] / "kernels"


def one(text: str) -> Instruction:
    """The instruction of a line of SASS."""
    return parse(f"{HEAD}.L_x_1:\n        /*0000*/   {text} ;\n", "t.sass").functions["k"].instructions[0]


def register(number: int, file: File = File.GENERAL, **marks: object) -> Register:
    return Register(file, number, **marks)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "operand"),
    [
        ("R7", register(7)),
        ("RZ", register(255)),
        ("R4.reuse", register(4, reuse=True)),
        ("-R4.reuse", register(4, negate=True, reuse=True)),
        ("~R4", register(4, invert=True)),
        ("-|R4|.reuse", register(4, negate=True, absolute=True, reuse=True)),
        ("|R4.reuse|", register(4, absolute=True, reuse=True)),
        ("R2.H0_H0", register(2, marks=("H0_H0",))),
        ("UR5", register(5, File.UNIFORM)),
        ("URZ", register(63, File.UNIFORM)),
        ("P3", Predicate(3)),
        ("!PT", Predicate(7, negate=True)),
        ("!UP2", Predicate(2, uniform=True, negate=True)),
        ("0xffffff80", Immediate(0xFFFFFF80, "0xffffff80")),
        ("-0x4", Immediate(-4, "-0x4")),
        ("0.30000001192092895508", Immediate(0.30000001192092895508, "0.30000001192092895508")),
        ("-INF", Immediate(float("-inf"), "-INF")),
        ("1e-05", Immediate(1e-05, "1e-05")),
        ("c[0x0][0x160]", Constant(0, 0x160)),
        ("-c[0x0] [0x160]", Constant(0, 0x160, negate=True)),
        ("|c[0x2][0x8]|", Constant(2, 8, absolute=True)),
        ("c[0x3][R2+0x10]", Constant(3, 0x10, index=register(2))),
        ("cx[UR4][0x10]", Constant(0, 0x10, bank_register=register(4, File.UNIFORM))),
        ("[R2]", Address(register(2))),
        ("[R2.64+UR4+0x10]", Address(register(2, marks=("64",)), register(4, File.UNIFORM), 0x10)),
        ("[R4.U32+UR4]", Address(register(4, marks=("U32",)), register(4, File.UNIFORM))),
        ("[R6.X4+-0x4]", Address(register(6, marks=("X4",)), offset=-4)),
        ("[UR4+0xc]", Address(uniform=register(4, File.UNIFORM), offset=0xC)),
        ("[0x1008]", Address(offset=0x1008)),
        ("[RZ]", Address(register(255))),
        ("SR_TID.X", Name("SR_TID.X")),
        ("B6", Name("B6")),
        ("`(.L_x_1)", Label(".L_x_1", 0)),
    ],
)
def test_operands(text: str, operand: object) -> None:
    assert one(f"MOV R0, {text}").operands[1] == operand


def test_guard_opcode_and_modifiers() -> None:
    instruction = one("@!UP1 LDG.E.64.SYS R2, [R4+0x8]")
    assert instruction.guard == Predicate(1, uniform=True, negate=True)
    assert (instruction.opcode, instruction.modifiers) == ("LDG", ("E", "64", "SYS"))
    assert (instruction.line, instruction.offset, instruction.full_opcode) == (4, 0, "LDG.E.64.SYS")
    assert instruction.is_guarded
    assert not one("@PT EXIT").is_guarded
    assert one("@!PT EXIT").is_guarded


def test_indirect_branch_knows_its_targets() -> None:
    instruction = one('BRX R4 -0xf0       (*"BRANCH_TARGETS .L_x_1,k"*)')
    assert [label.name for label in instruction.targets] == [".L_x_1", "k"]
    assert instruction.operands == (register(4), Immediate(-0xF0, "-0xf0"))


def test_scale_of_an_address() -> None:
    operand = one("LDS R0, [R6.X16]").operands[1]
    assert isinstance(operand, Address)
    assert operand.scale == 16


CUOBJDUMP = """
		Function : axpy
	.headerflags	@"EF_CUDA_SM75 EF_CUDA_PTX_SM(EF_CUDA_SM75)"
        /*0000*/                   MOV R1, c[0x0][0x28] ;        /* 0x00000a0000017a02 */
                                                                 /* 0x000fd00000000f00 */
        /*0010*/               @P0 BRA 0x0 ;                     /* 0x0000000000000947 */
                                                                 /* 0x000fea0003800000 */
"""


def test_cuobjdump_text_with_addresses_for_labels() -> None:
    function = parse(CUOBJDUMP, "t").functions["axpy"]
    assert function.instructions[1].operands == (Label("0x0", 0),)


DATA = """
	.section	.nv.constant2.k,"a",@progbits
	.align	4
.nv.constant2.k:
        /*0000*/ 	.byte	0x70, 0x01, 0x00, 0x00
        /*0004*/ 	.word	0x00000102
	.section	.nv.constant4,"a",@progbits
	.align		8
        /*0000*/ 	.dword	table
	.section	.nv.global.init,"aw",@progbits
table:
        /*0000*/ 	.byte	0x01, 0x02, 0x03, 0x04
.L_1:
	.section	.nv.shared.k,"aw",@nobits
	.align	16
.nv.shared.k:
	.zero		1024
	.section	.nv.info.k,"",@"SHT_CUDA_INFO"
	//----- nvinfo : EIATTR_KPARAM_INFO
        /*0000*/ 	.byte	0x04, 0x17
        /*0002*/ 	.short	(.L_2 - .L_3)
.L_3:
        /*0004*/ 	.word	0x00000000
        /*0008*/ 	.short	0x0001
        /*000a*/ 	.short	0x0008
        /*000c*/ 	.byte	0x00, 0xf0, 0x21, 0x00
.L_2:
        /*0010*/ 	.byte	0x04, 0x17
        /*0012*/ 	.short	(.L_4 - .L_5)
"""


def test_data_sections() -> None:
    listing = parse(HEAD + "        /*0000*/   EXIT ;\n" + DATA, "t")
    function = listing.functions["k"]
    assert listing.shows_data
    assert function.constants[2] == bytes([0x70, 1, 0, 0, 2, 1, 0, 0])
    assert function.relocations == {0: "table"}
    assert listing.global_data[listing.symbols["table"].offset :] == bytes([1, 2, 3, 4])
    assert function.static_shared == 1024
    assert [(p.ordinal, p.offset, p.size) for p in function.parameters or ()] == [(1, 8, 8)]


def test_code_only_listing_leaves_the_rest_unknown() -> None:
    function = parse(HEAD + "        /*0000*/   EXIT ;\n", "t").functions["k"]
    assert (function.static_shared, function.parameters, dict(function.constants)) == (None, None, {})


def test_routines_share_the_section_of_their_kernel() -> None:
    listing = load_listing(KERNELS / "divide" / "kernel.sass")
    function = listing.functions["divide"]
    assert function.routines[0].start == 0
    assert all(routine.name.startswith("$__internal") for routine in function.routines[1:])
    assert function.routines[-1].end == len(function.instructions) * 16


def test_unknown_opcode_is_kept_with_a_warning() -> None:
    listing = parse(HEAD + "        /*0000*/   FUTURE.NEW RZ, R4, R4, R6, 0x0 ;\n", "t")
    assert listing.functions["k"].instructions[0].opcode == "FUTURE"
    assert listing.warnings == ("t, line 3: opcode FUTURE.NEW is not known",)


@pytest.mark.parametrize(
    ("text", "line", "rule"),
    [
        (HEAD + "        /*0000*/   MOV R0, R1", 3, "must end with ';'"),
        (HEAD + "        /*0010*/   EXIT ;", 3, "offset must be 0x0000, not 0x0010"),
        (HEAD + "        /*0000*/   EXIT ;\n        /*0000*/   EXIT ;", 4, "offset must be 0x0010"),
        (HEAD + "        /*0000*/   BRA `(.L_x_9) ;", 3, "label must be defined in the same section, '.L_x_9' is not"),
        (HEAD + "        /*0000*/   MOV R0, R299 ;", 3, "register number must be below 255, not 'R299'"),
        (HEAD + "        /*0000*/   MOV R0, what? ;", 3, "operand must be a register"),
        (HEAD + "        /*0000*/   LDG R0, [R1*4] ;", 3, "address must be a sum"),
        (HEAD + "        /*0000*/   mov r0 ;", 3, "instruction must be"),
        (HEAD + "        /*0000*/   ;", 3, "instruction must be"),
        (HEAD + "a:\na:\n", 4, "label must be defined once"),
        (HEAD + "        /*0000*/", 3, "an instruction must follow the offset"),
        ("        /*0000*/   EXIT ;", 1, "instruction must stand in a .text section"),
        ("hello", 1, "at least one function"),
        ("", 1, "at least one function"),
    ],
)
def test_malformed_listings_name_line_and_rule(text: str, line: int, rule: str) -> None:
    with pytest.raises(ListingError) as error:
        parse(text, "bad.sass")
    assert error.value.line == line
    assert str(error.value).startswith(f"bad.sass, line {line}: ")
    assert rule in str(error.value)


def test_a_cubin_is_no_listing(tmp_path: Path) -> None:
    (tmp_path / "a.sass").write_bytes(b"\x7fELF\x02\x01")
    with pytest.raises(ListingError, match="not a cubin"):
        load_listing(tmp_path / "a.sass")


def test_unknown_function_lists_those_there_are() -> None:
    listing = parse(HEAD + "        /*0000*/   EXIT ;", "t")
    with pytest.raises(ValueError, match="function must be one of k, not 'q'"):
        listing.function("q")
