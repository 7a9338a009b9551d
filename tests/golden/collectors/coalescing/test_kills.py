"""Registers that are dead behind a beat (docs/schemes/corf.md, section 9)."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tests.golden.collectors.coalescing.test_units import REST, since
from tests.golden.rf.packed.scenario import get, killing, make, put, run_packed, valued
from tests.golden.scenario import FULL, Run, op
from warpfile.spec.schemes.packed import PackedConfig
from warpfile.spec.trace import Port

CFG = make("packing_virtual")
#: Beats of a program that begins with one write and ``REST``.
FIRST = 1 + len(REST)


def last(cfg: PackedConfig, *program: object, dead: tuple[tuple[int, int], ...]) -> tuple[Run, int]:
    """A run whose first instruction writes R3; beats of ``dead`` count behind ``REST``, and the cycle of the first."""
    trace = valued([put(3, 7), *REST, *program])  # type: ignore[list-item]
    result = run_packed(cfg, killing(cfg, trace, *[(FIRST + beat, slot) for beat, slot in dead]))
    return result, result.issues()[FIRST][0]


def test_a_dead_register_loses_its_slices_when_it_is_filled() -> None:
    """Granted in t + 1, filled from t + 3 on, when the beat is presented."""
    result, t = last(CFG, get(3), *REST, dead=((0, 0),))
    assert since(result, "kills", t) == [(cycle, result.fields[t + 1]["kills"]) for cycle in (1, 2, 3)]
    assert [cycle for cycle, _ in since(result, "killed", t)] == [3]
    assert [f["used_rows"] for f in result.fields[t + 3 : t + 5]] == [1, 0]
    assert not result.when("unit_drains") and result.model.counters["kill_wait_cycles"] == 3


def test_a_unit_drains_until_its_last_kill_is_served() -> None:
    """Two dead registers are served one after the other, and the beat leaves with the first."""
    trace = valued([put(3, 7), put(4, 8), *REST, get(3, 4), *REST])
    beat = 2 + len(REST)
    result = run_packed(CFG, killing(CFG, trace, (beat, 0), (beat, 1)))
    t = result.issues()[beat][0]
    assert [cycle for cycle, _ in since(result, "killed", t)] == [3, 4], "R3 is filled before R4"
    late = make("packing_virtual", source_slots=3)
    first = valued([put(1, 7), put(3, 8), *REST, get(1, 3), get(9, 5), *REST])
    result = run_packed(late, killing(late, first, (beat, 0), (beat, 1)))
    assert result.model.counters["kills_done"] == 2


def test_a_draining_unit_is_occupied_and_presents_nothing() -> None:
    """With sides everything is in one memory; a joined pair is filled at once, and its kills take two cycles."""
    cfg = make("corf_plus_virtual")
    trace = valued([put(3, 7), put(4, 8), *REST, get(3, 4), *REST])
    beat = 2 + len(REST)
    result = run_packed(cfg, killing(cfg, trace, (beat, 0), (beat, 1)))
    t = result.issues()[beat][0]
    assert since(result, "joined", t) and [cycle for cycle, _ in since(result, "killed", t)] == [3, 4]
    assert since(result, "unit_drains", t) == [(4, result.fields[t]["allocate"])]
    unit = result.fields[t]["allocate"]
    assert [bool(f["occupied"] & unit) for f in result.fields[t + 3 : t + 6]] == [True, True, False]
    assert result.fields[t + 3]["dispatch"] and not result.fields[t + 4]["offer"]
    assert result.model.counters["draining_cycles"] == 1


def test_an_older_beat_that_has_yet_to_read_keeps_a_register() -> None:
    """The older one reads R3 last of three sources."""
    result, _ = last(CFG, get(5, 1, 3), get(3), *REST, dead=((1, 0),))
    alone, _ = last(CFG, get(3), *REST, dead=((0, 0),))
    assert result.model.operands_checked == 2 and result.model.counters["kills_done"] == 1
    assert alone.model.counters["kills_done"] == 1
    grants = result.when("grant")
    assert all(cycle > grants[-2] for cycle in result.when("killed"))


def test_a_younger_write_waits_for_a_dead_register() -> None:
    result, t = last(CFG, get(3), put(3, 9), get(3), dead=((0, 0),))
    killed = result.when("killed")[0]
    issues = [cycle for cycle, _ in result.issues() if cycle > t]
    assert issues[0] == killed + 1, "a write of R3 issues when the kill is over"
    assert result.model.operands_checked == 2
    free, t = last(CFG, get(3), put(3, 9), get(3), dead=())
    assert next(cycle - t for cycle, _ in free.issues() if cycle > t) == 2, "without a kill it waits for the grant"


def test_a_kill_of_a_register_that_is_nowhere_ends_with_the_answer() -> None:
    result, t = last(CFG, get(9), *REST, dead=((0, 0),))
    assert [cycle for cycle, _ in since(result, "kills", t)] == [1] and not result.when("killed")


@pytest.mark.parametrize("live", [FULL, 0x0000FFFF])
def test_a_kill_of_a_diverged_beat_is_refused(live: int) -> None:
    """Lanes of the upper half wait elsewhere, or have ended."""
    trace = valued([put(3, 7), *REST, (op((3,)), 0x0000FFFF, 0), *REST])
    lives = np.full(trace.records, FULL, dtype=np.uint32)
    lives[FIRST:] = live
    result = run_packed(CFG, dataclasses.replace(killing(CFG, trace, (FIRST, 0)), live=lives))
    refused = live == FULL
    assert result.model.counters["kills_refused"] == refused
    assert result.model.counters["kills_done"] == (not refused)


def test_kill_bits_beyond_the_sources_are_nothing() -> None:
    result, _ = last(CFG, get(3), *REST, dead=((0, 1), (0, 2)))
    counters = result.model.counters
    assert not (counters["kills_done"] or counters["kills_refused"] or counters["kill_wait_cycles"])


def test_an_exit_waits_for_units_that_drain() -> None:
    cfg = make("corf_plus_virtual")
    trace = valued([put(3, 7), put(4, 8), *REST, get(3, 4)])
    beat = 2 + len(REST)
    result = run_packed(cfg, killing(cfg, trace, (beat, 0), (beat, 1)))
    assert result.when("exit")[0] == result.when("killed")[-1] + 1


def test_no_beat_waits_at_a_port_for_a_unit_that_drains() -> None:
    """The younger beat has no sources, and leaves while the older unit drains."""
    cfg = make("corf_plus_virtual", collectors=4)
    writes = [put(register, 7) for register in (3, 4, 5)]
    trace = valued([*writes, *REST, get(3, 4, 5), *[get(port=Port.ALU)] * 6])
    beat = 3 + len(REST)
    result = run_packed(cfg, killing(cfg, trace, *[(beat, slot) for slot in range(3)]))
    drains = result.when("unit_drains")
    assert len(drains) >= 1 and any(result.fields[cycle]["dispatch"] for cycle in drains)
