"""The worked example of section 11, cycle by cycle: four banks, one active warp, L = 3 and X = 2.

R0 = imm, R1 = R0 (dead) + imm, R2 = imm, then R3 = R1 + imm, R4 = LDG [R3], and a read of R4 that gives the place up.
Register r is in main bank r mod 4. Expected cycles are counted from the event that begins each part.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tests.golden.rf.ltrf.scenario import banks, load, make, plus, prefetch, run_ltrf, steps, transfers
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


def states(result: Run, start: int, end: int) -> list[tuple[int, int]]:
    """Changes of the place's state, as cycles behind ``start``."""
    seen = [f["place_state"] for f in result.fields]
    return [(cycle - start, seen[cycle]) for cycle in range(start + 1, end) if seen[cycle] != seen[cycle - 1]]


@pytest.fixture(scope="module", params=["ltrf", "ltrf_plus"])
def shown(request: pytest.FixtureRequest) -> tuple[bool, Run]:
    """Whether dead registers stay, and the run."""
    cfg = make(**TIMES) if request.param == "ltrf" else plus(**TIMES)
    return bool(cfg.liveness), example(cfg)


def test_a_new_warp_has_nothing_and_its_place_is_open_at_once(shown: tuple[bool, Run]) -> None:
    _, result = shown
    assert result.when("launch") == [0] and result.when("activate")[0] == 1
    assert result.when("start")[0] == 2 and result.when("enter")[0] == 3
    assert states(result, 0, 5) == [(3, OPEN), (4, PREFETCH)]


def test_the_first_interval_is_brought_unless_it_is_dead(shown: tuple[bool, Run]) -> None:
    dead, result = shown
    t = result.when("enter")[0]
    assert result.events("working_set")[0] == (t + 1, 0b111)
    end = t + 6 if dead else t + 9 + L + X
    assert states(result, t, end + 1) == [(1, PREFETCH), (2, MOVING), (end - t, OPEN)]
    assert steps(result, t, end) == [(2, "in", 0, not dead), (3, "in", 1, not dead), (4, "in", 2, not dead)]
    fills = [] if dead else [(4, "fill", 0), (5, "fill", 1), (6, "fill", 2)]
    assert transfers(result, t, end) == fills
    assert banks(result, end) == ([3], {0, 1, 2})
    assert result.issues()[1][0] == end


def test_the_second_interval_takes_the_banks_of_the_first(shown: tuple[bool, Run]) -> None:
    dead, result = shown
    t = result.when("enter")[1]
    assert result.events("working_set")[1] == (t + 1, 0b11010)
    out = [(2, "out", 0, not dead), (3, "out", 2, True)]
    came = [(4, "in", 3, not dead), (5, "in", 4, not dead)]
    end = t + 9 + L + X if dead else t + 10 + 2 * L + 2 * X
    assert steps(result, t, end) == out + came
    # R4 takes bank 0, whose channel and main bank write R0 back until t + 6 + X + L.
    late = 7 + X + L
    moved = [(5, "back", 2)] if dead else [(4, "back", 0), (5, "back", 2), (6, "fill", 3), (late, "fill", 4)]
    assert transfers(result, t, end) == moved
    waits = [cycle - t for cycle in result.when("unfit") if t < cycle < end]
    assert waits == ([] if dead else [*range(7, late)])
    assert [banks(result, t + k)[0] for k in range(2, 7)] == [[3], [3, 0], [3, 0, 2], [0, 2], [2]]
    assert states(result, t, end + 1) == [(1, PREFETCH), (2, MOVING), (end - t, OPEN)]
    assert banks(result, end) == ([2], {0, 1, 3})


def test_what_a_load_overwrites_is_not_saved(shown: tuple[bool, Run]) -> None:
    _, result = shown
    (s,) = result.when("save")
    assert result.fields[s]["save_set"] == 0b1010
    assert result.fields[s].get("live_set", 0b11110) == 0b11110
    assert [cycle - s for cycle in result.when("given_back")[:3]] == [1, 2, 3]
    assert [banks(result, s + k)[0] for k in range(1, 5)] == [[2], [2, 0], [2, 0, 1], [2, 0, 1, 3]]
    end = s + 7 + X + L
    assert transfers(result, s, end) == [(2, "back", 1), (3, "back", 3)]
    assert result.events("released_place") == [(end - 1, 1)]
    assert states(result, s, end + 1) == [(1, RELEASING), (end - s, EMPTY)]


def test_the_load_is_parked_and_its_warp_comes_back(shown: tuple[bool, Run]) -> None:
    _, result = shown
    (p,) = result.when("parked")
    assert p in result.when("write_wait") and p + X in result.when("write")
    busy = [cycle - p for cycle, mask in result.events("main_busy") if mask & 1 and p <= cycle <= p + X + L + 1]
    assert busy == [*range(1, X + L + 1)]
    assert result.when("activate")[1] == p + X + 1
    c = result.when("start")[1]
    assert c == p + X + 2
    end = c + 9 + L + X
    assert states(result, c, end + 1) == [(1, RECALL), (2, MOVING), (9 + L + X, OPEN)]
    assert result.fields[c + 1]["working_set"] == 0b11010
    assert steps(result, c, end) == [(2, "in", 1, True), (3, "in", 3, True), (4, "in", 4, True)]
    assert transfers(result, c, end) == [(4, "fill", 1), (5, "fill", 3), (6, "fill", 4)]
    assert [banks(result, c + k)[0] for k in range(2, 6)] == [[2, 0, 1, 3], [0, 1, 3], [1, 3], [3]]


def test_every_operand_is_right_and_the_run_ends_with_the_warp(shown: tuple[bool, Run]) -> None:
    _, result = shown
    assert result.model.operands_checked == 5
    assert result.cycles == result.when("exit")[0] + 1


def test_counters() -> None:
    names = ("prefetch_fills", "refetch_fills", "dead_fills", "kept_registers", "prefetch_backs", "unsaved_steps")
    names += ("release_backs", "unsaved_releases", "prefetches", "refetches", "parked_results", "transfer_waits")
    counted = {cfg.liveness: example(cfg).model.counters for cfg in (make(**TIMES), plus(**TIMES))}
    assert [counted[0][name] for name in names] == [5, 3, 0, 1, 2, 0, 2, 1, 2, 1, 1, X + L]
    assert [counted[1][name] for name in names] == [0, 3, 5, 1, 1, 1, 2, 1, 2, 1, 1, 0]
    for both in counted.values():
        moved = both["main_reads"] + both["main_writes"]
        assert both["crossbar_beats_used"] == X * moved
