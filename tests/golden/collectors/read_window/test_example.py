"""The worked example of docs/schemes/modern.md, section 13, cycle by cycle."""

from __future__ import annotations

from functools import cache

from tests.compiler.passes.modern.coded import EXAMPLE
from tests.golden.collectors.read_window.scenario import WindowRun, configured, run_lines
from warpfile.golden.arbiter import indices
from warpfile.spec.schemes.modern import ENTRIES


@cache
def example() -> WindowRun:
    return run_lines(configured(variable_delay=5, latency=8), EXAMPLE)


def test_beats_issue_when_their_codes_say() -> None:
    assert example().at[:7] == [0, 1, 2, 7, 12, 18, 27]


def test_control_and_allocate_hold_a_beat_while_the_one_before_does_not_fit() -> None:
    run = example()
    assert [cycle for cycle, _ in run.events("control")] == [1, 2, 3, 4, 8, 13, 19, 28]
    assert [cycle for cycle, _ in run.events("allocating")] == [2, 3, 4, 5, 9, 20, 29]
    assert run.events("freeze") == [(3, 1)]


def test_reads_are_planned_for_the_cycles_of_the_table() -> None:
    reserved = dict(example().events("reserved"))
    served = {cycle: (word & 3, word >> 6 & 3) for cycle, word in reserved.items() if word & 0b11000011}
    bank_0 = [cycle for cycle, (zero, _) in served.items() if zero]
    bank_1 = [cycle for cycle, (_, one) in served.items() if one]
    assert bank_0 == [3, 4, 5, 6, 7, 8, 21, 22, 23, 30, 31]
    assert bank_1 == [5, 6, 10, 11, 30]
    assert example().events("fetch") == [(17, 0b11)]


def test_beats_are_dispatched_and_results_accepted_when_the_table_says() -> None:
    run = example()
    assert run.events("dispatch") == [(6, 1), (8, 1), (9, 1), (13, 1), (18, 4), (24, 1), (33, 1)]
    assert run.events("write") == [(9, 1), (11, 1), (12, 1), (16, 1), (26, 4), (27, 1), (36, 1)]


def test_the_kept_operand_is_found_once() -> None:
    run = example()
    assert run.events("kept") == [(4, 0b001)] and run.events("hit") == [(5, 0b001)]
    assert run.events("entries") == [(5, 0b000001)]
    cfg = run.cfg
    assert cfg is not None
    fields = run.fields[run.issues()[0][0] + 5]
    assert fields["tags"] == 16 << cfg.warp_bits and fields["timers"] == 3
    assert run.events("from_cache") == [(9, 0b001)]
    assert run.events("forward") == [(13, 0b001)]


def test_stall_stands_still_in_the_freeze() -> None:
    assert [cycle for cycle, _ in example().events("stalled")] == [3, 4, 5, 6, 8, 9, 10, 11, 13]


def test_dependence_counters_are_seen_when_the_text_says() -> None:
    counting = dict(example().events("counting"))
    assert [cycle for cycle, word in counting.items() if word & 1] == list(range(14, 27))
    assert [cycle for cycle, word in counting.items() if word & 2] == list(range(14, 18))
    assert [cycle for cycle, _ in example().events("awaits")] == [14, 15, 16, 17, *range(19, 27)]


def test_the_sums_are_those_of_the_text() -> None:
    counters = example().model.counters
    names = "freezes fixed_sources rfc_hits fixed_reads duplicates variable_reads rfc_allocations forwards".split()
    assert [counters[name] for name in names] == [1, 17, 1, 16, 0, 2, 1, 1]
    assert counters["beats"] == 8  # with the EXIT
    assert counters["bank_reads"] == 18 and counters["bank_writes"] == 7


def test_the_window_has_a_beat_in_every_stage_once() -> None:
    run = example()
    for stage in range(4):
        assert sum(word >> stage & 1 for _, word in run.events("window")) == 6
    assert all(entry < ENTRIES for _, word in run.events("entries") for entry in indices(word))
