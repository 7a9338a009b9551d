"""Checks, cache reads and bank reads, cycle by cycle (docs/schemes/rfc.md, steps 2, 4, 5 and 6)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.golden.rf.rfc.scenario import hint, lines, one_warp, queued, rfc_config
from tests.golden.scenario import NOP, Run, Step, op
from warpfile.spec.trace import Port

CFG = rfc_config(warps=4, active_warps=2, cache_entries=4, alu_latency=4, banks=4, collectors=4)


def go(*program: Step, hints: dict[int, int] | None = None, **changes: Any) -> Run:
    return one_warp(CFG.replace(**changes), program, hints)


def test_a_hit_takes_two_cycles_and_a_miss_three() -> None:
    # Issued in 2, without sources dispatched in 3, result in 7, which a beat that issues in 8 finds when it is checked.
    result = go(op((), 4), op((4,), 5))
    assert result.when("cache_write") == [7, 15]
    assert [cycle for cycle, _ in result.issues()] == [2, 8, 16]
    assert result.events("check") == [(9, 1)]
    assert result.events("hit") == [(9, 0b001)]
    assert result.events("near_read") == [(10, 1)]
    assert result.when("dispatch") == [3, 11]
    result = go(op((2,), 4))
    assert (result.when("check"), result.events("miss")) == ([3], [(3, 0b001)])
    assert result.when("request") == result.when("grant") == [4]
    assert result.when("dispatch") == [6]


def test_hits_and_misses_of_one_beat() -> None:
    result = go(op((), 4), op((2, 4), 5))
    assert (result.events("hit"), result.events("miss")) == ([(9, 0b010)], [(9, 0b001)])
    assert (result.when("near_read"), result.when("grant")) == ([10], [10])
    assert result.when("dispatch")[1] == 12


def test_one_unit_is_checked_per_cycle_in_order_of_allocation() -> None:
    result = go(op((2,), 4), op((3,), 5), op((), 6), op((1,), 7))
    assert [cycle for cycle, _ in result.issues()][:4] == [2, 3, 4, 5]
    # The third has no sources: its unit is not checked and dispatches in the next cycle.
    assert [cycle for cycle, _ in result.events("check")] == [3, 4, 6]


def test_pins_are_seen_from_check_to_read() -> None:
    result = go(op((), 4), op((4,), 5))
    assert result.events("pinned") == [(10, 0b0001)]
    assert lines(CFG, result.fields[10])[0] == 4


def test_a_register_evicted_in_the_cycle_of_its_check_is_a_miss_that_waits_for_its_queue() -> None:
    # R4 is written in 7 and its reader checked in 9; R5 comes in 9 and takes the only line.
    result = go(op((), 4), NOP, op((), 5), op((4,), 6), cache_entries=1)
    assert result.when("evict")[0] == result.when("check")[0] == 9
    assert result.events("miss") == [(9, 1)]
    assert [f["queued"] != 0 for f in result.fields[9:12]] == [False, True, False]
    assert result.when("bank_write")[0] == 10
    assert result.events("interlock") == [(10, 1)]
    assert not result.fields[10]["request"]
    assert result.when("grant") == [11]
    assert result.model.counters["interlocks"] == 1


def test_a_pinned_line_is_no_victim() -> None:
    # One cycle later: R4 is pinned when R5 comes.
    result = go(op((), 4), NOP, NOP, op((), 5), op((4,), 6), cache_entries=1)
    assert result.when("check") == [9]
    assert result.when("bypass_full") == [10]
    assert result.events("hit") == [(9, 1)]
    # Two cycles later the pin is gone again.
    result = go(op((), 4), NOP, NOP, NOP, op((), 5), op((4,), 6), cache_entries=1)
    assert (result.when("near_read"), result.when("evict")[0]) == ([10], 11)


@pytest.mark.parametrize(("collect", "asks"), [("lowest", [0b001, 0b100]), ("all", [0b101])])
def test_misses_ask_as_in_the_baseline(collect: str, asks: list[int]) -> None:
    result = go(op((), 4), op((1, 4, 2), 5), collect=collect)
    assert result.events("hit") == [(9, 0b010)]
    assert [slots for _, slots in result.events("request")] == asks


def test_the_lowest_slot_waits_for_its_queue_and_the_others_for_it() -> None:
    program = [op((), 4), NOP, op((), 5), op((4, 2), 6)]
    result = go(*program, cache_entries=1, collect="lowest")
    assert (result.events("interlock"), result.events("request")) == ([(10, 0b01)], [(11, 0b01), (12, 0b10)])
    result = go(*program, cache_entries=1, collect="all")
    assert (result.events("interlock"), result.events("request")) == ([(10, 0b01)], [(10, 0b10), (11, 0b01)])


def test_queued_writes_take_a_single_port_before_reads() -> None:
    # R8 is queued in 8; both its write and the read of R2 want the bank in 9, where there is but one.
    program = [op((), 8), NOP, NOP, NOP, op((2,), 3)]
    hints = {0: hint(no_allocate=True)}
    changes = {"allocation": "hinted", "banks": 1}
    for ports, granted in (("1RW", 9), ("1R1W", 8)):
        result = go(*program, hints=hints, bank_ports=ports, **changes)
        assert result.when("bypass_hint") == [7]
        assert result.when("bank_write")[0] == 8
        assert result.when("request")[0] == 8
        assert result.when("grant") == [granted]


def test_a_write_waits_in_its_queue_while_the_bank_is_busy() -> None:
    program = [op((), 8), op((), 9), *[NOP] * 10]
    hints = {0: hint(no_allocate=True), 1: hint(no_allocate=True)}
    result = go(*program, hints=hints, allocation="hinted", banks=1, bank_cycles=3)
    assert result.when("bypass_hint") == [7, 8]
    assert result.when("bank_write") == [8, 11]
    counts = [queued(CFG.replace(banks=1), f)[0] for f in result.fields]  # type: ignore[arg-type]
    assert counts[7:12] == [0, 1, 1, 1, 1]


def test_without_lines_the_check_is_all_that_is_left() -> None:
    result = go(op((), 4), op((4,), 5), cache_entries=0)
    assert result.when("bypass_full") == [7, 16]
    assert [cycle for cycle, _ in result.issues()] == [2, 8, 17]
    # Queued in 7 and written in 8, so that the reader checked in 9 asks at once.
    assert (result.when("bank_write")[0], result.when("grant"), result.when("dispatch")) == (8, [10], [3, 12])


def test_an_unread_source_blocks_its_writer() -> None:
    reader, writer = op((4, 2), 5, port=Port.SFU), op((), 4)
    result = go(op((), 4), reader, writer)
    issues = [cycle for cycle, _ in result.issues()]
    assert result.when("near_read") == [10]
    # Issued in 8, read in 10: R4 may be written from 11 on.
    assert issues[1:3] == [8, 11]


def test_a_register_named_three_times_is_one_source() -> None:
    result = go(op((), 4), op((4, 4, 4), 4))
    assert (result.model.counters["cache_hits"], result.model.counters["cache_write_hits"]) == (1, 1)
