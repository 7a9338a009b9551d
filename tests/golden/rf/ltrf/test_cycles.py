"""What the page says of places, transfers and results, cycle by cycle (docs/schemes/ltrf.md, sections 4 to 8)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pytest

from tests.golden.rf.ltrf.scenario import banks, load, make, plus, prefetch, run_ltrf, steps, transfers
from tests.golden.scenario import BAR, NOP, Run, Step, hand_trace, op
from warpfile.golden import StaleOperand
from warpfile.spec.schemes.ltrf import BEATS, EMPTY, LATCH, LOAD, MAIN, MOVING, OPEN, RELEASING, STORE, LtrfConfig
from warpfile.spec.trace import Trace

TIMES = pytest.mark.parametrize(("access", "beats"), [(a, b) for a in (1, 3, 19) for b in (1, 2, 4)])
#: A load that nothing holds up, and what gives the place up for it.
MISS = {"cache_lines": 0, "miss_latency": 80}


def phases(result: Run, bank: int, start: int, end: int) -> list[int]:
    """What a channel does, cycle by cycle."""
    return [f["channel_phase"] >> 3 * bank & 7 for f in result.fields[start:end]]


def busy(result: Run, main: int, start: int, end: int) -> list[int]:
    """Cycles behind ``start`` in which a main bank is busy."""
    return [cycle - start for cycle in range(start, end) if result.fields[cycle]["main_busy"] >> main & 1]


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


@TIMES
def test_a_fill_reads_passes_the_crossbar_and_is_stored(access: int, beats: int) -> None:
    result = run_ltrf(make(bank_cycles=access, crossbar_beats=beats), hand_trace([prefetch(5), op((5,))]))
    (g,) = result.when("transfer")
    assert g == result.when("enter")[0] + 4
    last = access + beats + 1
    assert phases(result, 0, g, g + last + 2) == [0, *[MAIN] * access, *[BEATS] * beats, STORE, 0]
    assert busy(result, 1, g, g + last + 2) == [*range(1, access + beats + 1)]
    assert result.events("channel_write") == [(g + last, 1)]
    assert [cycle - g for cycle in result.when("main_beat")] == [*range(access + 1, last)]
    assert opens(result, g) == g + last + 2


@TIMES
def test_a_write_back_reads_passes_the_crossbar_and_is_written(access: int, beats: int) -> None:
    program = [prefetch(5), op((), 5), prefetch(), NOP]
    result = run_ltrf(make(bank_cycles=access, crossbar_beats=beats), hand_trace(program))
    _, g = result.when("transfer")
    end = g + beats + 3 + access
    assert phases(result, 0, g, end + 1) == [0, LOAD, LATCH, *[BEATS] * beats, *[MAIN] * access, 0]
    assert busy(result, 1, g, end + 1) == [*range(1, end - g)]
    assert result.events("channel_read") == [(g + 1, 1)]
    assert [cycle - g for cycle in result.when("main_beat") if cycle > g] == [*range(3, beats + 3)]
    assert opens(result, g) == end + 1


@TIMES
def test_a_parked_result_takes_its_beats_and_leaves_the_bank_busy(access: int, beats: int) -> None:
    program = [prefetch(5), load(5), op((5,))]
    result = run_ltrf(make(bank_cycles=access, crossbar_beats=beats, **MISS), hand_trace(program))
    (p,) = result.when("parked")
    assert result.when("write")[-1] == p + beats and result.when("write_wait") == [*range(p, p + beats)]
    assert busy(result, 1, p, p + beats + access + 2) == [*range(1, beats + access + 1)]
    assert result.when("activate")[1] == p + beats + 1
    assert result.model.operands_checked == 1


def test_a_fill_waits_for_the_main_bank_of_a_parked_result() -> None:
    """Ready in p + X + 1, it would be granted in p + X + 6."""
    result = run_ltrf(make(bank_cycles=19, crossbar_beats=1, **MISS), hand_trace([prefetch(5), load(5), op((5,))]))
    (p,) = result.when("parked")
    assert result.when("unfit") == [*range(p + 7, p + 21)]
    assert result.when("transfer")[-1] == p + 21


def test_accesses_overlap_in_a_pipelined_main_bank() -> None:
    """R1 and R5 are in one bank."""
    program = [prefetch(1, 5), op((1, 5))]
    grants = {}
    for pipelined in (0, 1):
        cfg = make(bank_cycles=19, crossbar_beats=2, main_pipelined=pipelined)
        result = run_ltrf(cfg, hand_trace(program))
        first, second = result.when("transfer")
        grants[pipelined] = second - first
        assert phases(result, 1, second, second + 24) == [0, *[MAIN] * 19, BEATS, BEATS, STORE, 0]
    assert grants == {0: 19 + 2 + 1, 1: 2 + 1}


def test_a_pipelined_bank_belongs_to_a_write_back_until_its_last_beat() -> None:
    cfg = make(bank_cycles=19, crossbar_beats=2, main_pipelined=1, **MISS)
    result = run_ltrf(cfg, hand_trace([prefetch(5), op((), 5), prefetch(), NOP]))
    g = result.when("transfer")[1]
    assert busy(result, 1, g, result.cycles) == [1, 2, 3, 4]
    parked = run_ltrf(cfg, hand_trace([prefetch(5), load(5), op((5,))]))
    (p,) = parked.when("parked")
    assert busy(parked, 1, p, parked.cycles) == [1, 2, 9, 10], "two beats, then the fill that is granted in p + 8"


def test_a_channel_that_loses_eight_reads_goes_first() -> None:
    """Warp 0 reads bank 0 in every cycle, from which R1 of warp 1 has to be written back."""
    cfg = make(active_warps=2, active_choice="round_robin", buffer_depth=4, collectors=8, **MISS)
    late: list[Step] = [prefetch(1, 2), op((), 1), load(2), op((2,))]
    result = run_ltrf(cfg, hand_trace([prefetch(1), *[op((1,))] * 200], late))
    (g,) = result.when("transfer_back")
    assert phases(result, 0, g, g + 11) == [0, *[LOAD] * 9, LATCH]
    grants = [bool(f["grant"]) for f in result.fields[g + 1 : g + 11]]
    assert grants == [*[True] * 8, False, True]
    assert result.events("channel_read") == [(g + 9, 1)]


def test_a_channel_that_loses_eight_writes_goes_first() -> None:
    """Seven warps write bank 0 in turn, into which the last one's R0 has to be filled."""
    eight = {"warps": 8, "active_warps": 8, "active_choice": "round_robin", "collectors": 8}
    cfg = make(**eight, alu_latency=1, buffer_depth=4, bank_cycles=1, result_queue=8)
    writing: list[Step] = [prefetch(0), *[op((), 0)] * 60]
    late: list[Step] = [*[NOP] * 40, prefetch(0), op((0,))]
    result = run_ltrf(cfg, hand_trace(*[writing] * 7, late))
    end = result.when("channel_write")[-1]
    assert phases(result, 0, end - 9, end + 2) == [BEATS, *[STORE] * 9, 0]
    written = [f["cache_write"] for f in result.fields[end - 8 : end + 2]]
    assert all(written[:8]) and not written[8] and written[9]
    assert result.fields[end]["write_wait"] & 1, "the result waits for the channel"


def saved(cfg: LtrfConfig, *program: Step, hints: Sequence[int] = ()) -> Run:
    """One warp that gives its place up in the middle; R1 and R2 are written before."""
    trace = hand_trace([prefetch(1, 2, 3), op((), 1), op((), 2), *program])
    return run_ltrf(cfg, dead_hints(cfg, trace, *hints) if cfg.liveness else trace)


HALF = 0x0000FFFF


def test_a_load_of_all_lanes_needs_no_save_and_one_of_some_lanes_does() -> None:
    full = saved(make(**MISS), load(2), op((2, 1)))
    assert [mask for _, mask in full.events("save_set")] == [0b1010]
    part = saved(make(**MISS), (load(2), HALF), op((2, 1)))
    assert [mask for _, mask in part.events("save_set")] == [0b1110]
    # All lanes of R2 are right behind it: those of the load, and those that were written back.
    assert part.model.operands_checked == full.model.operands_checked == 2
    assert part.when("parked") and full.when("parked")


def test_registers_that_no_result_changed_need_no_save() -> None:
    """R3 was never written."""
    result = saved(make(moved_back="dirty", **MISS), (load(2), HALF), op((2, 1)))
    assert [mask for _, mask in result.events("save_set")] == [0b0110]
    again = saved(make(moved_back="dirty", **MISS), load(2), op((2, 1)), prefetch(), NOP)
    # What comes back is clean: of three registers that leave their banks none is moved.
    assert again.model.counters["unsaved_steps"] == 3 and again.model.counters["prefetch_backs"] == 0


def test_a_result_makes_a_register_dirty_that_came_back_clean() -> None:
    result = saved(make(moved_back="dirty", **MISS), load(2), op((2, 1)), op((), 3), prefetch(), NOP)
    assert [r for _, kind, r, moved in steps(result, 0, result.cycles) if kind == "out" and moved] == [3]
    assert result.model.counters["prefetch_backs"] == 1


def test_dead_registers_are_neither_saved_nor_brought_back() -> None:
    """R1 is read for the last time by the load, R3 was never written."""
    result = saved(plus(**MISS), load(2, (1,)), op((2,)), hints=[3])
    assert result.events("live_set")[0][1] == 0b0100 and not result.events("save_set")
    assert transfers(result, 0, result.cycles) == [(transfers(result, 0, result.cycles)[0][0], "fill", 2)]
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


def test_banks_are_given_back_before_the_next_warp_starts() -> None:
    """Two warps of two CTAs take the place in turn; the first leaves three banks behind."""
    first: list[Step] = [prefetch(1, 2, 3), op((), 1)]
    result = run_ltrf(make(), hand_trace(first, [prefetch(2), op((), 2)], ctas=[0, 1]))
    e = result.when("exit")[0]
    assert result.when("activate")[1] == e + 1
    assert result.when("given_back")[:3] == [e + 1, e + 2, e + 3]
    assert [state(result, e + k) for k in range(1, 6)] == [EMPTY] * 4 + [OPEN]
    assert result.when("start")[1] == e + 4
    # The first left 3 in front; 0, 1 and 2 follow it.
    assert [banks(result, e + k)[0] for k in range(1, 5)] == [[3], [3, 0], [3, 0, 1], [3, 0, 1, 2]]


def test_a_place_whose_banks_are_given_back_starts_when_a_warp_comes() -> None:
    result = run_ltrf(make(), hand_trace([prefetch(1, 2, 3), op((), 1)], [*[NOP] * 9], ctas=[0, 1]))
    e = result.when("exit")[0]
    assert result.when("start")[1] == e + 4


def test_a_warp_exits_behind_its_prefetch() -> None:
    """It has to wait until its interval is there."""
    result = run_ltrf(make(), hand_trace([prefetch(1, 2)]))
    t, e = result.when("enter")[0], result.when("exit")[0]
    assert e == opens(result, t) and result.model.counters["prefetch_fills"] == 2


def test_an_empty_interval_takes_a_step_for_every_register_that_leaves() -> None:
    result = run_ltrf(make(), hand_trace([prefetch(), NOP, prefetch(0, 1, 2, 3), prefetch(), NOP]))
    first, _, third = result.when("enter")
    assert opens(result, first) == first + 3
    assert [k for k, kind, *_ in steps(result, third, result.cycles)] == [2, 3, 4, 5]
    assert banks(result, result.cycles - 1) == ([0, 1, 2, 3], set())


def test_the_same_interval_again_takes_three_cycles() -> None:
    full = prefetch(0, 1, 2, 3)
    result = run_ltrf(make(), hand_trace([full, NOP, full, op((), 3), op((3,))]))
    t = result.when("enter")[1]
    assert opens(result, t) == t + 3 and not steps(result, t, result.cycles)
    assert result.model.counters["kept_registers"] == 4


def test_a_whole_other_interval_takes_all_banks() -> None:
    """Banks come free in the order of the registers that leave, and are taken in that of those that come."""
    result = run_ltrf(make(), hand_trace([prefetch(0, 2, 5, 7), op((), 5), prefetch(1, 3, 4, 6), op((), 6)]))
    t = result.when("enter")[1]
    out, came = [0, 2, 5, 7], [1, 3, 4, 6]
    expected = [(k + 2, "out", r, True) for k, r in enumerate(out)]
    assert steps(result, t, result.cycles) == expected + [(k + 6, "in", r, True) for k, r in enumerate(came)]
    kinds = [kind for _, kind, _ in transfers(result, t, result.cycles)]
    assert kinds == ["back"] * 4 + ["fill"] * 4
    assert banks(result, opens(result, t)) == ([], {0, 1, 2, 3})


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
