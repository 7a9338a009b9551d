"""The worked example of section 11, cycle by cycle: four banks, one active warp, L = 3 and X = 2.

R0 = imm, R1 = R0 (dead) + imm, R2 = imm, then R3 = R1 + imm, R4 = LDG [R3], and a read of R4 that gives the place up.
Register r is in main bank r mod 4. Expected cycles are counted from the event that begins each part.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tests.golden.rf.ltrf.scenario import load, make, plus, prefetch, run_ltrf, since, steps
from tests.golden.scenario import Run, hand_trace, op
from warpfile.spec.schemes.ltrf import EMPTY, MOVING, OPEN, PREFETCH, RECALL, RELEASING, LtrfConfig

L, X = 3, 2
PROGRAM = [
    *(prefetch(0, 1, 2), op((), 0), op((0,), 1), op((), 2)),
    *(prefetch(1, 3, 4), op((1,), 3), load(4, (3,)), op((4, 3))),
]
DEAD = [0, 0, 1, *[0] * 6]
TIMES = {"bank_cycles": L, "crossbar_beats": X, "miss_latency": 60, "cache_lines": 0}


def example(cfg: LtrfConfig) -> Run:
    trace = hand_trace(PROGRAM)
    if cfg.liveness:
        trace = dataclasses.replace(trace, annotation="test", hints=np.array(DEAD, dtype=np.uint32))
    return run_ltrf(cfg, trace)


def changes(result: Run, start: int, end: int) -> list[tuple[int, int]]:
    """Changes of the place's state, as cycles behind ``start``."""
    seen = [f["place_state"] for f in result.fields]
    return [(cycle - start, seen[cycle]) for cycle in range(start + 1, end) if seen[cycle] != seen[cycle - 1]]


def occupied(result: Run, start: int, *cycles: int) -> list[int]:
    """Banks that are not free, some cycles behind ``start``."""
    return [result.fields[start + cycle]["bank_occupied"] for cycle in cycles]


@pytest.fixture(scope="module", params=["ltrf", "ltrf_plus"])
def shown(request: pytest.FixtureRequest) -> tuple[bool, Run]:
    """Whether dead registers stay, and the run."""
    cfg = make(**TIMES) if request.param == "ltrf" else plus(**TIMES)
    return bool(cfg.liveness), example(cfg)


def test_a_new_warp_has_nothing_and_its_place_is_open_at_once(shown: tuple[bool, Run]) -> None:
    _, result = shown
    assert result.when("launch") == [0] and result.when("activate")[0] == 1
    assert result.when("start")[0] == 2 and result.when("enter")[0] == 3
    assert changes(result, 0, 5) == [(3, OPEN), (4, PREFETCH)]


def test_the_first_interval_is_brought_unless_it_is_dead(shown: tuple[bool, Run]) -> None:
    dead, result = shown
    t = result.when("enter")[0]
    assert result.events("working_set")[0] == (t + 1, 0b111)
    end = 5 if dead else 8 + L + X
    assert changes(result, t, t + end + 1) == [(1, PREFETCH), (2, MOVING), (end, OPEN)]
    assert steps(result, t, t + end) == [(2, "in", register, not dead) for register in (0, 1, 2)]
    assert since(result, t, "fill_grant", end) == ({} if dead else {5: 0b0111})
    assert occupied(result, t, 2, 3, end) == [0, 0b0111, 0b0111]
    assert result.issues()[1][0] == t + end


def test_the_second_interval_takes_the_banks_of_the_first(shown: tuple[bool, Run]) -> None:
    dead, result = shown
    t = result.when("enter")[1]
    assert result.events("working_set")[1] == (t + 1, 0b11010)
    out = [(2, "out", 0, not dead), (2, "out", 2, True)]
    end = 8 + X if dead else 10 + L + X
    # R4 is in part 0 and has the first free bank, which was that of R0; R3 is in part 3 and has that of R2.
    assert steps(result, t, t + end) == [*out, (4, "in", 4, not dead), (4, "in", 3, not dead)]
    assert since(result, t, "back_grant", end) == {6: 0b0100 if dead else 0b0101}
    assert since(result, t, "fill_grant", end) == ({} if dead else {7: 0b0101})
    assert occupied(result, t, 2, 3, 4, 5, end) == [0b0111, 0b0111, 0b0010, 0b0111, 0b0111]
    # Of main bank 0 the latch of R0 waits until the fill of R4 has been read.
    written = {7 + X: 0b0100} if dead else {7 + X: 0b0100, 7 + L: 0b0001}
    assert since(result, t, "main_write", end) == written
    assert changes(result, t, t + end + 1) == [(1, PREFETCH), (2, MOVING), (end, OPEN)]


def test_what_a_load_overwrites_is_not_saved(shown: tuple[bool, Run]) -> None:
    _, result = shown
    (s,) = result.when("save")
    assert result.fields[s].get("live_set", 0b11110) == 0b11110
    end = 7 + X
    assert steps(result, s, s + end) == [(1, "out", 4, False), (1, "out", 1, True), (1, "out", 3, True)]
    assert since(result, s, "back_grant", end) == {5: 0b0110}
    assert occupied(result, s, 2, 3) == [0b0111, 0]
    assert result.events("released_place") == [(s + end - 1, 1)]
    assert changes(result, s, s + end + 1) == [(1, RELEASING), (end, EMPTY)]


def test_the_load_is_parked_and_its_warp_comes_back(shown: tuple[bool, Run]) -> None:
    _, result = shown
    (p,) = result.when("parked")
    assert p in result.when("write_wait") and p + X in result.when("write")
    assert since(result, p, "main_write", X + 2) == {X + 1: 1}
    assert result.when("activate")[1] == p + X + 1
    c = result.when("start")[1]
    assert c == p + X + 2
    end = 8 + L + X
    assert changes(result, c, c + end + 1) == [(1, RECALL), (2, MOVING), (end, OPEN)]
    assert result.fields[c + 1]["working_set"] == 0b11010
    assert steps(result, c, c + end) == [(2, "in", 4, True), (2, "in", 1, True), (2, "in", 3, True)]
    assert since(result, c, "fill_grant", end) == {5: 0b0111}


def test_every_operand_is_right_and_the_run_ends_with_the_warp(shown: tuple[bool, Run]) -> None:
    _, result = shown
    assert result.model.operands_checked == 5
    assert result.cycles == result.when("exit")[0] + 1


def test_counters() -> None:
    names = ("prefetch_fills", "refetch_fills", "dead_fills", "kept_registers", "prefetch_backs", "unsaved_steps")
    names += ("release_backs", "unsaved_releases", "prefetches", "refetches", "parked_results", "transfer_waits")
    counted = {cfg.liveness: example(cfg).model.counters for cfg in (make(**TIMES), plus(**TIMES))}
    assert [counted[0][name] for name in names] == [5, 3, 0, 1, 2, 0, 2, 1, 2, 1, 1, 0]
    assert [counted[1][name] for name in names] == [0, 3, 5, 1, 1, 1, 2, 1, 2, 1, 1, 0]
    for both in counted.values():
        moved = both["main_reads"] + both["main_writes"]
        assert both["crossbar_beats_used"] == X * moved
