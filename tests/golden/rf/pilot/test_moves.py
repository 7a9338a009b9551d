"""Registers of warps that are resident when the pilot's map comes: worked examples, and what it is good for."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import pytest

from tests.golden.rf.pilot.scenario import listed, pilot_config, run_pilot
from tests.golden.rf.pilot.test_example import often
from tests.golden.scenario import NOP, Run, hand_trace, op
from warpfile.spec.schemes.pilot import State


def example(**changes: Any) -> Run:
    """The pilot reads R8 and R9 most; another warp stays and reads them for long. The compiler names R4."""
    cfg = pilot_config(ctas=2, pilot_map="always", **changes)
    return run_pilot(cfg, listed(cfg, hand_trace(often(R8=20, R9=10), [op((8, 9), 1)] * 200, ctas=[0, 1]), (4,)))


def lengths(result: Run) -> list[tuple[State, int]]:
    return [(State(state), len(list(group))) for state, group in groupby(f["pilot_state"] for f in result.fields)]


def test_one_old_pair_and_two_new_ones_of_one_warp_move() -> None:
    """The four registers of the sorter are R8, R9, and by number R0 and R1, which are fast anyway."""
    result = example(remap="migrate", epoch_threshold=0)
    behind = [(state, length) for state, length in lengths(result) if state >= State.REMAP and state != State.RUN]
    drained, *others = behind
    assert drained[0] == State.DRAIN and others == [(State.MOVE, 24), (State.REMAP, 4), (State.MOVE, 32)]
    counters = result.model.counters
    assert counters["migrated_pairs"] == 3
    assert counters["migrate_stall"] == drained[1] + 24 + 4 + 32
    assert (counters["moves_fast_high"], counters["moves_fast_low"], counters["moves_slow"]) == (6, 0, 6)


def test_in_low_mode_a_pair_takes_ten_cycles() -> None:
    result = example(remap="migrate", epoch_threshold=50)
    assert [length for state, length in lengths(result) if state == State.MOVE] == [16 + 10, 16 + 20]
    assert result.model.counters["moves_fast_low"] == 6


@pytest.mark.parametrize(("remap", "fast"), [("versioned", False), ("migrate", True), ("instant", True)])
def test_a_resident_warp_profits_if_its_registers_move(remap: str, fast: bool) -> None:
    found = example(remap=remap).model.counters
    reads = found["fast_reads_high"] + found["fast_reads_low"]
    assert (reads > found["slow_reads"]) == fast
    assert found["slow_reads"] > 0


def test_no_warp_issues_while_registers_move() -> None:
    result = example(remap="migrate")
    stands = {State.DRAIN, State.MOVE, State.REMAP}
    assert not [f for f in result.fields if f["issue"] and f["pilot_state"] in stands]
    assert result.model.operands_checked == example(remap="versioned").model.operands_checked


def test_registers_that_move_in_an_instant_cost_nothing() -> None:
    """As many cycles as with two versions, if all accesses take equally long and there are no conflicts."""
    alike = {"slow_cycles": 1, "low_cycles": 1, "banks": 32, "rows": 64}
    assert example(remap="instant", **alike).cycles == example(remap="versioned", **alike).cycles


def test_renaming_in_a_cycle_of_its_own_delays_the_first_request() -> None:
    cfg = pilot_config(profile="none")
    first = {}
    for latency in (0, 1):
        result = run_pilot(cfg.replace(rename_latency=latency), hand_trace([op((8,), 1), NOP]))
        issue, request = (result.when(probe)[0] for probe in ("issue", "request"))
        first[latency] = request - issue
    assert first == {0: 1, 1: 2}
