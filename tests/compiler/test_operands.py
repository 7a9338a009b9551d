"""Definitions, uses, tokens and ports, opcode by opcode."""

from __future__ import annotations

import pytest

from warpfile.compiler import UnknownOpcodeError, parse
from warpfile.compiler.model import Instruction
from warpfile.compiler.opcodes import is_known
from warpfile.compiler.operands import effects
from warpfile.compiler.program import static_instruction
from warpfile.spec.trace import Access, Kind, Port, Space

HEAD = '\t.section\t.text.k,"ax",@progbits\nk:\n'


def one(text: str) -> Instruction:
    return parse(f"{HEAD}        /*0000*/   {text} ;\n", "t.sass").functions["k"].instructions[0]


@pytest.mark.parametrize(
    ("text", "defs", "uses"),
    [
        ("IADD3 R0, R2, -R3, RZ", (0,), (2, 3)),
        ("FFMA R5, R5, R5, R6.reuse", (5,), (5, 5, 6)),
        ("IMAD.WIDE R2, R4, R5, R6", (2, 3), (4, 5, 6, 7)),
        ("IMAD.WIDE R2, R4, R5, RZ", (2, 3), (4, 5)),
        ("IMAD.HI.U32 R2, R4, R5, R6", (2,), (4, 5, 6, 7)),
        ("DFMA R2, R4, R6, c[0x2][0x0]", (2, 3), (4, 5, 6, 7)),
        ("DSETP.GEU.AND P0, PT, |R2|, R4, PT", (), (2, 3, 4, 5)),
        ("F2F.F32.F64 R0, R2", (0,), (2, 3)),
        ("F2F.F64.F32 R0, R2", (0, 1), (2,)),
        ("I2F.F64.S64 R4, R2", (4, 5), (2, 3)),
        ("I2F.F64 R4, R2", (4, 5), (2,)),
        ("F2I.F64.TRUNC R0, R2", (0,), (2, 3)),
        ("F2I.U64.TRUNC R6, R2", (6, 7), (2,)),
        ("MUFU.RCP64H R1, R3", (1,), (3,)),
        ("CS2R R4, SRZ", (4, 5), ()),
        ("CS2R.32 R4, SR_CLOCKLO", (4,), ()),
        ("LDG.E.SYS R0, [R2+0x8]", (0,), (2, 3)),
        ("LDG.E.128.SYS R8, [R2]", (8, 9, 10, 11), (2, 3)),
        ("LDG.E.SYS R0, [R2.64+UR4]", (0,), (2, 3)),
        ("LDG.E.SYS R0, [R2.U32+UR4]", (0,), (2,)),
        ("LDG.E.SYS R0, [UR4]", (0,), ()),
        ("STG.E.64.SYS [R2], R6", (), (2, 3, 6, 7)),
        ("STS.128 [R2.X4], R4", (), (2, 4, 5, 6, 7)),
        ("STS [R2], RZ", (), (2,)),
        ("LDC.64 R2, c[0x2][R0]", (2, 3), (0,)),
        ("VIADD R2, R13, -UR5", (2,), (13,)),
        ("VIMNMX.S16x2 R11, P0, P1, R2, R5, PT", (11,), (2, 5)),
        ("VIADDMNMX R0, R15.reuse, 0xffffffff, RZ, !PT", (0,), (15,)),
        ("REDG.E.ADD.F32x4.FTZ.RN.STRONG.GPU desc[UR4][R6.64], R12", (), (6, 7, 12, 13, 14, 15)),
        ("STSM.16.M88.4 [R22], R4", (), (22, 4, 5, 6, 7)),
        ("DMMA.8x8x4 R4, R10, R24, R4", (4, 5, 6, 7), (10, 11, 24, 25, 4, 5, 6, 7)),
        ("IADD.64 R14, R12, 0x1", (14, 15), (12, 13)),
        ("MOV.64 R8, R2", (8, 9), (2, 3)),
        ("ISETP.NE.S64.AND P0, PT, R10, UR6, PT", (), (10, 11)),
        ("IMNMX.S64 PT, PT, R12, R4, R6, PT, !PT", (12, 13), (4, 5, 6, 7)),
        ("MOVM.U4TO8.M832 R8, R9", (8, 9), (9,)),
        ("FFMA2 R8, R4.F32x2.HI_LO, R6.F32x2.HI_LO, R10.F32x2.HI_LO", (8, 9), (4, 5, 6, 7, 10, 11)),
        ("FFMA2 R6, R8.F32x2.HI_LO, R7.F32, R6.F32x2.LO_HI", (6, 7), (8, 9, 7, 6, 7)),
        ("FMUL2 R8, R2.F32x2.HI_LO, R6.F32", (8, 9), (2, 3, 6)),
        ("IADD R14, R12, R3", (14,), (12, 3)),
        ("ATOMS.CAST.SPIN P0, [R6+0x30], R10, R11", (), (6, 10, 11)),
        ("ATOMG.E.CAS.STRONG.GPU PT, R7, [R8], R4, R5", (7,), (8, 9, 4, 5)),
        ("ATOMG.E.ADD.64.STRONG.GPU PT, R6, [R8], R4", (6, 7), (8, 9, 4, 5)),
        ("ATOMS.ADD RZ, [R8], R4", (), (8, 4)),
        ("RED.E.ADD.STRONG.GPU [R2], R4", (), (2, 3, 4)),
        ("SHFL.BFLY PT, R6, R7, 0x3, 0x1f", (6,), (7,)),
        ("RET.REL.NODEC R4 `(k)", (), (4, 5)),
        ("R2UR UR4, R2", (), (2,)),
        ("VOTE.ANY R5, PT, P0", (5,), ()),
        ("BMOV.32 B6, R2", (), (2,)),
        ("BMOV.32.CLEAR R2, B6", (2,), ()),
        ("HMMA.1688.F32 R16, R8, R0, R16", (16, 17, 18, 19), (8, 9, 0, 16, 17, 18, 19)),
        ("LDSM.16.M88.4 R4, [R2]", (4, 5, 6, 7), (2,)),
        ("LDSM.16.MT88.2 R4, [R2]", (4, 5), (2,)),
        ("HMMA.1688.F16 R16, R8, R0, R16", (16, 17), (8, 9, 0, 16, 17)),
        ("HMMA.16816.F32 R16, R8, R2, RZ", (16, 17, 18, 19), (8, 9, 10, 11, 2, 3)),
        ("HMMA.884.F32.F32.STEP0 R4, R12.reuse.ROW, R14.COL, R4", (4, 5), (12, 13, 14, 15, 4, 5)),
        ("IMMA.8816.S8.S8 R4, R2.ROW, R3.COL, R6", (4, 5), (2, 3, 6, 7)),
        ("IMMA.16816.S8.S8 R16, R14.ROW, R2.COL, RZ", (16, 17, 18, 19), (14, 15, 2)),
        ("IMMA.8832.U4.S4 R12, R0.ROW, R5.COL, R8", (12, 13), (0, 5, 8, 9)),
        ("BMMA.88128.XOR.POPC R14, R0.ROW, R5.COL, R8", (14, 15), (0, 5, 8, 9)),
        ("DMMA.884 R4, R8, R10, R12", (4, 5, 6, 7), (8, 9, 10, 11, 12, 13, 14, 15)),
        ("MOVM.16.MT88 R21, R0", (21,), (0,)),
        ("RED.E.ADD.F64.RN.STRONG.GPU [R2], R14", (), (2, 3, 14, 15)),
        ("RED.E.MAX.S64.STRONG.GPU [UR4+0x30], R10", (), (10, 11)),
        ("MATCH.ANY.U64 R31, R10", (31,), (10, 11)),
        ("LEPC R6", (6, 7), ()),
        ("QSPC.E.S P3, RZ, [R2]", (), (2, 3)),
        ("B2R.RESULT R19", (19,), ()),
        ("LDGSTS.E.BYPASS.128 [R7], [R2.64]", (), (7, 2, 3)),
        ("LDG.E R0, desc[UR4][R2.64]", (0,), (2, 3)),
        ("TEX.SCR.B.LL RZ, R60, R60, R2, 2D, 0x3", (60, 61), (60, 61, 2, 3)),
        ("TEX.B.LL R38, R36, R36, R2, CUBE", (36, 37, 38, 39), (36, 37, 38, 2, 3)),
        ("TEX.SCR.LL RZ, R50, R50, R43, 0x0, 0x58, 2D, 0x1", (50,), (50, 51, 43)),
        ("TLD.SCR.LZ R34, R32, R2, 0x0, 0x58, 1D", (32, 33, 34, 35), (2,)),
        ("TLD4.SCR.G R30, R28, R52, R49, 0x0, 0x58, 2D", (28, 29, 30, 31), (52, 49)),
        ("TXD.B R42, R40, R4, R40, 2D", (40, 41, 42, 43), (4, 5, 6, 40, 41, 42, 43)),
        ("SULD.D.BA.2D.128.STRONG.CTA.TRAP R8, [R2], 0x0, 0x5c", (8, 9, 10, 11), (2, 3)),
        ("SUST.D.BA.3D.64.STRONG.CTA.TRAP [R52], R56, R2", (), (52, 53, 54, 56, 57, 2)),
        ("LEA.HI.X R3, R0, c[0x0][0x164], R1, 0x2, P0", (3,), (0, 1)),
        ("LOP3.LUT P0, RZ, R4, UR4, RZ, 0xc, !PT", (), (4,)),
    ],
)
def test_vector_registers(text: str, defs: tuple[int, ...], uses: tuple[int, ...]) -> None:
    found = effects(one(text))
    assert (found.defs, found.uses) == (defs, uses)


@pytest.mark.parametrize(
    ("text", "reads", "writes"),
    [
        ("@P2 IADD3 R0, P1, P3, R2, R3, R4", 1 << 2, 1 << 1 | 1 << 3),
        ("IADD3.X R0, R2, R3, RZ, P1, !PT", 1 << 1, 0),
        ("ISETP.GE.AND.EX P0, PT, R2, R3, P5, P6", 1 << 5 | 1 << 6, 1),
        ("PLOP3.LUT P0, PT, P1, P2, PT, 0x2a, 0x0", 0b110, 0b1),
        ("SEL R0, R1, R2, !P4", 1 << 4, 0),
        ("VOTE.ALL R0, P1, P2", 1 << 2, 1 << 1),
        ("P2R R0, PR, RZ, 0x5", 0b101, 0),
        ("R2P PR, R0, 0x6", 0, 0b110),
        ("BRA P1, `(k)", 1 << 1, 0),
        ("@UP2 UIADD3 UR9, UR17, UR2, URZ", 1 << 7 | 1 << 9 | 1 << 10, 1 << 9),
        ("ULDC.64 UR6, c[0x0][0x160]", 0, 1 << 14 | 1 << 15),
        ("UISETP.NE.AND UP1, UPT, UR4, URZ, UPT", 1 << 12, 1 << 7),
        ("LDG.E.SYS R0, [R2.64+UR4]", 1 << 12 | 1 << 13, 0),
        ("LDS R0, [UR5]", 1 << 13, 0),
        ("@!PT EXIT", 0, 0),
    ],
)
def test_scoreboard_tokens(text: str, reads: int, writes: int) -> None:
    found = static_instruction(one(text))
    assert (bin(found.token_reads), bin(found.token_writes)) == (bin(reads), bin(writes))


@pytest.mark.parametrize(
    ("text", "port", "kind"),
    [
        ("IADD3 R0, R2, R3, RZ", Port.ALU, Kind.NORMAL),
        ("MOV R0, 0x1", Port.ALU, Kind.NORMAL),
        ("MUFU.RCP R0, R2", Port.SFU, Kind.NORMAL),
        ("POPC R0, R2", Port.SFU, Kind.NORMAL),
        ("S2R R0, SR_TID.X", Port.SFU, Kind.NORMAL),
        ("LDG.E R0, [UR4]", Port.LSU, Kind.NORMAL),
        ("TEX.SCR.B.LL RZ, R60, R60, R2, 2D, 0x3", Port.LSU, Kind.NORMAL),
        ("SUST.D.BA.1D.STRONG.SYS [R2], R4, R6", Port.LSU, Kind.NORMAL),
        ("ISETP.NE.AND P0, PT, RZ, c[0x0][0x160], PT", Port.NONE, Kind.NORMAL),
        ("UIADD3 UR4, UR4, 0x1, URZ", Port.NONE, Kind.NORMAL),
        ("PLOP3.LUT P0, PT, P1, P2, PT, 0x2a, 0x0", Port.NONE, Kind.NORMAL),
        ("BRA `(k)", Port.NONE, Kind.BRANCH),
        ("BRX R4 -0x10", Port.ALU, Kind.BRANCH),
        ("BSYNC B0", Port.NONE, Kind.BRANCH),
        ("BSSY B0, `(k)", Port.NONE, Kind.NORMAL),
        ("BAR.SYNC 0x0", Port.NONE, Kind.BARRIER),
        ("EXIT", Port.NONE, Kind.EXIT),
        ("@P0 EXIT", Port.NONE, Kind.BRANCH),
    ],
)
def test_ports_and_kinds(text: str, port: Port, kind: Kind) -> None:
    found = static_instruction(one(text))
    assert (found.port, found.kind) == (port, kind)


@pytest.mark.parametrize(
    ("text", "space", "access", "size"),
    [
        ("LDG.E.U8.SYS R0, [R2]", Space.GLOBAL, Access.LOAD, 1),
        ("LD.E.64.SYS R0, [R2]", Space.GLOBAL, Access.LOAD, 8),
        ("STS.128 [R2], R4", Space.SHARED, Access.STORE, 16),
        ("STL.U16 [R2], R4", Space.LOCAL, Access.STORE, 2),
        ("LDC R0, c[0x2][R2]", Space.CONSTANT, Access.LOAD, 4),
        ("RED.E.ADD.STRONG.GPU [R2], R4", Space.GLOBAL, Access.ATOMIC, 4),
        ("ATOMS.ADD.64 R0, [R2], R4", Space.SHARED, Access.ATOMIC, 8),
        ("TEX.SCR.B.LL RZ, R60, R60, R2, 2D, 0x3", Space.TEXTURE, Access.LOAD, 0),
        ("TLD.SCR.LZ R34, R32, R2, 0x0, 0x58, 1D", Space.TEXTURE, Access.LOAD, 0),
        ("SULD.D.BA.1D.STRONG.SYS R2, [R8], R10", Space.TEXTURE, Access.LOAD, 0),
        ("SUST.D.BA.1D.STRONG.SYS [R2], R4, R6", Space.TEXTURE, Access.STORE, 0),
        ("ULDC UR4, c[0x0][0x160]", Space.NONE, Access.NONE, 0),
        ("MOV R0, c[0x0][0x160]", Space.NONE, Access.NONE, 0),
    ],
)
def test_memory_accesses(text: str, space: Space, access: Access, size: int) -> None:
    found = static_instruction(one(text))
    assert (found.space, found.access, found.bytes) == (space, access, size)


def test_mufu_is_marked_approximate() -> None:
    assert static_instruction(one("MUFU.EX2 R0, R2")).approximate
    assert not static_instruction(one("FFMA R0, R2, R2, R2")).approximate


def test_unknown_opcode_names_opcode_and_line() -> None:
    with pytest.raises(UnknownOpcodeError, match=r"line 3: .*not FUTURE\.LL") as error:
        effects(one("FUTURE.LL R0, R2"))
    assert error.value.line == 3


@pytest.mark.parametrize(
    "text",
    [
        "LDG.E.ENL2.256 R12, R8, desc[UR4][R2.64]",
        "STG.E.ENL2.256 desc[UR4][R4.64], R8, R12",
        "LDG.E.256 R8, desc[UR4][R2.64]",
        "LDGSTS.E.64.ZFILL [R11], desc[UR4][R6.64+0x400], P0",
        "IADD3 P0, 0x5, R2, R3",
        "LDS [R2], R4",
        "STS [R2]",
        "ATOMG.E.ADD.STRONG.GPU R2, R7, [R8], R4",
    ],
)
def test_other_operands_than_those_of_its_opcode_make_an_unknown_one(text: str) -> None:
    instruction = one(text)
    assert not is_known(instruction.opcode)
    assert instruction.full_opcode == f"{text.split()[0]} with other operands"


@pytest.mark.parametrize(
    ("text", "predicates"),
    [("R2UR P0, URZ, R7", (0,)), ("ATOMS.CAST.SPIN P1, [R6], R10, R11", (1,)), ("VOTE.ALL P3, P2", (3,))],
)
def test_predicates_that_stand_for_a_result(text: str, predicates: tuple[int, ...]) -> None:
    assert effects(one(text)).predicate_defs == predicates


def test_textures_read_handles_from_uniform_registers() -> None:
    assert effects(one("TEX.LL RZ, R0, R4, R15, UR4, 2D, 0x1")).uniform_uses == (4, 5)
    assert effects(one("SUST.D.BA.2D.STRONG.SM.TRAP [R2], R13, UR4")).uniform_uses == (4,)
