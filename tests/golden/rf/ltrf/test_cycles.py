"""What the page says of places, results and errors, cycle by cycle (docs/schemes/ltrf.md, sections 4 to 8)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pytest

from tests.golden.rf.ltrf.scenario import load, make, plus, prefetch, run_ltrf, since, states, steps
from tests.golden.scenario import BAR, NOP, Run, Step, hand_trace, op
from warpfile.golden import StaleOperand
from warpfile.spec.schemes.ltrf import BACK_LOAD, EMPTY, MOVING, OPEN, RELEASING, LtrfConfig
from warpfile.spec.trace import Trace

#: A load that nothing holds up, and what gives the place up for it.
MISS = {"cache_lines": 0, "miss_latency": 80}


def state(result: Run, cycle: int, place: int = 0) -> int:
    """State of a place."""
    return result.fields[cycle]["place_state"] >> 3 * place & 7


def opens(result: Run, start: int, place: int = 0) -> int:
    """The first cycle after ``start`` in which a place is open."""
    return next(cycle for cycle in range(start + 1, result.cycles) if state(result, cycle, place) == OPEN)


def dead_hints(cfg: LtrfConfig, trace: Trace, *beats: int) -> Trace:
    """The trace whose beats of these numbers read their first source for the last time."""
    words = [int(beat in beats) << cfg.hint_at("dead") for beat in range(trace.records)]
    return dataclasses.replace(trace, annotation="test", hints=np.array(words, dtype=np.uint32))


def written_back(result: Run) -> set[int]:
    """Registers that the only place writes back as it is released."""
    released = [cycle for cycle, f in enumerate(result.fields) if f["place_state"] == RELEASING]
    return {r for _, kind, r, moves in steps(result, released[0], released[-1] + 1) if kind == "out" and moves}


@pytest.mark.parametrize("beats", [1, 2, 4])
def test_a_parked_result_is_complete_with_its_last_beat(beats: int) -> None:
    program = [prefetch(5), load(5), op((5,))]
    result = run_ltrf(make(bank_cycles=19, crossbar_beats=beats, **MISS), hand_trace(program))
    (p,) = result.when("parked")
    assert result.when("write")[-1] == p + beats and result.when("write_wait") == [*range(p, p + beats)]
    assert [*since(result, p, "main_busy", beats + 20)] == [*range(beats + 2, beats + 20)]
    assert result.when("activate")[1] == p + beats + 1
    assert result.model.operands_checked == 1


def test_a_channel_that_loses_eight_reads_goes_first() -> None:
    """Warp 0 reads bank 0 in every cycle, from which R1 of warp 1 has to be written back."""
    cfg = make(active_warps=2, active_choice="round_robin", buffer_depth=4, collectors=8, interval_registers=4, **MISS)
    late: list[Step] = [prefetch(1, 2, 3), op((), 3), load(2), op((2,))]
    result = run_ltrf(cfg, hand_trace([prefetch(1), *[op((1,))] * 200], late))
    # R1 of warp 0 is in bank 0; of warp 1, whose order begins with bank 2, R1, R2 and R3 are in 2, 3 and 0.
    picked = next(cycle for cycle, f in enumerate(result.fields) if f["back_pick"] & 1)
    phases = [f["back_phase"] & 3 for f in result.fields[picked : picked + 11]]
    assert phases == [0, *[BACK_LOAD] * 9, BACK_LOAD + 1]
    grants = [bool(f["grant"]) for f in result.fields[picked + 1 : picked + 11]]
    assert grants == [*[True] * 8, False, True]


def test_a_result_waits_for_the_row_of_a_fill() -> None:
    """Seven warps write all banks, into every one of which a register of the last warp is filled at once."""
    eight = {"warps": 8, "active_warps": 8, "active_choice": "round_robin", "collectors": 8}
    cfg = make(**eight, alu_latency=1, buffer_depth=4, bank_cycles=1, result_queue=8)
    writing: list[Step] = [prefetch(*range(4)), *[op((), register) for _ in range(20) for register in range(4)]]
    late: list[Step] = [*[NOP] * 40, prefetch(*range(4)), op((0,))]
    result = run_ltrf(cfg, hand_trace(*[writing] * 7, late))
    end = result.when("channel_write")[-1]
    assert result.fields[end]["channel_write"] == 0b1111
    assert result.fields[end]["write_wait"] & 1 and not result.fields[end]["cache_write"]
    assert result.fields[end + 1]["cache_write"] & 1


def saved(cfg: LtrfConfig, *program: Step, hints: Sequence[int] = ()) -> Run:
    """One warp that gives its place up in the middle; R1 and R2 are written before."""
    trace = hand_trace([prefetch(1, 2, 3), op((), 1), op((), 2), *program])
    return run_ltrf(cfg, dead_hints(cfg, trace, *hints) if cfg.liveness else trace)


HALF = 0x0000FFFF


def test_a_load_of_all_lanes_needs_no_save_and_one_of_some_lanes_does() -> None:
    full = saved(make(**MISS), load(2), op((2, 1)))
    assert written_back(full) == {1, 3}
    part = saved(make(**MISS), (load(2), HALF), op((2, 1)))
    assert written_back(part) == {1, 2, 3}
    # All lanes of R2 are right behind it: those of the load, and those that were written back.
    assert part.model.operands_checked == full.model.operands_checked == 2
    assert part.when("parked") and full.when("parked")


def test_registers_that_no_result_changed_need_no_save() -> None:
    """R3 was never written."""
    result = saved(make(moved_back="dirty", **MISS), (load(2), HALF), op((2, 1)))
    assert written_back(result) == {1, 2}
    again = saved(make(moved_back="dirty", **MISS), load(2), op((2, 1)), prefetch(), NOP)
    # What comes back is clean: of three registers that leave their banks none is moved.
    assert again.model.counters["unsaved_steps"] == 3 and again.model.counters["prefetch_backs"] == 0


def test_a_result_makes_a_register_dirty_that_came_back_clean() -> None:
    result = saved(make(moved_back="dirty", **MISS), load(2), op((2, 1)), op((), 3), prefetch(), NOP)
    t = result.when("enter")[-1]
    assert [r for _, kind, r, moved in steps(result, t, result.cycles) if kind == "out" and moved] == [3]
    assert result.model.counters["prefetch_backs"] == 1


def test_dead_registers_are_neither_saved_nor_brought_back() -> None:
    """R1 is read for the last time by the load, R3 was never written."""
    result = saved(plus(**MISS), load(2, (1,)), op((2,)), hints=[3])
    assert result.events("live_set")[0][1] == 0b0100 and not written_back(result)
    assert [(kind, r) for _, kind, r, moves in steps(result, 0, result.cycles) if moves] == [("in", 2)]
    assert result.model.counters["main_reads"] == 1
    assert result.model.counters["dead_fills"] == 3 + 2


def test_a_dead_hint_counts_only_where_all_live_lanes_read() -> None:
    trace = hand_trace([prefetch(1), op((), 1), (op((1,)), HALF), prefetch(), prefetch(1), op((1,))])
    result = run_ltrf(plus(), dead_hints(plus(), trace, 2))
    assert result.model.counters["prefetch_backs"] == 1 and result.model.operands_checked == 2


def test_a_wrong_dead_hint_loses_the_value() -> None:
    trace = hand_trace([prefetch(1), op((), 1), op((1,)), prefetch(), prefetch(2), op((), 2), prefetch(1), op((1,))])
    run_ltrf(plus(), dead_hints(plus(), trace))
    with pytest.raises(StaleOperand):
        run_ltrf(plus(), dead_hints(plus(), trace, 2))


def test_a_write_of_some_lanes_makes_a_register_live() -> None:
    trace = hand_trace([prefetch(1), (op((), 1), HALF), prefetch(), prefetch(1), op((1,))])
    result = run_ltrf(plus(), dead_hints(plus(), trace))
    assert result.model.counters["prefetch_backs"] == 1


def test_results_wait_while_their_place_is_let_go_and_are_parked_then() -> None:
    """The load returns while write-backs of 19 cycles go on."""
    cfg = make(bank_cycles=19, cache_lines=0, miss_latency=20)
    result = saved(cfg, load(2), op((2, 1)))
    (s,), (p,) = result.when("save"), result.when("parked")
    done = result.when("released_place")[0]
    waits = [cycle for cycle in result.when("write_wait") if s < cycle <= done]
    assert waits and waits[-1] == done and p >= done + 1
    assert not any(result.fields[cycle]["cache_write"] for cycle in range(s, done + 1))


def test_a_result_that_comes_when_its_place_is_asked_for_waits() -> None:
    """Nothing is written to the cache from the cycle on in which the scheduler asks."""
    for latency in range(8, 40):
        result = saved(make(cache_lines=0, miss_latency=latency), load(2), op((2, 1)))
        asked = [cycle for cycle, f in enumerate(result.fields) if f["releasing"]]
        assert not any(result.fields[cycle]["cache_write"] for cycle in asked)
        assert result.model.operands_checked == 2


def test_the_next_warp_starts_at_once() -> None:
    """Two warps of two CTAs take the place in turn; all banks of the first are free when it has ended."""
    first: list[Step] = [prefetch(1, 2, 3), op((), 1)]
    result = run_ltrf(make(), hand_trace(first, [prefetch(2), op((), 2)], ctas=[0, 1]))
    e = result.when("exit")[0]
    assert result.when("activate")[1] == e + 1 and result.when("start")[1] == e + 2
    assert states(result, e, 4) == [OPEN, EMPTY, EMPTY, OPEN]
    assert [f["bank_occupied"] for f in result.fields[e : e + 2]] == [0b0111, 0]


def test_a_warp_exits_behind_its_prefetch() -> None:
    """It has to wait until its interval is there."""
    result = run_ltrf(make(), hand_trace([prefetch(1, 2)]))
    t, e = result.when("enter")[0], result.when("exit")[0]
    assert e == opens(result, t) and result.model.counters["prefetch_fills"] == 2


def test_an_empty_interval_takes_a_step_in_every_part() -> None:
    result = run_ltrf(make(), hand_trace([prefetch(), NOP, prefetch(0, 1, 2, 3), prefetch(), NOP]))
    first, _, third = result.when("enter")
    assert opens(result, first) == first + 3
    assert [(k, kind) for k, kind, *_ in steps(result, third, result.cycles)] == [(2, "out")] * 4
    assert result.fields[-1]["bank_occupied"] == 0


def test_the_same_interval_again_takes_three_cycles() -> None:
    full = prefetch(0, 1, 2, 3)
    result = run_ltrf(make(), hand_trace([full, NOP, full, op((), 3), op((3,))]))
    t = result.when("enter")[1]
    assert opens(result, t) == t + 3 and not steps(result, t, result.cycles)
    assert result.model.counters["kept_registers"] == 4


def test_a_whole_other_interval_takes_all_banks() -> None:
    """All leave in one cycle, and all come in the second one behind it."""
    result = run_ltrf(make(), hand_trace([prefetch(0, 2, 5, 7), op((), 5), prefetch(1, 3, 4, 6), op((), 6)]))
    t = result.when("enter")[1]
    expected = [(2, "out", r, True) for r in (0, 5, 2, 7)]
    assert steps(result, t, result.cycles) == expected + [(4, "in", r, True) for r in (4, 1, 6, 3)]
    assert [*since(result, t, "channel_read")] == [5] and [*since(result, t, "fill_pick")] == [6]
    assert result.fields[opens(result, t)]["bank_occupied"] == 0b1111


def test_a_warp_at_a_barrier_comes_back_to_its_interval() -> None:
    early: list[Step] = [prefetch(1, 2), op((), 1), BAR, op((1,))]
    result = run_ltrf(make(), hand_trace(early, [*[NOP] * 5, BAR]))
    assert result.model.counters["suspends_barrier"] >= 1 and result.model.counters["refetches"] == 1
    assert result.model.counters["refetch_fills"] == 2 and result.model.operands_checked == 1


def test_tables_of_warps_or_of_places_are_the_same() -> None:
    program: list[Step] = [prefetch(1, 2), op((), 1), load(2, (1,)), op((2, 1)), prefetch(3), op((), 3)]
    both = [run_ltrf(make(control_block=one, **MISS), hand_trace(program, program)) for one in ("places", "warps")]
    assert both[0].fields == both[1].fields


@pytest.mark.parametrize(
    "program",
    [[prefetch(1), op((2,))], [prefetch(1), op((), 2)], [prefetch(0, 1, 2, 3, 4), NOP]],
    ids=["source", "result", "bank"],
)
def test_what_is_not_in_the_cache_sets_the_error_flag_for_ever(program: list[Step]) -> None:
    result = run_ltrf(make(), hand_trace([*program, prefetch(), *[NOP] * 9]))
    (first, *_), probe = result.when("error"), "check"
    assert result.when("error") == [*range(first, result.cycles)]
    assert result.model.counters["error_cycles"] == result.cycles - first
    cause = result.fields[first - 1]
    assert cause[probe] or cause["cache_write"] or cause["step_in"]
    assert not run_ltrf(make(), hand_trace([prefetch(1, 2), op((2,)), op((), 1)])).when("error")


def test_of_two_places_that_are_asked_for_the_lowest_is_saved_first() -> None:
    program: list[Step] = [prefetch(1), op((), 1), BAR, op((1,))]
    cfg = make(active_warps=2)
    result = run_ltrf(cfg, hand_trace(program, program, [*[NOP] * 99, BAR]))
    saves = result.events("save")
    assert {mask for _, mask in saves} <= {1, 2} and len(saves) >= 2
    assert all(state(result, c + 1, mask.bit_length() - 1) == RELEASING for c, mask in saves)
    assert MOVING in {state(result, c) for c in range(result.cycles)}
