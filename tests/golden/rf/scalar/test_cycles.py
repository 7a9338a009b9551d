"""The worked example of docs/schemes/scalar.md, section 12, and single rules in cycles."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.golden.rf.scalar.scenario import LANE, Words, make, run_scalar, two_expansions, valued
from tests.golden.scenario import NOP, Run, Step, hand_trace, op
from warpfile.golden.rf.scalar.file import ScalarFile
from warpfile.spec.trace import Port

#: R0 is scalar, R2 is not; both are in bank 0. R0 is then written in two lanes, and read.
PROGRAM: list[Step] = [op((), 0), op((), 2), op((0, 2), 1), (op((), 0), 0b11), op((0,), 3)]
RESULTS: list[Words] = [7, LANE, LANE + np.uint32(7), 9, np.where(LANE < 2, 9, 7)]


def example() -> Run:
    """The run of section 12."""
    return run_scalar(make(collect="all"), valued(hand_trace(PROGRAM), RESULTS))


def test_two_sources_of_a_bank_in_one_cycle_and_a_partial_write_behind_them() -> None:
    result = example()
    assert result.when("launch") == [0] and [cycle for cycle, _ in result.issues()] == [2, 3, 7, 9, 18, 24]
    assert result.when("scalar_result") == [5] and result.events("scalar_write") == [(5, 0b001)]
    assert result.events("scalar_read") == [(8, 0b01)]
    assert result.events("vector_read") == [(8, 0b01), (19, 0b01)]
    assert result.events("needs_expansion") == [(cycle, 0b001) for cycle in range(13, 17)]
    assert result.events("expansion") == [(14, 1), (15, 2), (16, 3)]
    assert result.when("expansion_read") == [14] and result.when("expansion_write") == [16]
    assert result.events("vector_write") == [(cycle, 0b001) for cycle in (6, 12, 17, 23)]
    assert result.events("scalar_registers") == [(cycle, 1) for cycle in range(6, 17)]
    assert result.cycles == 25 and result.when("exit") == [24]


def test_the_example_counts_what_it_shows() -> None:
    counters = example().model.counters
    expected = {
        "scalar_reads": 1,
        "vector_reads": 2,
        "scalar_writes": 1,
        "vector_writes": 4,
        "expansions": 1,
        "expansion_wait_cycles": 4,
        "scalar_register_cycles": 11,
        "bank_reads": 3,
        "bank_writes": 5,
        "write_waits": 4,
    }
    assert {name: counters[name] for name in expected} == expected


def single(program: list[Step], results: list[Words], **changes: Any) -> Run:
    """A run of one warp, with every source slot on its own."""
    return run_scalar(make(collect="all", **changes), valued(hand_trace(program), results))


SFU_THEN_ALU: list[Step] = [op((), 0, port=Port.SFU), NOP, NOP, op((), 2)]  # both results are shown in 8, for bank 0


def test_a_scalar_result_and_another_one_of_the_same_bank_are_accepted_in_one_cycle() -> None:
    mixed, vectors = single(SFU_THEN_ALU, [LANE, 7]), single(SFU_THEN_ALU, [LANE, LANE])
    assert mixed.events("write") == [(8, 0b011)] and not mixed.when("write_wait")
    assert mixed.events("vector_write") == [(8, 0b010)] and mixed.events("scalar_write") == [(8, 0b001)]
    assert vectors.events("write") == [(8, 0b010), (9, 0b001)] and vectors.events("write_wait") == [(8, 0b001)]


def test_two_scalar_results_of_a_scalar_bank_are_accepted_by_the_rank_of_their_ports() -> None:
    result = single(SFU_THEN_ALU, [7, 9])
    assert result.events("scalar_result") == [(8, 0b011), (9, 0b001)]
    assert result.events("scalar_write") == [(8, 0b010), (9, 0b001)]


def test_results_are_expanded_one_at_a_time_the_highest_port_first() -> None:
    result = run_scalar(make(), two_expansions())
    assert result.events("needs_expansion") == [
        *((cycle, 0b011) for cycle in range(12, 16)),
        *((cycle, 0b001) for cycle in range(16, 20)),
    ]
    assert result.events("expansion") == [(13, 1), (14, 2), (15, 3), (17, 1), (18, 2), (19, 3)]
    assert result.events("vector_write") == [(16, 0b010), (20, 0b001)]


def test_an_expansion_waits_for_its_word_and_the_result_for_the_bank() -> None:
    """Read in 11, the word in 13, write in 14, which keeps a bank of two cycles through 15 unless it is pipelined."""
    program: list[Step] = [op((), 0), (op((), 0), 0b11)]
    for occupancy, accepted in (("length", 16), ("one", 15)):
        result = single(program, [7, 9], bank_cycles=2, bank_occupancy=occupancy)
        assert result.when("needs_expansion") == [*range(10, 15)]
        assert result.events("expansion") == [(11, 1), (12, 2), (13, 2), (14, 3)]
        assert result.when("expansion_read") == [11] and result.when("expansion_write") == [14]
        assert result.when("vector_write") == [accepted]


def test_the_same_word_in_some_lanes_expands_nevertheless() -> None:
    assert single([op((), 0), (op((), 0), 0b11)], [7, 7]).model.counters["expansions"] == 1


def test_a_result_of_all_lanes_makes_a_register_vector_or_scalar_without_expansion() -> None:
    result = single([op((), 0), op((), 0), op((), 0)], [7, LANE, 8])
    assert result.when("scalar_write") == [5, 13] and result.when("vector_write") == [9]
    assert result.when("scalar_registers") == [*range(6, 10), 14]
    assert not result.when("expansion")


def test_a_launch_makes_no_register_scalar_and_what_was_never_written_is_read_from_the_bank() -> None:
    trace = valued(hand_trace([op((), 0)], [op((0,), 1)], ctas=[0, 1]), [7, LANE])
    result = run_scalar(make(collect="all", warps=1, ctas=1), trace)
    first, second = result.when("launch")
    assert result.when("scalar_registers") == [*range(6, second + 1)] and first == 0
    assert not result.when("scalar_read") and len(result.when("vector_read")) == 1


def test_a_result_of_all_live_lanes_is_scalar_whatever_the_lanes_hold_that_have_exited() -> None:
    trace = hand_trace([op((), 0), op((), 0), op((0,), 1)])
    masks = np.array([0xFFFFFFFF, 0b11, 0b11, 0b11], dtype=np.uint32)
    trace = valued(replace(trace, live=masks, active=masks, execute=masks), [LANE, 7, 7])
    result = run_scalar(make(collect="all"), trace)
    assert result.when("vector_write") == [5] and result.when("scalar_write")[0] == 9
    assert result.model.counters["scalar_reads"] == 1 and not result.model.counters["expansions"]


def test_with_one_built_lane_every_result_of_all_lanes_is_scalar() -> None:
    assert not single([op((), 0)], [LANE]).when("scalar_result")
    assert single([op((), 0)], [LANE], lanes=1).when("scalar_result") == [5]


def test_each_register_of_a_wide_result_is_of_its_own_kind() -> None:
    result = single([op((), 0, dest_count=2), op((0, 1), 2)], [7, LANE, LANE])
    assert result.when("scalar_write")[:1] == [5] and result.when("vector_write")[:1] == [6]
    assert result.model.counters["scalar_reads"] == result.model.counters["vector_reads"] == 1


def test_no_scalar_register_holds_a_warp_back() -> None:
    file = example().model.file
    assert isinstance(file, ScalarFile)
    assert not (file.hold or file.refuses or file.yields)
    with pytest.raises(AssertionError, match="refuses nothing"):
        file.refused(0)
