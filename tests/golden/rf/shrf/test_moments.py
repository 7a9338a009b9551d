"""Hazards on entries, ports that meet, places that are lost (docs/schemes/shrf.md, sections 4 and 5)."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tests.golden.machines import Shrf
from tests.golden.rf.shrf.scenario import hint, one_warp, relative, run_shrf, shrf_config
from tests.golden.scenario import BRA, Run, Step, hand_trace, op
from warpfile.golden import StaleOperand
from warpfile.spec.trace import Access, Port, Space

CFG = shrf_config(bank_skew="none", warps=4, active_warps=1, alu_latency=4, sfu_latency=16)
LOAD = op((), 20, port=Port.LSU, space=Space.GLOBAL, access=Access.LOAD, bytes=4)


def issues(result: Run) -> list[int]:
    start = result.issues()[0][0]
    return [cycle - start for cycle, _ in result.issues()]


def test_a_read_waits_until_a_bank_has_brought_its_entry() -> None:
    # Granted in 1, brought in 2: the scoreboard would let the reader issue in 1.
    hints = {0: hint(CFG, {0: 1}, bring=1), 1: hint(CFG, {0: 1})}
    result = one_warp(CFG, [op((8,), 1), op((8,), 2)], hints)
    assert issues(result)[:2] == [0, 3]
    assert relative(result, "entry_hold")[:2] == [(1, 1), (2, 1)]


def test_a_write_does_not_wait_for_the_read_before_it() -> None:
    # R1 comes in 5. The second issues in 6 and reads it in 7; the third issues in 7 and brings into the entry in 9.
    program = [op((), 1), op((1,), 2), op((8,), 3)]
    result = one_warp(CFG, program, {0: hint(CFG, result=1), 1: hint(CFG, {0: 1}), 2: hint(CFG, {0: 1}, bring=1)})
    first, second, third = issues(result)[:3]
    assert (second - first, third - second) == (6, 1)
    assert [cycle for cycle, _ in relative(result, "orf_read")] == [7]
    assert [cycle for cycle, _ in relative(result, "bring")] == [9]


def test_a_write_waits_for_an_earlier_slower_one() -> None:
    program = [op((), 1, port=Port.SFU), op((), 2)]
    slow = one_warp(CFG, program, {0: hint(CFG, result=1), 1: hint(CFG, result=1)})
    free = one_warp(CFG, program, {0: hint(CFG, result=1), 1: hint(CFG, result=2)})
    assert issues(free)[:2] == [0, 1]
    assert issues(slow)[1] == relative(slow, "orf_write")[0][0] + 1 > 16


def test_a_result_waits_for_a_bring() -> None:
    # The result of the first comes in 5; the second is granted in 4 and brings in 5.
    program = [op((), 1), op(), op(), op((8,), 2)]
    result = one_warp(CFG, program, {0: hint(CFG, result=1), 3: hint(CFG, {0: 2}, bring=1)})
    assert relative(result, "bring") == [(5, 2)]
    assert [cycle for cycle, _ in relative(result, "write_wait")] == [5]
    assert [cycle for cycle, _ in relative(result, "orf_write")] == [6]


def test_results_for_one_entry_file_go_by_port_and_keep_their_bank() -> None:
    # SFU (16) and ALU (4) meet: the SFU's port is higher; the ALU's result writes neither entry nor bank.
    program = [op((), 1, port=Port.SFU), *[op() for _ in range(11)], op((), 2)]
    result = one_warp(CFG, program, {0: hint(CFG, result=1), 12: hint(CFG, result=2)})
    ((cycle, port),) = relative(result, "write_wait")
    assert (dict(relative(result, "orf_write"))[cycle], port) == (0b010, 0b001)
    assert dict(relative(result, "bank_write"))[cycle] == 0b010
    assert dict(relative(result, "orf_write"))[cycle + 1] == 0b001


def test_results_for_entry_and_banks_do_not_meet() -> None:
    program = [op((), 1, port=Port.SFU), *[op() for _ in range(11)], op((), 2)]
    result = one_warp(CFG, program, {0: hint(CFG, result=1), 12: hint(CFG, result=4, skipped=True)})
    assert relative(result, "write_wait") == []


def test_one_slot_brings_at_a_time() -> None:
    # Both sources are in different banks; with collect = all they would be granted together.
    result = one_warp(CFG, [op((8, 9), 1)], {0: hint(CFG, {0: 1, 1: 2}, bring=0b11)})
    assert relative(result, "request") == relative(result, "grant") == [(1, 0b01), (2, 0b10)]
    assert relative(result, "bring") == [(2, 0b01), (3, 0b10)]


def test_near_results_complete_at_once_behind_slow_banks() -> None:
    slow = CFG.replace(bank_cycles=3)
    near = one_warp(slow, [op((), 1), op((1,), 2)], {0: hint(CFG, result=1), 1: hint(CFG, {0: 1})})
    far = one_warp(slow, [op((), 1), op((1,), 2)], {})
    assert (issues(near)[1], issues(far)[1]) == (6, 8)


def test_a_warp_leaves_at_a_marked_beat_only() -> None:
    program: list[Step] = [LOAD, op((), 1), op((1,), 2)]
    marked = one_warp(CFG, program, {0: hint(CFG, begins=True), 1: hint(CFG), 2: hint(CFG, begins=True)})
    plain = one_warp(CFG, program, {})
    assert relative(plain, "suspend_long") == []
    # The mark counts whether or not the beat needs the load.
    assert len(relative(marked, "suspend_long")) == 1
    assert issues(marked)[2] > issues(plain)[2] + 300


def test_what_an_entry_held_is_lost_with_its_place() -> None:
    program: list[Step] = [LOAD, op((), 1), op((1,), 2)]
    near = {1: hint(CFG, result=1), 2: hint(CFG, {0: 1}, begins=True)}
    assert one_warp(CFG, program, {**near, 2: hint(CFG, {0: 1})}).model.operands_checked
    with pytest.raises(StaleOperand):
        one_warp(CFG, program, near)


def test_other_lanes_keep_what_an_entry_holds() -> None:
    # Two registers share ORF 0, in different lanes.
    low, high = 0xFFFF, 0xFFFF0000
    before: list[Step] = [op((), 1), op((), 2), (op((), 1), low), (op((), 2), high)]
    hints = {2: hint(CFG, result=1), 3: hint(CFG, result=1), 4: hint(CFG, {0: 1}), 5: hint(CFG, {0: 1})}
    right: list[Step] = [*before, (op((1,), 3), low), (op((2,), 4), high)]
    assert one_warp(CFG, right, hints).model.operands_checked == 2
    with pytest.raises(StaleOperand):
        one_warp(CFG, [*before, (op((1,), 3), low), (op((2,), 4), low)], hints)


def test_a_bring_has_the_lanes_of_its_beat() -> None:
    low, high = 0xFFFF, 0xFFFF0000
    program: list[Step] = [op((), 8), (op((8,), 1), low), (op((8,), 2), low)]
    hints = {1: hint(CFG, {0: 1}, bring=1), 2: hint(CFG, {0: 1})}
    assert one_warp(CFG, program, hints).model.operands_checked == 2
    with pytest.raises(StaleOperand):
        one_warp(CFG, [*program[:2], (op((8,), 2), high)], hints)


def test_a_skipped_main_file_is_out_of_date() -> None:
    with pytest.raises(StaleOperand):
        one_warp(CFG, [op((), 1), op((1,), 2)], {0: hint(CFG, result=1, skipped=True)})


class ForgetsNothing(Shrf):
    """A machine whose entries outlive their warp's stay."""

    def __init__(self, *args: object) -> None:
        super().__init__(*args)  # type: ignore[arg-type]
        self.file._entries.forget = lambda entries: None  # type: ignore[method-assign]


@pytest.mark.plain
def test_the_test_of_lost_places_sees_entries_that_stay() -> None:
    program: list[Step] = [LOAD, op((), 1), op((1,), 2)]
    near = {1: hint(CFG, result=1), 2: hint(CFG, {0: 1}, begins=True)}
    one_warp(CFG, program, near, ForgetsNothing)


@pytest.mark.parametrize(("entries", "starved"), [(3, 0), (0, 2)])
def test_no_place_with_entries_is_starved(entries: int, starved: int) -> None:
    # Behind a branch each warp has no beat for longer than starved_after; the other one waits for the only place.
    changes = {"branch_delay": 30, "starved_after": 3, "orf_entries": entries, "lrf": "split" if entries else "none"}
    cfg, trace = CFG.replace(**changes), hand_trace([op(), BRA, op()], [op(), BRA, op()])  # type: ignore[arg-type]
    words = np.zeros(trace.records, dtype=np.uint64)
    result = run_shrf(cfg, dataclasses.replace(trace, annotation="test", hints=words if entries else trace.hints))
    assert result.model.counters["suspends_starved"] == starved
