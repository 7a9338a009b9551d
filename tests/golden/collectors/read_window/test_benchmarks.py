"""Micro-benchmarks with published results (docs/schemes/modern.md, section 14; the numbers are those of its table)."""

from __future__ import annotations

from itertools import groupby

import pytest

from tests.golden.collectors.read_window.scenario import CLOCK, configured, elapsed, run_lines
from warpfile.golden import StaleOperand
from warpfile.spec.schemes.modern import ReadWindowConfig

AMPERE = configured()
#: Registers of one bank, of which none is written.
EVEN = "R2 R4 R6 R8 R10 R12".split()


def stale(cfg: ReadWindowConfig, lines: list[str]) -> bool:
    try:
        run_lines(cfg, lines)
    except StaleOperand:
        return True
    return False


@pytest.mark.parametrize(("sources", "cycles", "slow"), [("19 21", 5, 6), ("18 21", 6, 6), ("18 20", 7, 7)])
def test_1_a_conflict_before_a_clock_delays_it(sources: str, cycles: int, slow: int) -> None:
    x, y = sources.split()
    lines = [CLOCK, "NOP", "FFMA R11, R10, R12, R14", f"FFMA R13, R16, R{x}, R{y}", "NOP", CLOCK]
    assert elapsed(AMPERE, lines) == cycles
    assert elapsed(configured(unit_interval=2), lines) == slow


@pytest.mark.parametrize("sources", ["19 21", "18 21", "18 20"])
def test_2_a_clock_directly_behind_does_not_see_it(sources: str) -> None:
    x, y = sources.split()
    lines = [CLOCK, "NOP", "FFMA R11, R10, R12, R14", f"FFMA R13, R16, R{x}, R{y}", CLOCK]
    assert elapsed(AMPERE, lines) == 4


@pytest.mark.parametrize("stall", range(1, 7))
def test_3_a_reader_is_right_four_ticks_behind(stall: int) -> None:
    lines = [CLOCK, "NOP", f"FADD R1, R2, R3 | S{stall}", "FFMA R5, R1, R1, R1", "NOP", CLOCK]
    assert elapsed(AMPERE, lines, checked=False) == stall + 4
    assert stale(AMPERE, lines) == (stall < 4)


@pytest.mark.parametrize(("delay", "least"), [(5, 5), (6, 4)])
def test_4_an_address_needs_a_tick_more(delay: int, least: int) -> None:
    cfg = configured(variable_delay=delay)
    for stall in range(1, 8):
        lines = ["MOV R40, R16", "MOV R43, R17 | S4", f"MOV R41, R43 | S{stall}", "LDG.E.SYS R36, [R40.64] | W0"]
        assert stale(cfg, lines) == (stall < least)


def test_5_conflicts_do_not_change_the_stall_that_is_needed() -> None:
    lines = ["FFMA R11, R10, R12, R14", "FFMA R13, R16, R18, R20 | S4", "FFMA R15, R13, R1, R3"]
    assert not stale(AMPERE, lines)
    assert stale(AMPERE, [lines[0], lines[1].replace("S4", "S3"), lines[2]])


@pytest.mark.parametrize(
    ("second", "hits"),
    [
        ("R2, R7, R8", [0, 1, 0]),
        ("R2.reuse, R7, R8", [0, 1, 1]),
        ("R7, R2, R8", [0, 0, 1]),
        ("R4, R7, R8", [0, 0, 0]),
    ],
)
def test_6_to_9_a_kept_operand_is_found_at_its_position(second: str, hits: list[int]) -> None:
    run = run_lines(AMPERE, ["IADD3 R1, R2.reuse, R3, R4", f"FFMA R5, {second}", "IADD3 R10, R2, R12, R13"])
    leaving = [f for f in run.fields if f["sources"]]
    assert [f["hit"] & 1 for f in leaving] == hits
    assert all(not f["hit"] >> 1 for f in leaving)


@pytest.mark.parametrize(
    ("lines", "cycles"),
    [
        (["FMUL R100, R2, R4"], 2.0),
        (["FMUL R100, R2, R5"], 1.0),
        (["FFMA R100, R2, R4, R6"], 3.0),
        (["FFMA R100, R2, R4, R7", "FFMA R100, R3, R5, R6"], 1.5),
        (["FFMA R100, R2, R2, R2"], 1.0),
    ],
    ids=["one bank", "two banks", "three of one bank", "two and one in turn", "one register"],
)
def test_10_to_12_long_runs_take_what_their_banks_take(lines: list[str], cycles: float) -> None:
    at = run_lines(AMPERE, lines * (60 // len(lines))).at
    assert (at[50] - at[10]) / 40 == cycles


@pytest.mark.parametrize(("code", "wrong"), [("S1", True), ("S2", False), ("S1 Y", False)])
def test_13_a_counter_is_not_seen_by_the_next_instruction(code: str, wrong: bool) -> None:
    assert stale(AMPERE, [f"LDG.E.SYS R4, [R2.64] | W0 {code}", "IADD3 R5, R4, R6, R8 | wait0"]) == wrong


@pytest.mark.parametrize(("code", "cycles"), [("S1 Y", 3), ("S2 Y", 3), ("S1", 2), ("S2", 3)])
def test_14_a_yield_costs_a_tick_unless_there_is_a_stall(code: str, cycles: int) -> None:
    assert elapsed(AMPERE, [CLOCK, f"NOP | {code}", CLOCK]) == cycles


@pytest.mark.parametrize(("delay", "later"), [(5, [7, 9, 11, 13]), (6, [8, 10, 12, 14])])
def test_15_a_queue_takes_five_loads_then_one_every_other_cycle(delay: int, later: list[int]) -> None:
    # The queue is what they measure: the LSU takes what leaves it at once.
    cfg = configured(variable_delay=delay, lsu_interval=1)
    run = run_lines(cfg, [f"LDS.U R{20 + n}, [R{2 + n}] | W0" for n in range(9)])
    assert run.at[:9] == [0, 1, 2, 3, 4, *later]


def order(lines: list[str]) -> list[tuple[int, int]]:
    """Warps in the order of their issues without the EXITs, each with how often; -1 for a bubble."""
    run = run_lines(configured(domains=1), lines, warps=4, hold=50)
    issues = [(cycle, warp) for cycle, warp in run.issues() if not run.fields[cycle]["exit"]]
    taken = dict(run.issues())
    first, last = issues[0][0], issues[-1][0]
    warps = [taken.get(cycle, -1) for cycle in range(first, last + 1) if not run.fields[cycle]["exit"]]
    return [(warp, len(list(group))) for warp, group in groupby(warps)]


def test_16_the_youngest_goes_on_where_the_last_issuer_stalls() -> None:
    lines = ["NOP", "NOP | S4", *["NOP"] * 4]
    assert order(lines) == [(3, 2), (2, 2), (1, 2), (3, 4), (2, 4), (1, 4), (0, 2), (-1, 3), (0, 4)]


def test_17_a_yield_lets_others_go_first() -> None:
    lines = ["NOP", "NOP | Y", *["NOP"] * 4]
    assert order(lines) == [(3, 2), (2, 2), (3, 4), (2, 4), (1, 2), (0, 2), (1, 4), (0, 4)]


@pytest.mark.parametrize(("dest", "waits"), [(20, 1), (21, 0)])
def test_18_a_load_makes_way_for_a_result_of_fixed_latency(dest: int, waits: int) -> None:
    cfg = configured(latency=8)
    held = []
    for gap in range(1, 12):
        run = run_lines(cfg, [f"LDS.U R10, [R2] | W0 S{gap}", f"FADD R{dest}, R3, R5"])
        held.append(run.model.counters["write_waits"])
        assert all(word == 0b100 for _, word in run.events("write_wait"))
    assert sum(held) == waits and max(held) == waits
