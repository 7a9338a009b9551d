"""Beginnings against those found by hand (docs/schemes/shrf.md, section 7)."""

from __future__ import annotations

from tests.compiler.generated import graph
from warpfile.compiler.passes.shrf.strands import beginnings

LOAD = "LDG.SYS R2, [R8]"
USE = "IADD3 R3, R2, 0x1, RZ"
CONDITION = "ISETP.LT.AND P0, PT, R0, 0x4, PT"


def found(code: str) -> list[int]:
    """Numbers of the instructions that begin a strand, up to the end of the code."""
    lines = [line for line in code.splitlines() if not line.endswith(":")]
    return [index for index in sorted(beginnings(graph(code))) if index < len(lines)]


def test_a_strand_ends_before_a_loaded_register_is_touched() -> None:
    assert found(f"{LOAD}\nNOP\n{USE}\n{USE}") == [0, 2]
    assert found(f"{LOAD}\nMOV R2, 0x1\n{USE}") == [0, 1]


def test_all_loads_have_come_when_a_strand_begins() -> None:
    # The scheduler waits for all loads of the warp there, so the second one needs no end of its own.
    assert found("LDG.SYS R2, [R8]\nLDG.SYS R4, [R8]\nIADD3 R3, R2, 0x1, RZ\nIADD3 R5, R4, R2, RZ") == [0, 2]


def test_a_fence_waits_for_loads() -> None:
    assert found(f"{LOAD}\nMEMBAR.SC.GPU\nNOP") == [0, 1]
    assert found("MEMBAR.SC.GPU\nNOP") == [0]


def test_loops_begin_strands_at_their_head_and_behind() -> None:
    assert found(f"NOP\ntop:\nIADD3 R0, R0, 0x1, RZ\n{CONDITION}\n@P0 BRA `(top)\nNOP") == [0, 1, 4]


def test_barriers_and_calls() -> None:
    assert found("NOP\nBAR.SYNC 0x0\nNOP\nNOP") == [0, 2]
    assert found("NOP\nWARPSYNC 0xffffffff\nNOP\nNOP") == [0, 1, 2]


def test_a_join_of_ways_with_and_without_a_load_outstanding() -> None:
    uniform = "ISETP.LT.AND P0, PT, RZ, c[0x0][0x160], PT"
    code = f"{uniform}\n@P0 BRA `(join)\n{LOAD}\njoin:\nNOP\n{USE}"
    assert found(code) == [0, 3]


HAMMOCK = f"""S2R R0, SR_LANEID
BSSY B0, `(behind)
{CONDITION}
@P0 BRA `(end)
{{inside}}
NOP
end:
BSYNC B0
behind:
NOP"""


def test_a_divergent_branch_around_no_end_stays_in_its_strand() -> None:
    assert found(HAMMOCK.format(inside="NOP")) == [0]


def test_a_divergent_branch_around_an_end_is_one_on_both_sides_and_where_lanes_meet() -> None:
    # The load and its use in one side; the sides begin at 4 and at the BSYNC, the lanes meet behind it.
    code = HAMMOCK.format(inside=f"{LOAD}\n{USE}")
    assert found(code) == [0, 4, 5, 7, 8]


def test_a_uniform_branch_around_an_end_is_none() -> None:
    code = HAMMOCK.format(inside=f"{LOAD}\n{USE}").replace("SR_LANEID", "SR_CTAID.X")
    assert found(code) == [0, 5]
