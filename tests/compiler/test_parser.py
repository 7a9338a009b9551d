"""Listings, good and bad."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.compiler import judge
from tests.effort import effort
from warpfile.compiler import ListingError, load_listing, parse
from warpfile.compiler.cfg import build_cfg
from warpfile.compiler.control_codes import ControlCode, control_code
from warpfile.compiler.divergence import divergence
from warpfile.compiler.liveness import EVERYTHING, liveness
from warpfile.compiler.model import Address, Constant, File, Immediate, Instruction, Label, Name, Predicate, Register
from warpfile.compiler.reaching import reaching_definitions
from warpfile.compiler.warp_liveness import warp_liveness

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
    assert listing.warnings == ("t, line 3: opcode FUTURE.NEW is not known (at 0x0000)",)


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


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (".zero /", ".zero must have a number of bytes, not '/'"),
        (".zero 0xffffffffff", "section .nv.shared.k must have at most 268435456 bytes"),
        (".align 99999999999\n.byte 1\n.align 99999999999", "must have at most"),
    ],
)
def test_impossible_data_is_an_error(text: str, rule: str) -> None:
    with pytest.raises(ListingError, match=rule):
        parse(f'{HEAD}        /*0000*/   EXIT ;\n\t.section\t.nv.shared.k,"aw",@nobits\n{text}\n', "t")


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_damaged_listings_end_in_one_line_or_can_be_analysed(data: st.DataObject) -> None:
    lines = (KERNELS / "collatz" / "kernel.sass").read_text().splitlines()
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(lines) - 1))
        damage = data.draw(st.sampled_from(["drop", "double", "cut", "text"]))
        if damage == "drop":
            del lines[at]
        elif damage == "double":
            lines.insert(at, lines[data.draw(st.integers(0, len(lines) - 1))])
        elif damage == "cut":
            lines[at] = lines[at][: data.draw(st.integers(0, 60))]
        else:
            lines[at] = lines[at].replace("R", data.draw(st.text("RUP!@[]`()0x.;-,{} ", max_size=4)), 1)
    try:
        listing = parse("\n".join(lines), "t")
    except ListingError as error:
        assert "\n" not in str(error)
        return
    for function in listing.functions.values():
        cfg = build_cfg(function)
        live = liveness(cfg)
        warp_liveness(cfg, live, divergence(cfg))
        reaching_definitions(cfg)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.sass", b"\x7fELF\x02\x01", "not a cubin or another binary; make one with 'nvdisasm FILE.cubin'"),
        ("a.fatbin", b"\x50\xed\x55\xba\x01\x00", "not a cubin or another binary; make one with 'nvdisasm"),
        ("a.ptx", b".version 9.0\n", "must be a listing, not .ptx; 'warpfile import FILE' makes one"),
        ("a.cu", b"int main() {}\n", "must be a listing, not .cu; 'warpfile import FILE' makes one"),
    ],
)
def test_what_a_listing_is_made_of_is_none(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ListingError, match=words):
        load_listing(tmp_path / name)


def test_unknown_function_lists_those_there_are() -> None:
    listing = parse(HEAD + "        /*0000*/   EXIT ;", "t")
    with pytest.raises(ValueError, match="function must be one of k, not 'q'"):
        listing.function("q")


HEX = """
		Function : first
        /*0000*/                   S2R R0, SR_TID.X ;                                   /* 0x0000000000007919 */
                                                                                        /* 0x000e220000002100 */
        /*0010*/                   IMAD.WIDE R2, R0.reuse, R3, c[0x0][0x160] ;          /* 0x0000580000027625 */
                                                                                        /* 0x003fd000078e0203 */
        /*0020*/                   CALL.REL.NOINC 0x40 ;                                /* 0x0000001000007944 */
                                                                                        /* 0x000fea0003c00000 */
        /*0030*/                   EXIT ;                                               /* 0x000000000000794d */
                                                                                        /* 0x000fea0003800000 */
        /*0040*/                   RET.REL.NODEC R20 0x0 ;                              /* 0xffffffb014007950 */
                                                                                        /* 0x000fea0003c3ffff */
		..........

		Function : second
        /*0000*/                   EXIT ;                                               /* 0x000000000000794d */
                                                                                        /* 0x000fea0003800000 */
"""


def test_encodings_are_decoded_into_control_codes() -> None:
    read, wide, *_ = parse(HEX, "t").functions["first"].instructions
    assert read.encoding == 0x000E220000002100_0000000000007919
    assert read.control == ControlCode(1, False, write_barrier=0, read_barrier=None, wait_mask=0, reuse=0)
    assert wide.control == ControlCode(8, True, write_barrier=None, read_barrier=None, wait_mask=3, reuse=0)
    assert one("EXIT").control is None


def test_every_field_of_a_control_code_has_its_place() -> None:
    fields = {"stall": (0, 4), "write_barrier": (5, 3), "read_barrier": (8, 3), "wait_mask": (11, 6), "reuse": (17, 4)}
    for name, (place, width) in fields.items():
        for value in range((1 << width) - name.endswith("barrier")):
            others = control_code(((1 << 21) - 1 & ~((1 << width) - 1 << place)) << 105 | value << place + 105)
            assert getattr(others, name) == value
            assert getattr(control_code(value << place + 105), name) == value
    assert control_code(1 << 109).yields is False
    assert control_code(0).yields is True


def test_cuobjdump_shows_several_functions_and_their_subroutines() -> None:
    listing = parse(HEX, "t")
    assert list(listing.functions) == ["first", "second"]
    first = listing.functions["first"]
    assert [(routine.name, routine.start, routine.end) for routine in first.routines] == [
        ("first", 0, 0x40),
        ("0x40", 0x40, 0x50),
    ]
    cfg = build_cfg(first)
    assert (cfg.call_edges, cfg.return_edges) == (((0, 2),), ((2, 1),))


@pytest.mark.needs("nvdisasm")
@pytest.mark.parametrize("kernel", ["collatz", "divide", "bytecode"])
def test_reuse_fields_count_the_reuse_marks(kernel: str) -> None:
    text = judge.run("-c", "-hex", str(KERNELS / kernel / "kernel.cubin"))
    for function in parse(text, kernel).functions.values():
        for instruction in function.instructions:
            assert instruction.control is not None
            assert instruction.control.reuse.bit_count() == instruction.text.count(".reuse"), instruction.text


def test_callee_outside_of_the_section_is_a_warning() -> None:
    text = HEAD + "        /*0000*/   CALL.REL.NOINC `(elsewhere) ;\n        /*0010*/   EXIT ;\n"
    listing = parse(text, "t")
    assert listing.warnings == ("t, line 3: callee of CALL.REL.NOINC `(elsewhere) is not in the section (at 0x0000)",)
    assert liveness(build_cfg(listing.functions["k"])).live_in[0] == EVERYTHING


def test_unknown_operands_of_an_unknown_opcode_are_kept() -> None:
    listing = parse(HEAD + "        /*0000*/   FUTURE R2, <odd>, {3} ;\n", "t")
    assert listing.functions["k"].instructions[0].operands[1] == Name("<odd>")


def test_descriptors_of_later_machines_are_uses() -> None:
    operand = one("LDG.E R0, desc[UR4][R2.64+0x8]").operands[1]
    assert isinstance(operand, Address)
    assert (operand.descriptor, operand.offset) == (register(4, File.UNIFORM), 8)


def test_many_instructions_parse_soon() -> None:
    lines = [line for line in HEX.splitlines() if "IMAD" in line or "0x003fd" in line]
    body = [lines[0].replace("0010", f"{16 * number:04x}") + "\n" + lines[1] for number in range(10_000)]
    functions = {}
    assert effort(lambda: functions.update(parse("\tFunction : k\n" + "\n".join(body), "t").functions)) < 100
    assert len(functions["k"].instructions) == 10_000


APART = """\t.section\t.text.helper,"ax",@progbits
helper:
        /*0000*/   IADD3 R4, R4, 0x1, RZ ;
        /*0010*/   RET.ABS.NODEC R20 0x0 ;
\t.section\t.text.k,"ax",@progbits
k:
        /*0000*/   MOV R20, 32@lo((k + .L_x_1@srel)) ;
        /*0010*/   MOV R21, 32@hi((k + .L_x_1@srel)) ;
        /*0020*/   CALL.REL.NOINC `(helper) ;
.L_x_1:
        /*0030*/   STL.LU [R1], R4 (*"SpillRefill"*) ;
        /*0040*/   MOV R2, 32@lo(table) ;
        /*0050*/   EXIT ;
"""


def test_functions_in_sections_of_their_own_are_linked_behind_their_caller() -> None:
    listing = parse(APART, "t")
    kernel = listing.functions["k"]
    assert [(routine.name, routine.start) for routine in kernel.routines] == [("k", 0), ("helper", 0x60)]
    assert kernel.instructions[2].operands == (Label("helper", 0x60),)
    assert [instruction.operands[1] for instruction in kernel.instructions[:2]] == [
        Immediate(0x30, "32@lo((k + .L_x_1@srel))"),
        Immediate(0, "32@hi((k + .L_x_1@srel))"),
    ]
    cfg = build_cfg(kernel)
    assert (len(cfg.call_edges), len(cfg.return_edges)) == (1, 1)
    assert len(listing.functions["helper"].instructions) == 2


def test_remarks_are_no_operands_and_unknown_addresses_are_names() -> None:
    kernel = parse(APART, "t").functions["k"]
    assert kernel.instructions[3].operands == (Address(register(1)), register(4))
    assert kernel.instructions[4].operands[1] == Name("32@lo(table)")


@pytest.mark.parametrize("text", ["BRA `(end)", "@P0 BRA `(end)", "CALL.REL.NOINC `(end)"])
def test_nothing_goes_behind_the_last_instruction(text: str) -> None:
    code = f'\t.section\t.text.k,"ax",@progbits\n        /*0000*/                   {text} ;\nend:\n'
    with pytest.raises(ListingError, match=r"t, line 2: label must be in the section at a multiple of 16, not 0x10"):
        parse(code, "t")
    assert parse(code.replace(text, "BSSY B0, `(end)"), "t").functions["k"].labels["end"] == 16
