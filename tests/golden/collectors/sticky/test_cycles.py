"""The worked example of docs/schemes/sticky.md, section 9, and single rules in cycles."""

from __future__ import annotations

from typing import Any

import pytest

from tests.golden.collectors.sticky.scenario import make, run_sticky
from tests.golden.scenario import NOP, Run, Step, hand_trace, op
from warpfile.spec.trace import Access, Port, Space

#: R4 = R0 + R1, R6 = R4 + R1, R1 = R6 + R1, R2 = R1 + R6.
CHAIN: list[Step] = [op((0, 1), 4), op((4, 1), 6), op((6, 1), 1), op((1, 6), 2)]


def single(*program: Step, **changes: Any) -> Run:
    """A run of one warp, with the fields of section 9 unless ``changes`` say otherwise."""
    fields: dict[str, Any] = {"collect": "all", "bank_ports": "1R1W", "alu_latency": 3}
    return run_sticky(make(**fields | changes), hand_trace(list(program)))


def example() -> Run:
    """The run of section 9. Its first issue is in cycle 2."""
    return single(*CHAIN)


def test_a_chain_reads_three_of_its_eight_operands_from_the_banks() -> None:
    result = example()
    assert [cycle for cycle, _ in result.issues()] == [2, 6, 10, 14, 21]
    assert result.events("grant") == [(3, 0b11), (15, 0b1000)]
    assert result.when("marks") == result.when("dispatch") == [5, 9, 13, 17]
    assert result.events("hit") == [(6, 0b10), (10, 0b10)]
    assert result.events("expects") == [(6, 0b01), (10, 0b01), (14, 0b01)]
    assert result.events("forward") == [(8, 0b000001), (12, 0b000001), (16, 0b000100)]
    assert result.events("overwritten") == [(10, 0b000010)]
    assert [one["kept"] for one in result.fields[3:16:3]] == [0b11, 0b11, 0b11, 0b1, 0b1101]
    assert not result.when("late")


def test_the_example_counts_what_it_shows() -> None:
    counters = example().model.counters
    expected = {
        "sources": 8,
        "source_hits": 2,
        "hit_beats": 2,
        "overwrites": 1,
        "source_awaits": 3,
        "source_lates": 0,
        "forwards": 3,
        "await_cycles": 6,
        "bank_reads": 3,
    }
    assert {name: counters[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("changes", "distance", "reads"),
    [
        ({}, 4, 3),
        ({"keep_operands": "none"}, 4, 5),
        ({"forward_results": "none"}, 7, 6),
        ({"forward_results": "none", "keep_operands": "none"}, 7, 8),
    ],
)
def test_forwarding_shortens_the_chain_and_both_save_reads(changes: dict[str, Any], distance: int, reads: int) -> None:
    """From A to B. R1 is read while R4 is computed, so a hit saves no cycle. Without forwarding R4 is read last."""
    result = single(*CHAIN, **changes)
    leaves = result.when("dispatch")
    assert leaves[1] - leaves[0] == distance and result.model.counters["bank_reads"] == reads


LATENCY = {"alu_latency": 5}


def test_a_result_that_comes_with_the_issue_of_its_reader_is_read_from_the_bank() -> None:
    """The producer issues in 2 and its result is accepted in 10, where its reader issues behind seven others."""
    result = single(op((0,), 4), *[NOP] * 7, op((4,), 5), **LATENCY)
    assert result.issues()[8][0] == result.when("write")[0] == 10
    assert result.events("late") == [(10, 0b01)] and not result.when("forward")
    assert result.when("grant")[1] == 11 and result.model.counters["bank_reads"] == 2


def test_two_units_take_one_result() -> None:
    result = single(op((0,), 4), op((4,), 6), op((4,), 8), **LATENCY)
    assert result.events("forward") == [(result.when("write")[0], 0b010100)]


@pytest.mark.parametrize("producer", [op((0,), 4, port=Port.SFU), (op((0,), 4), 0b1)])
def test_a_result_of_the_sfu_or_of_some_lanes_is_waited_for_by_the_scoreboard(producer: Step) -> None:
    result = single(producer, op((4,), 6))
    assert result.when("marks") == [result.when("dispatch")[1]] and not result.when("awaiting")
    assert result.issues()[1][0] == result.when("write")[0] + 1


def test_a_load_is_not_coming() -> None:
    load = op((0,), 4, port=Port.LSU, space=Space.GLOBAL, access=Access.LOAD, bytes=4)
    result = single(load, op((4,), 6))
    assert result.when("marks") == [result.when("dispatch")[1]]


def test_a_source_beyond_the_near_slots_waits_for_the_scoreboard() -> None:
    """R4 is in slot 3 of four; the same reader with R4 in slot 2 awaits it."""
    for sources, awaits in (((0, 1, 2, 4), 0), ((0, 1, 4, 2), 1)):
        result = single(op((0,), 4), op(sources, 6), source_slots=5)
        assert result.model.counters["source_awaits"] == awaits


def test_both_registers_of_a_wide_result_are_awaited_and_come_one_after_the_other() -> None:
    result = single(op((0,), 4, dest_count=2), op((4, 5), 6))
    write = result.when("write")[0]
    assert result.events("forward") == [(write, 0b000100), (write + 1, 0b001000)]


def test_a_hit_needs_its_own_slot() -> None:
    same, other = (single(op((0, 1), 4), *[NOP] * 12, op(sources, 6)) for sources in ((0, 2), (2, 0)))
    assert same.events("hit") == [(same.issues()[13][0], 0b01)] and not other.when("hit")


def test_a_slot_keeps_its_operand_across_a_beat_of_another_warp_without_a_source_there() -> None:
    """One unit. The other warp has one source: slot 1 keeps R1 of the first warp."""
    trace = hand_trace([op((0, 1), 4), *[NOP] * 30, op((2, 1), 6)], [*[NOP] * 4, op((3,), 4)])
    result = run_sticky(make(collect="all", collectors=1, scheduler="lrr"), trace)
    assert [value for _, value in result.events("hit")] == [0b10]


def test_the_unit_that_fits_is_taken_before_the_one_that_waits_longer() -> None:
    pause = [NOP] * 10
    result = single(op((0,), 4), *pause, op((1,), 5), *pause, op((1,), 6), *pause, op((2,), 7))
    assert [value for _, value in result.events("allocate")] == [0b001, 0b010, 0b010, 0b100]


@pytest.mark.parametrize(("write", "hits"), [(op((3,), 1), 0), (op((3,), 2), 1)])
def test_a_write_of_the_register_ends_what_is_kept(write: Step, hits: int) -> None:
    result = single(op((0, 1), 4), *[NOP] * 12, write, *[NOP] * 12, op((5, 1), 6))
    assert result.model.counters["source_hits"] == hits


def test_the_exit_of_a_warp_ends_what_is_kept() -> None:
    result = single(op((0, 1), 4))
    assert result.when("kept")[-1] == result.when("exit")[0] == result.cycles - 1
