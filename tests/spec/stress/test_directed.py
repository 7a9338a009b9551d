"""Traces that go to one corner by plan do what they say, on golden models."""

from __future__ import annotations

import pytest

from warpfile import api
from warpfile.spec.stress.directed import alike_trace, drain_trace, leaving_trace, levels_trace, save_trace, stray_trace
from warpfile.spec.trace import LANES, Trace


def counted(scheme: str, trace: Trace, **fields: int) -> dict[str, int]:
    (run,) = api.simulate(scheme, [trace], preset="tiny", **fields).runs
    return run.counters


@pytest.mark.parametrize("scheme", ["regmutex", "regmutex_paired"])
@pytest.mark.parametrize("extended", [1, 22, 63])
def test_a_section_is_given_up_behind_every_load(scheme: str, extended: int) -> None:
    """Writes of the last register are behind the base set, and so is every load from there on."""
    counters = counted(scheme, drain_trace(), es_override=extended)
    assert counters["acq_ok"] == counters["rel_ok"] == 64
    assert counters["extended_accesses"] == 64 + extended
    assert counters["base_accesses"] == 2 * 64 - extended
    assert counters["rel_drain_stall"] > extended


def test_a_stray_access_is_the_only_one() -> None:
    trace = stray_trace(43)
    assert trace.registers == 64
    counters = counted("regmutex", trace, es_override=22)
    assert (counters["extended_accesses"], counters["base_accesses"]) == (1, 0)


def test_values_that_are_the_same_in_all_lanes_are_expanded_for_one_lane_and_differ_in_one_bit() -> None:
    """``tiny`` has 4 of the 32 lanes: a bit of another lane leaves the value the same in all."""
    counters = counted("scalar", alike_trace())
    turns = 2 * LANES * 32
    assert counters["expansions"] == turns
    assert counters["scalar_writes"] == turns + turns * (LANES - 4) // LANES
    assert counters["scalar_writes"] + counters["vector_writes"] == 3 * turns


def test_a_load_completes_before_and_after_its_warp_leaves_with_the_line_of_its_register() -> None:
    """Two warps of 20 turns, each with two loads; of these the second one is for a register in the cache."""
    counters = counted("rfc", leaving_trace(most=10))
    assert counters["long_results"] == 2 * 20 * 2
    assert 0 < counters["long_drops"] < 2 * 20
    assert counters["flushes_dead"] > 0


@pytest.mark.parametrize("first", range(4))
def test_every_fourth_row_gets_four_narrow_values_that_grow(first: int) -> None:
    """The old slices of a value that grows are its own row's, until the last of the four."""
    counters = counted("corf", levels_trace(first))
    narrow = 2 * (128 - first)
    assert (counters["size_1"], counters["size_4"]) == (narrow, 256)
    assert counters["allocations"] == 256
    assert counters["resizes"] == narrow
    assert counters["error_cycles"] == 0


def test_of_two_registers_one_is_saved_while_the_other_one_is_loaded() -> None:
    registers = range(4)
    pairs = len(registers) * (len(registers) - 1)
    counters = counted("ltrf_plus", save_trace(registers))
    assert counters["suspends_long"] == counters["release_backs"] == 2 * pairs
    assert counters["parked_results"] == 2 * pairs
