"""Who leaves a window, and when, with cycles derived by hand (docs/schemes/bow.md, steps 1b and 5b)."""

from __future__ import annotations

import pytest

from tests.golden.collectors.bow.scenario import bow_run, busy, load, machine, run_hinted
from tests.golden.scenario import NOP, hand_trace, op
from warpfile.spec.trace import Port


def test_the_entry_that_was_taken_first_leaves_first() -> None:
    # R2 and R3 fill both entries; beat 0 dispatches in 6, so their pins are gone in 7.
    result = bow_run(machine(window_entries=2, source_slots=2), hand_trace([op((2, 3)), op((4,))]))
    assert result.when("stall_entry") == [3, 4, 5, 6, 7]
    assert result.events("victim") == [(7, 0b01)]
    assert result.issues()[1] == 8


def test_a_hit_does_not_leave_for_a_miss_of_the_same_beat() -> None:
    result = bow_run(machine(window_entries=2, source_slots=2), hand_trace([op((2, 3)), op((4, 2))]))
    assert result.events("victim") == [(7, 0b10)]
    assert (result.issues()[1], result.fields[8]["hit"], result.fields[8]["miss"]) == (8, 0b10, 0b01)


def test_a_beat_may_fill_all_entries() -> None:
    for count in (6, 7):
        sources = tuple(range(2, 2 + count))
        cfg = machine(window_entries=count, source_slots=count, window=2)
        result = bow_run(cfg, hand_trace([op(sources), op((20, *sources[1:]))]))
        assert result.events("miss")[0] == (2, (1 << count) - 1)
        assert result.model.counters["bank_reads"] == count + 1
        assert result.model.counters[f"occupancy_{count}"] > 0


def test_a_victim_is_written_even_if_only_the_window_was_to_have_it() -> None:
    # R4 is stored in 7; beat 1 reads it from 8 and dispatches in 9, so it is unpinned in 10, when it has to leave.
    steps = [op((), 4), op((4,)), op((2,))]
    result = run_hinted(steps, [0b10], window_entries=1, source_slots=1)
    assert result.events("victim") == [(10, 1)]
    assert result.events("victim_transient") == [(10, 1)]
    assert result.when("evicted") == [11]
    assert result.issues()[2] == 12
    assert result.model.counters["discards"] == 0


def test_who_has_to_leave_anyway_leaves_before_others() -> None:
    # Entry 0: R2, used by beat 2. Entry 1: R4, stored in 10 and last used by beat 1, so stale for beat 4, which waits
    # for its token until 13 and needs both.
    steps = [op((2,)), op((), 4), op((2,)), op(port=Port.NONE, token_writes=1), op((6, 8), token_reads=1)]
    result = bow_run(machine(window_entries=2, source_slots=2), hand_trace(steps))
    assert result.events("victim") == [(13, 0b10), (14, 0b01)]
    assert result.when("evicted") == [14]
    assert result.issues()[4] == 15


def test_all_stale_sources_are_sent_away_at_once() -> None:
    # R4 and R5 are stored in 7 and 8. Their reader is beat 3, clear in 9; a window presents one entry at a time.
    result = bow_run(machine(), hand_trace([op((), 4, dest_count=2), NOP, NOP, op((4, 5))]))
    assert result.when("stall_evict") == [9, 10, 11]
    assert result.spans("evicting") == [(10, 10, 0b11), (11, 11, 0b10)]
    assert result.when("evicted") == [10, 11]
    assert result.issues()[3] == 12
    assert not result.when("victim")


def test_evictions_go_by_age_not_by_number() -> None:
    # Entry 0 holds R2 until beat 3 enters in 12, and R6 from 17 on; entry 1 holds R4 from 10 on. R4 expires with beat 5
    # in 19, R6 with beat 7 in 21, while the bank is taken until 22.
    steps = [op((2,)), op((), 4), op((4,)), op((), 6), op((6,)), *[NOP] * 6]
    result = bow_run(machine(), hand_trace(steps), busy(0, 20, 21, 22))
    assert result.spans("evicting") == [(20, 21, 0b10), (22, 23, 0b11), (24, 24, 0b01)]
    assert result.when("evicted") == [23, 24]


def test_windows_take_turns_at_a_bank() -> None:
    # Three warps send away R4 and R5 of one bank, which is taken until 39; a load keeps them from ending.
    warp = [op((), 4, dest_count=2), op((4, 5)), NOP, NOP, NOP, load((), 20)]
    cfg = machine(banks=1, hit_latency=100)
    result = bow_run(cfg, hand_trace(warp, warp, warp), busy(0, *range(12, 40)))
    assert result.fields[39]["evict"] == 0b111
    assert result.events("evicted") == [(40 + turn, 1 << turn % 3) for turn in range(6)]


@pytest.mark.parametrize("ports", ["1RW", "1R1W"])
def test_an_eviction_takes_a_single_ported_bank_from_a_read(ports: str) -> None:
    # Both results come in 7, R7 first. Beat 3 enters in 8, when it has R7: in this very cycle R4 is stored, but its
    # place in the window is the one that beat 3 takes. In 9 one wants to write R4 and one to read R2.
    steps = [op((), 4), op((), 7, port=Port.SFU), NOP, op((7, 2))]
    result = bow_run(machine(bank_ports=ports), hand_trace(steps))
    assert result.events("store")[:2] == [(7, 0b010), (8, 0b001)]
    assert result.issues()[3] == 8
    assert result.events("miss") == [(8, 0b10)]
    assert result.when("evicted") == [9]
    assert result.when("grant") == [10 if ports == "1RW" else 9]
