"""Which unit takes a beat, and how long an offer waits."""

from __future__ import annotations

import pytest

from tests.golden.collectors.malekeh.scenario import NEAR, hinted, malekeh_config, run_malekeh
from tests.golden.scenario import Run, hand_trace, op
from warpfile.golden.collectors.malekeh.choice import UnitChoice
from warpfile.spec.trace import Port


def test_its_own_unit_whatever_the_others_are_and_the_count_stays() -> None:
    choice = UnitChoice(3)
    choice.waits = 5
    assert choice.choose(own=2, busy=0b001, empty=0b010, near=0b100, threshold=0) == (2, "own")
    assert choice.waits == 5


def test_the_lowest_empty_unit_then_the_lowest_without_near() -> None:
    choice = UnitChoice(4)
    choice.waits = 5
    assert choice.choose(-1, busy=0b0010, empty=0b1110, near=0, threshold=0) == (2, "empty")
    assert choice.waits == 0
    choice.waits = 5
    assert choice.choose(-1, busy=0b0001, empty=0b0001, near=0b0010, threshold=0) == (2, "far")
    assert choice.waits == 0


def test_if_all_are_busy_it_is_refused_and_the_count_stays() -> None:
    choice = UnitChoice(2)
    choice.waits = 3
    assert choice.choose(-1, busy=0b11, empty=0b01, near=0b10, threshold=0) == (-1, "busy")
    assert choice.waits == 3


@pytest.mark.parametrize("threshold", [0, 1, 5, 63])
def test_an_offer_waits_one_cycle_more_than_the_threshold(threshold: int) -> None:
    choice = UnitChoice(2)
    found = [choice.choose(-1, busy=0b01, empty=0, near=0b11, threshold=threshold) for _ in range(threshold + 3)]
    assert found[: threshold + 1] == [(-1, "wait")] * (threshold + 1)
    assert found[threshold + 1] == (1, "near")
    assert found[threshold + 2] == (-1, "wait")  # counted from zero again


def test_the_count_stops_at_127() -> None:
    choice = UnitChoice(1)
    for _ in range(140):
        choice.choose(-1, busy=0, empty=0, near=1, threshold=200)
    assert choice.waits == 127


def test_the_least_recently_dispatched_of_the_free_units_is_taken() -> None:
    choice = UnitChoice(3)
    choice.dispatches(0)
    choice.dispatches(2)  # never 1, then 0, then 2
    for busy, expected in ((0b000, 1), (0b010, 0), (0b011, 2)):
        choice.waits = 1
        assert choice.choose(-1, busy, empty=0, near=0b111, threshold=0) == (expected, "near")


def waiting(threshold: int, hint: int) -> Run:
    """Warp 0 has R2 in the only unit and waits for the SFU; warp 1 wants it from 3 on, and it is free from 6 on."""
    first = [op((2,), 8, port=Port.SFU), op((8,), 9)]
    trace = hand_trace(first, [op((2,), 8)], ctas=[0, 1])
    cfg = malekeh_config(
        **{"warps": 4, "bank_skew": "none", "collectors": 1, "unit_entries": 4, "source_slots": 3, "sfu_latency": 60},
        **{"wait_control": "fixed", "wait_threshold": threshold},
    )
    return run_malekeh(cfg, hinted(trace, [hint, 0, 0, 0, 0]))


@pytest.mark.parametrize("threshold", [0, 1, 7])
def test_a_warp_waits_for_a_unit_with_near_registers(threshold: int) -> None:
    result = waiting(threshold, NEAR)
    assert result.when("refuse_busy")[:3] == [3, 4, 5]
    assert result.when("refuse_wait") == list(range(6, 7 + threshold))
    assert result.when("take_near") == [7 + threshold]
    assert result.fields[7 + threshold]["wait_count"] == threshold + 1
    assert result.fields[8 + threshold]["wait_count"] == 0
    assert result.events("lost")[0] == (7 + threshold, 1)
    assert result.model.counters["near_lost"] == 1


def test_a_unit_without_near_registers_is_taken_at_once() -> None:
    result = waiting(63, 0)
    assert not result.when("refuse_wait")
    assert result.when("take_far")[0] == 6
    assert not result.fields[6]["lost"]
