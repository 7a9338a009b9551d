"""Shuffles, votes, matches and special registers against the PTX ISA's definitions, lane by lane."""

from __future__ import annotations

from functools import reduce
from operator import and_, or_, xor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.emulator.harness import LANE, result, run, words
from warpfile.emulator.errors import ExecutionError
from warpfile.emulator.memory import SHARED_WINDOW

FEW = settings(max_examples=60, deadline=None)
M = 2**32 - 1


def shuffle(mode: str, lane: int, b: int, c: int) -> tuple[int, bool]:
    """Source lane and predicate by the pseudo-code of shfl.sync."""
    limit, clamp, segment = 0, c & 31, c >> 8 & 31
    limit = (lane & segment) | (clamp & ~segment)
    floor = lane & segment
    b &= 31
    if mode == "UP":
        source, valid = lane - b, lane - b >= limit
    elif mode == "DOWN":
        source, valid = lane + b, lane + b <= limit
    elif mode == "BFLY":
        source, valid = lane ^ b, lane ^ b <= limit
    else:
        source = floor | (b & ~segment)
        valid = source <= limit
    return (source if valid else lane), valid


@FEW
@given(st.sampled_from(["UP", "DOWN", "BFLY", "IDX"]), st.integers(0, 31), st.sampled_from([1, 2, 4, 8, 16, 32]))
def test_shfl_in_segments(mode: str, b: int, width: int) -> None:
    c = (32 - width) << 8 | (0 if mode == "UP" else 0x1F)
    warp = run(f"SHFL.{mode} P0, R0, R2, {b:#x}, R3", {2: 100 + LANE, 3: words(c)})
    for lane in range(32):
        source, valid = shuffle(mode, lane, b, c)
        assert warp.registers[0][lane] == 100 + source
        assert warp.predicates[0] >> lane & 1 == valid


def test_shfl_index_per_lane() -> None:
    assert result("SHFL.IDX PT, R0, R2, R3, 0x1f", {2: LANE * 3, 3: 31 - LANE}).tolist() == [
        3 * (31 - n) for n in range(32)
    ]


@pytest.mark.parametrize(("given_lanes", "any_", "all_", "equal"), [(0, 0, 0, 1), (0xF0, 1, 0, 0), (0xFFFF, 1, 1, 1)])
def test_votes_count_executing_lanes_only(given_lanes: int, any_: int, all_: int, equal: int) -> None:
    code = (
        "@P1 VOTE.ANY R0, P2, P0\n@P1 VOTE.ALL R1, P3, P0\n@P1 VOTE.EQ R2, P4, P0\nVOTEU.ANY UR4, UP0, P0\nMOV R3, UR4"
    )
    warp = run(code, predicates={0: given_lanes | 0xFF000000, 1: 0xFFFF})
    assert warp.registers[0][:2].tolist() == [given_lanes, given_lanes]
    assert [warp.predicates[p] & 1 for p in (2, 3, 4)] == [any_, all_, equal]
    assert warp.registers[3][0] == given_lanes | 0xFF000000


def test_match() -> None:
    warp = run("MATCH.ANY R0, R2\nMATCH.ALL P0, R1, R2\nMATCH.ALL P1, R3, R4", {2: LANE % 2, 4: words(5)})
    assert warp.registers[0].tolist() == [0x55555555, 0xAAAAAAAA] * 16
    assert (warp.registers[1][0], warp.predicates[0], warp.registers[3][0]) == (0, 0, 0xFFFFFFFF)


REDUCTIONS = {
    "SUM": sum,
    "MIN.S32": min,
    "MAX.S32": max,
    "MIN": lambda found: min(one & M for one in found),
    "MAX": lambda found: max(one & M for one in found),
    "AND": lambda found: reduce(and_, found),
    "OR": lambda found: reduce(or_, found),
    "XOR": lambda found: reduce(xor, found),
}


@FEW
@given(st.sampled_from(sorted(REDUCTIONS)), st.lists(st.integers(-(2**31), 2**31 - 1), min_size=32, max_size=32))
def test_reductions_are_over_the_executing_lanes(name: str, values: list[int]) -> None:
    opcode = "REDUX" if name == "AND" else f"REDUX.{name}"
    warp = run(f"@P0 {opcode} UR4, R2\nMOV R0, UR4", {2: words(*values)}, {0: 0xF0F0})
    chosen = [value for lane, value in enumerate(values) if 0xF0F0 >> lane & 1]
    assert warp.registers[0][0] == REDUCTIONS[name](chosen) & M
    assert result("CREDUX.MAX.S32 UR4, R2\nMOV R0, UR4", {2: words(*values)})[0] == max(values) & M


def test_a_copy_to_a_uniform_register_tells_whether_lanes_differ() -> None:
    code = "R2UR P0, UR4, R2\n@P1 R2UR P2, URZ, R2\nMOV R0, UR4"
    warp = run(code, {2: words(*[5] * 8, *[6] * 24)}, {1: 0xFF})
    assert (warp.registers[0][31], warp.predicates[0], warp.predicates[2]) == (5, M, 0)


def test_the_lowest_executing_lane_is_elected() -> None:
    warp = run("@P1 ELECT P0, UR4, PT\nMOV R0, UR4", predicates={1: 0xFF00})
    assert (warp.registers[0][0], warp.predicates[0]) == (8, 0x100)
    with pytest.raises(ExecutionError, match="source of ELECT must be PT"):
        run("ELECT P0, UR4, P1")


def test_places_that_sm_90_asks_for() -> None:
    code = "S2R R0, SR_CgaCtaId\nS2UR UR4, SR_CgaCtaId\nMOV R1, UR4\nS2R R2, SR_SWINHI"
    warp = run(code, {0: words(9)})
    assert [warp.registers[n][31] for n in range(3)] == [0, 0, SHARED_WINDOW >> 32]


def test_special_registers() -> None:
    warp = run("S2R R0, SR_TID.X\nS2R R1, SR_LANEID\nS2R R2, SR_LTMASK\nS2R R3, SR_GEMASK\nCS2R R4, SRZ", {5: words(9)})
    assert warp.registers[0].tolist() == list(range(32))
    assert warp.registers[2][:3].tolist() == [0, 1, 3]
    assert warp.registers[3][31] == 0x80000000
    assert warp.registers[5][0] == 0


def test_cs2ur_reads_a_clock_for_the_warp() -> None:
    warp = run("NOP\nCS2UR.32 UR4, SR_CLOCKLO\nCS2UR UR6, SR_CLOCKLO\nMOV R0, UR4\nMOV R1, UR6\nMOV R2, UR7")
    assert [warp.registers[n][0] for n in range(3)] == [1, 2, 0]


def test_r2ur_takes_the_lowest_executing_lane() -> None:
    warp = run("@P0 R2UR UR4, R2\nMOV R0, UR4", {2: LANE}, {0: 0xF0})
    assert warp.registers[0][0] == 4
