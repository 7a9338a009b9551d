"""Corner cases of docs/schemes/modern.md, section 15; every run also compares all operands with the trace."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.compiler.passes.modern.coded import coded_trace
from tests.golden.collectors.read_window.scenario import WindowRun, configured, run_lines, run_trace, unknown
from warpfile.golden import StaleOperand
from warpfile.golden.collectors.read_window.history import Forwarded, forwarded
from warpfile.golden.collectors.read_window.queues import Queues
from warpfile.golden.copies import POISON, row_in_lanes
from warpfile.spec.trace import NO_ROW, Trace

CFG = configured(latency=8, variable_delay=5)
THREE_EVEN = ("FFMA R21, R2, R4, R6", "FFMA R23, R8, R10, R12")


def hits(run: WindowRun) -> list[int]:
    """Positions that are found, beat by beat."""
    return [f["hit"] for f in run.fields if f["sources"]]


def test_one_register_at_three_positions_is_read_once_unless_all_are_found() -> None:
    run = run_lines(CFG, ["FFMA R20, R2.reuse, R3, R4", "FFMA R21, R2.reuse, R2, R2", "FADD R22, R2, R5"])
    assert hits(run) == [0, 0b001, 0b001]
    counters = run.model.counters
    assert [counters[name] for name in ("fixed_sources", "rfc_hits", "duplicates", "fixed_reads")] == [8, 2, 1, 5]


def test_a_mark_on_a_source_that_is_the_destination_keeps_the_old_value_for_a_while_only() -> None:
    run = run_lines(CFG, ["FADD R2, R2.reuse, R3 | S15", "FADD R4, R2, R5"])
    assert hits(run) == [0, 0] and run.model.counters["rfc_kills"] == 1


@pytest.mark.parametrize("stall", range(4, 10))
def test_an_operand_that_comes_from_the_history_is_kept_as_it_comes(stall: int) -> None:
    run = run_lines(CFG, [f"FADD R2, R6, R7 | S{stall}", "FADD R4, R2.reuse, R5", "FADD R8, R2, R9"])
    assert hits(run) == [0, 0, 1]


def test_an_entry_taken_twice_in_a_row_holds_the_second_operand() -> None:
    lines = ["MOV R2, R30", "MOV R4, R31 | S4", "FADD R20, R2.reuse, R3", "FADD R21, R4.reuse, R5", "FADD R22, R4, R7"]
    assert hits(run_lines(CFG, lines))[2:] == [0, 0, 1]


@pytest.mark.parametrize("stall", range(4, 10))
def test_a_kill_is_seen_by_allocate_in_its_own_cycle(stall: int) -> None:
    run = run_lines(CFG, ["FADD R9, R2.reuse, R3", f"MOV R2, R7 | S{stall}", "FADD R10, R2, R5"])
    killed = run.events("killed")
    assert killed == ([(10, 1)] if stall >= 7 else [])  # before that the last beat has ended the entry
    assert hits(run)[-1] == (stall < 7)


def test_a_result_that_is_held_ends_an_entry_when_it_is_offered() -> None:
    lines = ["FADD R9, R2.reuse, R3", "LDS.U R2, [R6] | W0 S5", "FADD R8, R11, R13", "FADD R10, R2, R5 | wait0"]
    run = run_lines(CFG, lines)
    assert run.events("write_wait") == [(15, 0b100)] and run.events("killed") == [(15, 1)]


def test_an_exit_ends_the_entries_of_its_warp() -> None:
    run = run_lines(CFG, ["FADD R9, R2.reuse, R3"])
    exit_at = next(cycle for cycle, _ in run.events("exit"))
    assert [cycle for cycle, _ in run.events("entries")] == list(range(3, exit_at + 1))


def test_two_warps_take_an_entry_from_each_other() -> None:
    cfg = configured(latency=8, domains=1)
    lines = ["FADD R9, R2.reuse, R3 | Y", "FADD R10, R2, R5"]
    run = run_lines(cfg, lines, warps=2, hold=20)
    assert [warp for _, warp in run.issues()][:4] == [1, 0, 1, 0]
    assert hits(run) == [0, 0, 0, 0]
    assert hits(run_lines(cfg, [line.replace(" | Y", "") for line in lines], warps=2, hold=20)) == [0, 1, 0, 1]


def test_two_freezes_in_a_row_do_not_bring_a_consumer_nearer() -> None:
    lines = [THREE_EVEN[0], f"{THREE_EVEN[1]} | S4", "FADD R24, R23, R3"]
    run = run_lines(CFG, lines)
    assert run.events("freeze") == [(3, 1), (4, 1)]
    assert run.at[:3] == [0, 1, 7]
    with pytest.raises(StaleOperand):
        run_lines(CFG, [lines[0], lines[1].replace("S4", "S3"), lines[2]])


def test_a_beat_of_variable_latency_waits_in_control_through_a_freeze() -> None:
    run = run_lines(CFG, [*THREE_EVEN, "LDS.U R30, [R3] | W0"])
    assert run.at[2] == 2 and run.events("freeze") == [(3, 1), (4, 1)]
    assert run.events("fetch") == [(2 + 5 + 2, 0b10)]


def test_a_stall_that_would_end_in_a_freeze_ends_behind_it() -> None:
    assert run_lines(CFG, [THREE_EVEN[0], f"{THREE_EVEN[1]} | S2", "NOP"]).at[:3] == [0, 1, 5]
    free = [THREE_EVEN[0], "FFMA R23, R9, R11, R13 | S2", "NOP"]
    assert run_lines(CFG, free).at[:3] == [0, 1, 3]


def test_a_yield_lasts_through_a_freeze() -> None:
    run = run_lines(CFG, [*THREE_EVEN, "NOP | Y", "NOP"])
    assert run.events("resting") == [(3, 1), (4, 1), (5, 1)] and run.at[:4] == [0, 1, 2, 6]


def test_freezes_count_as_a_lack_of_room() -> None:
    run = run_lines(CFG, [*THREE_EVEN, "NOP", "NOP"])
    assert run.model.counters["freezes"] == run.model.counters["issue_room"] == 2


@pytest.mark.parametrize(("stall", "right"), [(1, False), (2, True)])
def test_a_high_addend_may_come_two_ticks_later(stall: int, right: bool) -> None:
    trace = coded_trace("MOV R4, R30 | S4", f"MOV R5, R9 | S{stall}", "IMAD.WIDE R8, R2, R3, R4")
    if right:
        assert run_trace(CFG, trace).model.operands_checked == 2
        return
    with pytest.raises(StaleOperand, match="in R5"):
        run_trace(CFG, trace)


@pytest.mark.parametrize("before", ["FADD R10, R5, R6", "ISETP.GE.AND P0, PT, R5, R6, PT"])
def test_a_pair_of_results_waits_a_tick_behind_another_result(before: str) -> None:
    run = run_lines(CFG, [before, "IMAD.WIDE R8, R2, R3, RZ", "FADD R11, R5, R6", "NOP"])
    assert run.at[:4] == [0, 2, 3, 4] and run.events("unit_wait") == [(1, 1)]
    assert run.events("write")[:4] == [(9, 1), (10, 1), (11, 1), (12, 1)]


def test_a_pair_of_results_holds_up_no_beat() -> None:
    run = run_lines(CFG, ["IMAD.WIDE R8, R2, R3, RZ", "FADD R10, R5, R6", "NOP"])
    assert run.at[:3] == [0, 1, 2] and not run.events("unit_wait")
    assert run.events("write")[:3] == [(8, 1), (9, 1), (10, 1)]


def laid(copy: int, *results: tuple[int, int, int]) -> int:
    """A copy under results, each with its lanes, and the values before and behind it."""
    return forwarded(copy, [Forwarded(0, 2, lanes, before, row) for lanes, before, row in results])


def test_results_of_some_lanes_are_laid_over_what_was_read() -> None:
    assert laid(5, (0x0F, 5, 6)) == 6
    assert laid(5, (0x0F, 5, 6), (0xF0, 6, 7)) == 7
    assert laid(5, (0x0F, 5, 6), (0x3C, 6, 7)) == 7
    assert laid(6, (0x0F, 5, 6), (0x3C, 6, 7)) == 7  # read behind the first one
    assert laid(7, (0x0F, 5, 6), (0x3C, 6, 7)) == 7  # read behind both


def test_lanes_that_no_result_reaches_are_as_old_as_the_copy() -> None:
    old = laid(4, (0x0F, 5, 6))
    assert row_in_lanes(old, 0x0F) == 6 and row_in_lanes(old, 0x1F) == POISON
    assert row_in_lanes(laid(old, (0xF0, 5, 6)), 0xFF) == 6


def test_both_queues_take_turns_at_a_bank() -> None:
    lines = ["MUFU.RCP R20, R2 | W0", "LDS.U R22, [R4] | W1"] * 3
    run = run_lines(configured(latency=8, sfu_interval=1), ["LDS.U R18, [R6] | W1", *lines])
    waits = [word for _, word in run.events("fetch_wait")]
    assert not any(word & 0b1010 for word in waits)
    assert run.model.counters["bank_conflicts"] == len(waits)
    assert run.model.counters["variable_reads"] == 7


@pytest.mark.parametrize("first", [0, 1])
def test_the_turn_is_that_of_the_other_queue_next_time(first: int) -> None:
    queues = Queues(CFG)
    taken = [queues.chosen(0, 0b11) for _ in range(2 + first)]
    assert taken == [0, 1, 0][: 2 + first]
    assert queues.chosen(0, 0b10) == 1 and queues.chosen(0, 0b01) == 0
    assert queues.chosen(0, 0b11) == first and queues.chosen(1, 0b11) == 0


def test_planned_reads_keep_a_queue_from_its_bank() -> None:
    run = run_lines(CFG, ["LDS.U R30, [R2] | W0", *["FFMA R21, R4, R6, R8"] * 12])
    waiting = [cycle for cycle, word in run.events("fetch_wait") if word & 1]
    assert len(waiting) > 20 and run.events("fetch") == [(waiting[-1] + 1, 1)]


def test_a_store_of_six_registers_is_two_beats_whose_counter_waits_for_the_last_read() -> None:
    run = run_lines(CFG, ["STG.E.128.SYS [R2.64], R4 | R1 S2", "MOV R7, R9 | wait1"])
    assert run.at[:3] == [0, 1, run.events("fetch")[-1][0] + 1]
    assert run.model.counters["variable_reads"] == 6


def test_a_counter_that_guards_sources_and_result_is_up_twice() -> None:
    run = run_lines(CFG, ["LDS.U R4, [R2] | W0 R0 S2", "FADD R2, R5, R6 | wait0"])
    assert run.events("counting") == [(cycle, 1) for cycle in range(2, 15)]
    assert run.events("write")[0] == (14, 0b100) and run.at[1] == 15


def test_a_counter_keeps_beats_that_would_make_it_too_high() -> None:
    run = run_lines(configured(latency=400, variable_delay=5, lsu_interval=1), ["LDS.U R4, [R2] | W0"] * 65)
    before = sum(cycle < 400 for cycle in run.at)
    assert 60 <= before <= 62 and run.at[before] > 400  # one more may be in Control when the 60th is counted


@pytest.mark.parametrize("left", [1, 2, 3, 63])
def test_a_depbar_waits_until_so_many_are_left(left: int) -> None:
    """Three loads come back one after the other; the last of them is out for as long as without it."""
    loads = [f"LDS.U R{4 + n}, [R2] | W5" for n in range(3)]
    run = run_lines(CFG, [*loads, "NOP", f"DEPBAR.LE SB5, {left:#x}", "FADD R8, R20, R21"])
    done = [cycle for cycle, ports in run.events("write") if ports & 4]
    assert len(done) == 3
    # Counted down in the cycle of the result, seen in the next one, in which the DEPBAR issues.
    assert run.at[4] == (max(4, done[2 - left] + 1) if left < 3 else 4)


def skipped(trace: Trace, record: int) -> Trace:
    """No lane executes a record."""
    execute, rows = trace.execute.copy(), trace.value_row.copy()
    execute[record], rows[record] = 0, NO_ROW
    return replace(trace, execute=execute, value_row=rows)


def test_what_no_lane_executes_counts_at_the_same_time() -> None:
    trace = unknown(coded_trace("LDS.U R4, [R2] | W0 R1 S2", "FADD R5, R4, R6 | wait01"))
    run, other = run_trace(CFG, skipped(trace, 0)), run_trace(CFG, trace)
    assert run.at[1] == other.at[1] > 10 and run.events("counting")[0] == other.events("counting")[0] == (2, 3)
    assert not any(fields["fetch"] for fields in run.fields) and any(fields["fetch"] for fields in other.fields)


@pytest.mark.parametrize("later", ["LDS.U R6, [R3] | W0 S2", "STS [R3], R6 | W0 S2"])
def test_the_counter_of_what_no_lane_executes_covers_what_came_before(later: str) -> None:
    """Four words of the first load come one after the other; the answer comes behind them."""
    trace = unknown(coded_trace("LDS.U.128 R8, [R2]", later, "FADD R5, R11, R11 | wait0"))
    run = run_trace(CFG, skipped(trace, 1))
    assert run.at[2] == run_trace(CFG, trace).at[2]
    with pytest.raises(StaleOperand):
        run_trace(
            CFG, skipped(coded_trace("LDS.U.128 R8, [R2]", later.replace("W0", ""), "FADD R5, R11, R11 | wait0"), 1)
        )


def test_what_no_lane_executes_and_no_counter_counts_goes_beside() -> None:
    trace = unknown(coded_trace("LDS.U R4, [R2] | S2", "FADD R5, R4, R6"))
    run = run_trace(CFG, skipped(trace, 0))
    assert run.at[:2] == [0, 2] and not run.events("lsu_beats")


@pytest.mark.parametrize(("stall", "ticks"), [(0, 1), (1, 1), (15, 15)])
def test_the_least_and_the_most_stall(stall: int, ticks: int) -> None:
    assert run_lines(CFG, [f"NOP | S{stall}", "NOP"]).at[1] == ticks


def test_no_stall_and_a_yield_is_a_tick_of_rest() -> None:
    assert run_lines(CFG, ["NOP | S0 Y", "NOP"]).at[1] == 2


def test_three_results_for_one_bank_come_port_by_port() -> None:
    cfg = configured(latency=8, variable_delay=5, sfu_latency=7)
    run = run_lines(cfg, ["LDS.U R10, [R2] | W0", "MUFU.RCP R12, R3 | W1 S4", "FADD R14, R5, R6"])
    assert run.events("write") == [(14, 0b001), (15, 0b010), (16, 0b100)]
    assert run.events("write_wait") == [(14, 0b110), (15, 0b100)]


def test_an_exit_waits_for_loads_that_are_out() -> None:
    run = run_lines(CFG, ["LDS.U R4, [R2] | W0"])
    assert run.events("write") == [(14, 0b100)] and run.at == [0, 15]


@pytest.mark.parametrize("line", ["STG.E.128.SYS [R2.64], R4 | R0", "DFMA R8, R2, R4, R6 | W0"])
def test_an_instruction_of_two_beats_fits_a_queue_of_one_place(line: str) -> None:
    run = run_lines(configured("tiny", lsu_queue=1, sfu_queue=1, dependences="scoreboard"), [line, line])
    assert run.model.counters["dispatches"] == 4 and run.model.counters["queue_waits"] > 3


def test_registers_without_a_write_are_read_like_others() -> None:
    run = run_lines(CFG, ["FFMA R20, R40, R41, R42"])
    assert run.model.counters["fixed_reads"] == 3 and run.model.operands_checked == 0
