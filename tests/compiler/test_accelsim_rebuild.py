"""Registers, widths and repairs of single instructions, worked out by hand from their mnemonics."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.compiler.traceg import EXIT, imported, only, text
from warpfile.spec.trace import Access, Kind, Port, Space

FULL = "0000 ffffffff"

#: Line behind PC and mask -> sources, destinations.
WIDTHS = [
    ("1 R4 FFMA 3 R4 R5 R6 0", (4, 5, 6), (4,)),
    ("1 R12 LDG.E.SYS 1 R2 4 1 0x10 4", (2, 3), (12,)),
    ("1 R12 LDG.E.64.SYS 1 R2 8 1 0x10 8", (2, 3), (12, 13)),
    ("1 R12 LDG.E.128.CONSTANT.SYS 1 R44 16 1 0x10 16", (44, 45), (12, 13, 14, 15)),
    ("0 STG.E.128.SYS 2 R6 R8 16 1 0x10 16", (6, 7, 8, 9, 10, 11), ()),
    ("0 STG.E.U8.SYS 2 R6 R9 1 1 0x10 1", (6, 7, 9), ()),
    ("1 R12 LDS.U.64 1 R3 8 1 0x10 8", (3,), (12, 13)),
    ("0 STS.128 2 R3 R8 16 1 0x10 16", (3, 8, 9, 10, 11), ()),
    ("1 R12 LDL.64 1 R1 8 1 0x10 8", (1,), (12, 13)),
    ("1 R12 LD.E.SYS 1 R2 4 1 0x10 4", (2, 3), (12,)),
    ("1 R12 LDU.E.64 1 R2 8 1 0x10 8", (2, 3), (12, 13)),
    ("1 R4 LDSM.16.M88.4 1 R3 2 1 0x10 16", (3,), (4, 5, 6, 7)),
    ("1 R4 LDC.64 1 R3 0", (3,), (4, 5)),
    ("0 LDGSTS.E.BYPASS.128 2 R21 R4 16 1 0x10 16", (21, 4, 5), ()),
    ("1 R2 IMAD.WIDE 3 R0 R5 R6 0", (0, 5, 6, 7), (2, 3)),
    ("1 R2 IMAD.WIDE.U32 3 R0 R5 R255 0", (0, 5), (2, 3)),
    ("1 R2 IMAD.MOV.U32 3 R255 R255 R9 0", (9,), (2,)),
    ("1 R2 DADD 2 R4 R6 0", (4, 5, 6, 7), (2, 3)),
    ("1 R2 DFMA 3 R4 R6 R2 0", (4, 5, 6, 7, 2, 3), (2, 3)),
    ("1 R2 DMNMX 2 R4 R6 0", (4, 5, 6, 7), (2, 3)),
    ("1 R3 DSET.BF.GT.AND 2 R4 R6 0", (4, 5, 6, 7), (3,)),
    ("0 DSETP.MAX.AND 2 R4 R6 0", (4, 5, 6, 7), ()),
    ("1 R2 F2F.F64.F32 1 R5 0", (5,), (2, 3)),
    ("1 R3 F2F.F32.F64 1 R4 0", (4, 5), (3,)),
    ("1 R2 I2F.F64 1 R5 0", (5,), (2, 3)),
    ("1 R3 F2I.F64.TRUNC 1 R4 0", (4, 5), (3,)),
    ("1 R2 CS2R 0 0", (), (2, 3)),
    ("1 R3 CS2R.32 0 0", (), (3,)),
    ("1 R4 HMMA.1688.F32 3 R8 R10 R4 0", (8, 9, 10, 4, 5, 6, 7), (4, 5, 6, 7)),
    ("1 R4 HMMA.1688.F16 3 R8 R10 R4 0", (8, 9, 10, 4, 5), (4, 5)),
    ("1 R4 HMMA.16816.F32 3 R8 R12 R255 0", (8, 9, 10, 11, 12, 13), (4, 5, 6, 7)),
    ("1 R4 HMMA.1688.F32.TF32 3 R8 R12 R4 0", (8, 9, 10, 11, 12, 13, 4, 5, 6, 7), (4, 5, 6, 7)),
    ("1 R4 HMMA.SP.16816.F32 4 R8 R12 R4 R3 0", (8, 9, 12, 13, 4, 5, 6, 7, 3), (4, 5, 6, 7)),
    ("1 R8 HMMA.884.F32.F32.STEP0 3 R24 R22 R8 0", (24, 25, 22, 23, 8, 9), (8, 9)),
    ("1 R4 IMMA.8816.S8.S8 3 R9 R11 R4 0", (9, 11, 4, 5), (4, 5)),
    ("1 R4 IMMA.16832.S8.S8 3 R8 R12 R4 0", (8, 9, 10, 11, 12, 13, 4, 5, 6, 7), (4, 5, 6, 7)),
    ("1 R4 IMMA.8832.S4.S4 3 R9 R11 R4 0", (9, 11, 4, 5), (4, 5)),
    ("1 R4 DMMA.884 3 R8 R10 R4 0", (8, 9, 10, 11, 4, 5, 6, 7), (4, 5, 6, 7)),
    ("1 R4 BMMA.88128.XOR.POPC 3 R9 R11 R4 0", (9, 11, 4, 5), (4, 5)),
    ("0 RED.E.ADD.F64.RN.STRONG.GPU 2 R2 R4 4 1 0x10 8", (2, 3, 4, 5), ()),
    ("1 R5 ATOMS.CAS 3 R2 R4 R3 4 1 0x10 4", (2, 4, 3), (5,)),
]


@pytest.mark.parametrize(("rest", "sources", "dests"), WIDTHS)
def test_widths_come_from_the_opcode(
    tmp_path: Path, rest: str, sources: tuple[int, ...], dests: tuple[int, ...]
) -> None:
    found, repairs = only(tmp_path, f"{FULL} {rest}")
    assert (found.sources, found.dests) == (sources, dests)
    recorded = sum(field.startswith("R") and field[1:].isdigit() and field != "R255" for field in rest.split())
    assert ("wide_operands" in repairs) == (len(sources) + len(dests) > recorded)
    assert not repairs & {"unknown_opcodes", "unaligned_operands", "moved_destinations", "moved_sources"}


#: The destination stands among the sources where a predicate is operand 0.
MOVED = [
    ("0 SHFL.IDX 4 R5 R4 R3 R2 0", (4, 3, 2), (5,)),
    ("0 ATOMG.E.ADD.STRONG.GPU 3 R9 R2 R5 4 1 0x10 4", (2, 3, 5), (9,)),
    ("0 ATOMG.E.CAS.64.STRONG.GPU 4 R8 R2 R4 R6 8 1 0x10 8", (2, 3, 4, 5, 6, 7), (8, 9)),
    ("0 ATOM.E.ADD.F64.RN.STRONG.GPU 3 R8 R2 R4 4 1 0x10 8", (2, 3, 4, 5), (8, 9)),
    ("0 VOTE.ANY 1 R7 0", (), (7,)),
    ("0 MATCH.ALL 2 R7 R6 0", (6,), (7,)),
    ("0 LOP3.LUT 4 R255 R3 R4 R255 0", (3, 4), ()),
]


@pytest.mark.parametrize(("rest", "sources", "dests"), MOVED)
def test_a_misplaced_destination_is_put_right(
    tmp_path: Path, rest: str, sources: tuple[int, ...], dests: tuple[int, ...]
) -> None:
    found, repairs = only(tmp_path, f"{FULL} {rest}")
    assert (found.sources, found.dests) == (sources, dests)
    assert "moved_destinations" in repairs


@pytest.mark.parametrize(
    ("rest", "sources", "port"),
    [
        ("1 R20 RET.REL.NODEC 0 0", (20, 21), Port.ALU),
        ("1 R4 BRX 0 0", (4, 5), Port.ALU),
        ("1 R4 CALL.ABS.NOINC 0 0", (4, 5), Port.ALU),
        ("1 R7 WARPSYNC 0 0", (7,), Port.ALU),
        ("1 R7 BAR.SYNC.DEFER_BLOCKING 0 0", (7,), Port.ALU),
    ],
)
def test_a_register_that_is_only_read_is_no_destination(
    tmp_path: Path, rest: str, sources: tuple[int, ...], port: Port
) -> None:
    found, repairs = only(tmp_path, f"{FULL} {rest}")
    assert (found.sources, found.dests, found.port) == (sources, (), port)
    assert "moved_sources" in repairs


@pytest.mark.parametrize(
    "rest",
    [
        "1 R5 SHFL.IDX 1 R4 0",
        "0 BMOV.32 1 R4 0",
        "0 ISETP.GE.AND 2 R4 R5 0",
        "0 STG.E 2 R6 R9 4 1 0x10 4",
        "0 ATOMS.CAST.SPIN 3 R2 R4 R5 4 1 0x10 4",
        "0 R2UR 1 R4 0",
        "0 REDUX.SUM 1 R4 0",
    ],
)
def test_operands_in_their_place_are_not_moved(tmp_path: Path, rest: str) -> None:
    found, repairs = only(tmp_path, f"{FULL} {rest}")
    assert not repairs & {"moved_destinations", "moved_sources", "unknown_opcodes"}
    assert found.dest_count == ("R5 SHFL" in rest)


def test_the_zero_register_is_neither_read_nor_written(tmp_path: Path) -> None:
    found, repairs = only(tmp_path, f"{FULL} 1 R255 LDG.E.64.SYS 1 R255 8 1 0x10 8")
    assert (found.sources, found.dests, found.text) == ((), (), "LDG.E.64.SYS RZ, [RZ]")
    assert "zero_registers" in repairs and "wide_operands" not in repairs


@pytest.mark.parametrize(
    ("rest", "sources", "dests", "repair"),
    [
        ("1 R5 LDG.E.64.SYS 1 R2 8 1 0x10 8", (2, 3), (5,), "unaligned_operands"),
        ("1 R6 LDG.E.128.SYS 1 R2 16 1 0x10 16", (2, 3), (6, 7), "unaligned_operands"),
        ("1 R254 LDG.E.64.SYS 1 R2 8 1 0x10 8", (2, 3), (254,), "unaligned_operands"),
        ("1 R2 DADD 2 R5 R6 0", (5, 6, 7), (2, 3), "unaligned_operands"),
        ("1 R4 LDG.E.SYS 1 R3 4 1 0x10 4", (3,), (4,), "narrow_bases"),
    ],
)
def test_registers_that_cannot_hold_a_width_are_narrowed(
    tmp_path: Path, rest: str, sources: tuple[int, ...], dests: tuple[int, ...], repair: str
) -> None:
    found, repairs = only(tmp_path, f"{FULL} {rest}")
    assert (found.sources, found.dests) == (sources, dests)
    assert repair in repairs


@pytest.mark.parametrize(
    ("immediate", "sources", "assumed"), [("", (0, 6), True), (" 0", (0, 6), True), (" 4", (0, 6, 7), False)]
)
def test_the_immediate_of_a_wide_multiply_tells_its_addend(
    tmp_path: Path, immediate: str, sources: tuple[int, ...], assumed: bool
) -> None:
    lines = [f"{FULL} 1 R2 IMAD.WIDE 2 R0 R6 0{immediate}", EXIT + (" 0" if immediate else "")]
    found = imported(tmp_path, text({0: lines}, {"accelsim tracer version": "5" if immediate else "4"}))
    assert found.trace.program[0].sources == sources
    assert ("assumed_factors" in found.repairs.to_json()) == assumed


@pytest.mark.parametrize(
    ("rest", "size", "differs"),
    [
        ("1 R4 LDG.E.S8.SYS 1 R2 4 1 0x10 1", 1, True),
        ("1 R4 LDG.E.U16.SYS 1 R2 2 1 0x10 2", 2, False),
        ("1 R4 LDSM.16.M88.2 1 R3 2 1 0x10 16", 16, True),
        ("1 R4 LDG.E.128 1 R2 16 1 0x10 16", 16, False),
    ],
)
def test_bytes_come_from_the_opcode(tmp_path: Path, rest: str, size: int, differs: bool) -> None:
    found, repairs = only(tmp_path, f"{FULL} {rest}")
    assert found.bytes == size
    assert ("access_sizes" in repairs) == differs


@pytest.mark.parametrize(
    ("rest", "space", "access"),
    [
        ("1 R4 LDG.E 1 R2 4 1 0x10 4", Space.GLOBAL, Access.LOAD),
        ("1 R4 LDS 1 R2 4 1 0x10 4", Space.SHARED, Access.LOAD),
        ("0 STL 2 R1 R4 4 1 0x10 4", Space.LOCAL, Access.STORE),
        ("1 R4 LDC 1 R2 0", Space.CONSTANT, Access.LOAD),
        ("0 RED.E.ADD 2 R2 R4 4 1 0x10 4", Space.GLOBAL, Access.ATOMIC),
        ("1 R4 FROB.E 1 R2 4 1 0x10 4", Space.GLOBAL, Access.LOAD),
    ],
)
def test_space_and_direction_come_from_the_opcode(tmp_path: Path, rest: str, space: Space, access: Access) -> None:
    found, _ = only(tmp_path, f"{FULL} {rest}")
    assert (found.space, found.access, found.port) == (space, access, Port.LSU)


@pytest.mark.parametrize(
    ("rest", "kind", "port", "sources"),
    [
        ("1 R3 XMAD.PSL.CBCC 3 R0 R3 R2 0", Kind.NORMAL, Port.ALU, (0, 3, 2)),
        ("1 R3 SHL 1 R0 0", Kind.NORMAL, Port.ALU, (0,)),
        ("0 PSETP.AND.AND 0 0", Kind.NORMAL, Port.NONE, ()),
        ("0 SSY 0 0", Kind.NORMAL, Port.NONE, ()),
        ("0 SYNC 0 0", Kind.BRANCH, Port.NONE, ()),
        ("0 CAL 0 0", Kind.BRANCH, Port.NONE, ()),
        ("0 BAR.SYNC 0 0", Kind.BARRIER, Port.NONE, ()),
        ("1 R3 BRX 0 0", Kind.BRANCH, Port.ALU, (3,)),
        ("1 R3 S2R 0 0", Kind.NORMAL, Port.SFU, ()),
    ],
)
def test_older_machines(tmp_path: Path, rest: str, kind: Kind, port: Port, sources: tuple[int, ...]) -> None:
    found, repairs = only(tmp_path, f"0008 ffffffff {rest}", {"binary version": "61"})
    assert (found.kind, found.port, found.sources) == (kind, port, sources)
    assert "unknown_opcodes" not in repairs
    assert found.opcode == rest.split()[1 + int(rest[0])]


@pytest.mark.parametrize("rest", ["1 R4 TEX.SCR.LL 2 R6 R8 0", "1 R4 HMMA.777 2 R6 R8 0", "1 R4 LDSM 2 R6 R8 0"])
def test_operands_of_an_unknown_opcode_are_kept(tmp_path: Path, rest: str) -> None:
    found = imported(tmp_path, text({0: [f"{FULL} {rest}", EXIT]}))
    assert (found.trace.program[0].sources, found.trace.program[0].dests) == ((6, 8), (4,))
    assert found.repairs.to_json()["unknown_opcodes"] == {"instructions": 1, "records": 1}
    assert any(rest.split()[2] in note for note in found.trace.notes)


def test_addresses_of_what_accesses_no_memory_are_dropped(tmp_path: Path) -> None:
    found = imported(tmp_path, text({0: [f"{FULL} 0 CCTL.E.C.LDCU.IV.DEEP 1 R2 4 1 0x10 4", EXIT]}))
    assert found.trace.address_row.tolist() == [-1, -1]
    assert found.trace.program[0].sources == (2, 3)
    assert "dropped_addresses" in found.repairs.to_json()


def test_predicates_are_not_recorded(tmp_path: Path) -> None:
    for rest in ("0 ISETP.GE.AND 2 R4 R5 0", "1 R4 P2R 2 R255 R5 0", "0 R2P 1 R4 0"):
        found, _ = only(tmp_path, f"{FULL} {rest}")
        assert (found.token_reads, found.token_writes) == (0, 0)
