"""Operand windows in tiny programs, with cycles and counts derived by hand."""

from __future__ import annotations

from typing import Any

import pytest

from tests.golden.collectors.bow.scenario import bow_run, busy, hinted, load, machine, run_hinted
from tests.golden.scenario import BRA, EXIT, NOP, Step, hand_trace, op
from warpfile.spec.trace import Port, StaticInstruction

#: The worked example of the paper (figure 3.6): instruction and write class for a window of three beats.
LISTING: list[tuple[StaticInstruction, int]] = [
    (load((8,), 3), 0b01),
    (op((), 2), 0b10),
    (op((0, 2), 1), 0b10),
    (op((0, 2, 1), 1), 0b10),
    (op((1,), 1), 0b10),
    (op((0, 2, 1), 0), 0b10),
    (op((0,), 0), 0b10),
    (op((9, 0), 0), 0b10),
    (op((0,), 1), 0b11),
    (load((1,), 2), 0b10),
    (op((2,), token_writes=1), 0),
    (op((2,), token_writes=2), 0),
    (op((3, 1), token_writes=4), 0),
]


@pytest.mark.parametrize(
    ("mode", "window", "writes", "reads", "forwarded", "stored"),
    [
        ("through", 3, 10, 5, 14, 10),
        ("back", 3, 5, 5, 14, 10),
        ("hints", 3, 2, 5, 14, 9),
        ("through", 2, 10, 7, 12, 10),
        ("back", 2, 5, 7, 12, 10),
        ("hints", 2, 3, 7, 12, 9),
    ],
)
def test_the_worked_example_has_the_counts_of_the_paper(
    mode: str, window: int, writes: int, reads: int, forwarded: int, stored: int
) -> None:
    cfg = machine(window_writes=mode, window=window, window_entries=4 * window)
    trace = hand_trace([static for static, _ in LISTING])
    if mode == "hints":
        classes = [write_class for _, write_class in LISTING]
        classes[1] = 0b10 if window == 3 else 0b11  # R2 is read three beats apart
        trace = hinted(cfg, trace, classes)
    counters = bow_run(cfg, trace).model.counters
    assert counters["bank_writes"] == writes
    assert (counters["bank_reads"], counters["bypassed_reads"]) == (reads, forwarded)
    assert counters["window_writes"] - counters["bank_reads"] == stored
    assert counters["late_results"] == counters["victims"] == 0


def test_a_beat_with_misses_collects_one_per_cycle() -> None:
    result = bow_run(machine(), hand_trace([op((2, 3, 5), 8)]))
    assert result.events("miss") == [(2, 0b111)]
    assert result.when("request") == result.when("grant") == [3, 4, 5]
    assert result.spans("filling") == [(3, 4, 0b111), (5, 5, 0b110), (6, 6, 0b100)]
    assert result.when("dispatch") == [7]
    assert result.events("accepted") == [(11, 1)]


def test_a_hit_is_forwarded_without_the_bank() -> None:
    result = bow_run(machine(), hand_trace([op((2,), 4), op((4, 2), 6)]))
    # The first beat dispatches in 5, its result is stored in 9, so the second enters in 10 and dispatches in 11.
    assert result.issues()[:2] == [2, 10]
    assert result.events("hit") == [(10, 0b11)]
    assert result.when("dispatch") == [5, 11]
    assert result.when("grant") == [3]


def test_a_hit_on_an_entry_that_waits_for_its_data_shares_them() -> None:
    result = bow_run(machine(), hand_trace([op((2,), 4), op((2,), 6)]))
    # Entered in 2 and 3, R2 granted in 3 and filled in 4: both have it from 5 on, and the older goes first.
    assert (result.events("miss"), result.events("hit")) == ([(2, 1)], [(3, 1)])
    assert result.when("grant") == [3]
    assert result.when("dispatch") == [5, 6]


def test_a_beat_that_enters_in_the_cycle_of_the_data_has_them_next() -> None:
    result = bow_run(machine(), hand_trace([op((2,), 4), NOP, op((2,), 6, port=Port.SFU)]))
    assert result.events("hit") == [(4, 1)]
    assert result.when("dispatch") == [5, 6]


@pytest.mark.parametrize(("nops", "enters", "hit"), [(0, 3, True), (1, 4, True), (2, 6, False), (3, 7, False)])
@pytest.mark.parametrize("mode", ["through", "back"])
def test_a_source_hits_iff_its_distance_is_below_the_window(mode: str, nops: int, enters: int, hit: bool) -> None:
    # Beat 3, whichever it is, waits in 5 for the slot of beat 0, which dispatches in that cycle.
    result = bow_run(machine(window_writes=mode), hand_trace([op((2,), 4), *[NOP] * nops, op((2,), 6)]))
    assert result.events("hit" if hit else "miss")[-1] == (enters, 1)
    assert len(result.when("grant")) == (1 if hit else 2)


def test_reads_keep_an_entry_in_the_window() -> None:
    chain = [op((2,), 4), NOP, op((2,), 6), NOP, op((2,), 4), NOP, op((2,), 6)]
    assert bow_run(machine(), hand_trace(chain)).model.counters["bank_reads"] == 1
    cut = [op((2,), 4), NOP, NOP, op((2,), 6)]
    assert bow_run(machine(), hand_trace(cut)).model.counters["bank_reads"] == 2


def test_the_oldest_beat_keeps_its_slot_until_it_dispatches() -> None:
    result = bow_run(machine(), hand_trace([op((2,), 4), NOP, NOP, NOP]))
    assert result.issues()[:4] == [2, 3, 4, 6]
    assert result.when("stall_slot") == [5]


def test_a_writer_waits_until_the_reader_has_dispatched() -> None:
    # R4 is granted in 4 and the reader dispatches in 7, its operands only then leave their entries.
    result = bow_run(machine(), hand_trace([op((2, 4, 6), 8), op((), 4)]))
    assert result.when("blocked") == [3, 4, 5, 6, 7]
    assert result.issues()[:2] == [2, 8]


def test_beats_of_one_port_stay_in_order_and_others_overtake() -> None:
    result = bow_run(machine(), hand_trace([op((2, 4, 6), 8), op((), 10), op((), 12, port=Port.SFU)]))
    # The first needs three reads and dispatches in 7, the second waits for it, the third leaves in 5.
    assert result.events("dispatch") == [(5, 0b010), (7, 0b001), (8, 0b001)]


def test_a_dirty_source_at_the_edge_of_the_window_is_written_then_read() -> None:
    # R4 is stored in 7 and seen in 8; the reader is beat 3 and could enter in 5 but for R4. In 8 its entry is stale
    # and owed: it is on its way from 9, written in 9 and free in 10, when the reader enters as a miss.
    result = bow_run(machine(), hand_trace([op((), 4), NOP, NOP, op((4,), 6)]))
    assert result.events("store")[0] == (7, 1)
    assert result.when("stall_evict") == [8, 9]
    assert (result.when("evict")[0], result.when("evicted")[0]) == (9, 9)
    assert result.issues()[3] == 10
    assert result.events("miss") == [(10, 1)]


def test_a_warp_that_ends_forgets_what_it_owes() -> None:
    result = bow_run(machine(), hand_trace([op((), 4), op((), 6)]))
    assert result.model.counters["bank_writes"] == 0
    assert result.fields[-1]["exit"]
    assert result.spans("dirty")[-1] == (9, 9, 0b11)
    assert not result.model.collectors.windows[0].entries.where


@pytest.mark.parametrize("step", [NOP, BRA, EXIT])
def test_a_beat_without_operands_takes_a_place_in_the_window(step: StaticInstruction) -> None:
    masked: list[Step] = [op((2,), 4), NOP, (step, 1), op((2,), 6)]
    assert bow_run(machine(), hand_trace(masked)).model.counters["bank_reads"] == 2


def test_a_beat_that_does_not_execute_reads_and_writes_nothing() -> None:
    result = bow_run(machine(), hand_trace([(op((2,), 4), 0), op((), 6)]))
    counters = result.model.counters
    assert (counters["sources_0"], counters["bank_reads"], counters["results"]) == (3, 0, 1)


def test_a_branch_waits_with_what_it_left_in_the_window() -> None:
    # The branch is beat 2 and takes four cycles; beat 3 finds R4 stale and owed, and sends it away as it enters.
    result = bow_run(machine(branch_delay=20), hand_trace([op((), 4), NOP, BRA, NOP, NOP]))
    fetched = result.issues()[3]
    assert fetched >= 4 + 20
    assert result.spans("dirty") == [(8, fetched, 1)]
    assert result.when("evicted") == [fetched + 1]


def test_barriers_freeze_a_window() -> None:
    slow = [load((20,), 5), *[op((5,), 5, port=Port.SFU)] * 40]
    bar = op(port=Port.NONE, kind=2)
    cfg = machine(sfu_latency=30)
    result = bow_run(cfg, hand_trace([op((), 4), bar, op((4,), 6)], [*slow, bar]))
    waits = [f for f in result.fields if f["waiting"] & 1]
    assert len(waits) > 1000
    assert {f["dirty"] & 0xFFF for f in waits[8:]} == {1}
    assert result.model.counters["bypassed_reads"] >= 41


def test_half_of_a_wide_result_is_used_and_the_other_half_leaves() -> None:
    wide = op((), 4, dest_count=2)
    steps: list[Any] = [wide, op((5,), 8), NOP, op((5,), 8), NOP]
    result = run_hinted(steps, [0b10])
    # R4 and R5 are stored in 7 and 8. R5 is read in 9 (beat 1) and 12 (beat 3), which is the one that finds R4 stale.
    assert [value for _, value in result.events("store")][:2] == [1, 1]
    assert result.model.counters["bypassed_reads"] == 2
    assert result.when("discard") == [result.issues()[3]]


def test_results_of_one_warp_come_one_per_cycle_highest_port_first() -> None:
    steps = [op((), 4, port=Port.SFU), op((), 6)]  # dispatched in 3 and 4
    cfg = machine(sfu_latency=5, window_writes="through")
    result = bow_run(cfg, hand_trace(steps))
    assert result.events("accepted") == [(8, 0b010), (9, 0b001)]
    assert result.events("write_wait") == [(8, 0b001)]


def test_results_of_two_warps_are_stored_in_one_cycle() -> None:
    cfg = machine(sfu_latency=4)
    result = bow_run(cfg, hand_trace([op((), 4), NOP], [op((), 6, port=Port.SFU), NOP]))
    both = [value for _, value in result.events("store")]
    assert sum(value.bit_count() for value in both) == 2
    assert not result.when("write_wait")


@pytest.mark.parametrize(("mode", "evicted", "enters"), [("back", [9], 10), ("through", [], 9)])
def test_a_result_that_takes_the_last_entry_refuses_the_offered_beat(
    mode: str, evicted: list[int], enters: int
) -> None:
    # The token is back in 7, so the reader is clear in 8, where R4 takes the only entry. R4 leaves at once: owed, it is
    # on its way in 9 and gone in 10; written through, gone in 9.
    steps = [op(port=Port.NONE, token_writes=1), op((), 4), op((2,), 6, token_reads=1)]
    cfg = machine(window_entries=1, source_slots=1, uniform_latency=5, window_writes=mode)
    result = bow_run(cfg, hand_trace(steps))
    assert result.events("store")[0] == (8, 1)
    assert result.when("refused") == result.when("victim") == [8]
    assert result.when("evicted")[: len(evicted)] == evicted
    assert result.when("stall_entry") == evicted
    assert result.issues()[:3] == [2, 3, enters]


def test_a_busy_bank_holds_a_result_that_is_written_through() -> None:
    cfg = machine(window_writes="through")
    result = bow_run(cfg, hand_trace([op((), 4)]), busy(0, 7, 8))
    assert result.when("write_wait") == [7, 8]
    assert result.events("store") == result.events("bank_write") == [(9, 1)]


def test_a_busy_bank_does_not_hold_a_result_that_stays_in_the_window() -> None:
    result = bow_run(machine(), hand_trace([op((), 4)]), busy(0, 7, 8))
    assert result.events("store") == [(7, 1)]
