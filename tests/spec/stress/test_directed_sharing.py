"""Programs of loads that meet by plan do meet as planned, on the golden model."""

from __future__ import annotations

import pytest

from warpfile import api
from warpfile.spec.stress.directed_sharing import (
    FIRST,
    HELPERS,
    LAST,
    UPPER_BITS,
    WARPS,
    beside_trace,
    brim_trace,
    far_trace,
    pending_trace,
    starved_trace,
    turns_trace,
    twins_trace,
)
from warpfile.spec.trace import Trace

MOST = 63  #: registers that one row can have


def counted(trace: Trace, **fields: int) -> dict[str, int]:
    (run,) = api.simulate("larf", [trace], preset="tiny", **fields).runs
    return run.counters


@pytest.mark.check
def test_every_row_has_the_greatest_count_in_turn() -> None:
    """One load of a helper is too many for the owner's row and makes another entry, which the last one finds."""
    owners, counters = WARPS * (LAST + 1 - FIRST - HELPERS), counted(turns_trace(1))
    assert counters["hits_perfect"] == owners * MOST
    assert counters["lost_hits"] == owners
    assert counters["misses"] == 2 * owners


@pytest.mark.regress
def test_with_more_bits_of_a_count_no_row_is_full() -> None:
    counters = counted(turns_trace(0), count_bits=7)
    assert counters["lost_hits"] == 0
    assert counters["hits_perfect"] == WARPS * HELPERS * counters["misses"]


def test_stores_end_words_that_they_meet_and_no_others() -> None:
    counters = counted(brim_trace(), table_entries=512)  # so many that none is evicted
    stores = WARPS * 5 * 6
    assert counters["table_deletions"] == stores
    assert counters["hits_perfect"] == counters["misses"] == 2 * stores


def test_a_load_does_not_wait_for_ever_for_the_slot() -> None:
    counters = counted(starved_trace())
    assert counters["hits_double"] == counters["fallbacks"] == 8
    assert counted(starved_trace(), merge_wait=63)["fallbacks"] == 0


def test_loads_meet_vectors_that_are_under_way() -> None:
    counters = counted(pending_trace())
    assert counters["misses"] == counters["hits_perfect"] == counters["absorbed_loads_done"] == 2 * 8


def test_no_load_is_compared_whose_upper_half_is_another_one() -> None:
    counters = counted(far_trace())
    assert counters["misses"] == len(UPPER_BITS)
    assert counters["untracked_upper"] == 2 * len(UPPER_BITS)


def test_vectors_beside_each_other_make_a_third_one() -> None:
    counters = counted(beside_trace())
    registers = LAST - FIRST
    assert counters["misses"] == WARPS * registers
    assert counters["hits_double"] == WARPS * (registers - 1)


def test_one_of_two_entries_of_a_vector_is_enough() -> None:
    """Of each turn the two entries, the load on the other side and those before and between them miss."""
    counters = counted(twins_trace())
    turns = [(skipped, gap) for skipped in range(8) for gap in range(1, 8)]
    assert counters["hits_single"] == len(turns)
    assert counters["misses"] == sum(skipped + gap - 1 + 3 for skipped, gap in turns)
    assert counters["lost_hits"] == counters["hits_perfect"] == counters["hits_double"] == 0
