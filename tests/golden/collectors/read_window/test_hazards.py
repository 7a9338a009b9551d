"""What the check of operands says of code whose codes are too short (docs/schemes/modern.md, section 15)."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tests.compiler.passes.modern.coded import EXAMPLE, coded_trace
from tests.golden.collectors.read_window.scenario import configured, run_lines, run_trace
from tests.golden.collectors.read_window.tight import tight_trace
from warpfile.golden import StaleOperand
from warpfile.spec.schemes.modern import ReadWindowConfig
from warpfile.spec.trace import Trace

CFG = configured(latency=8, variable_delay=5)


def message(cfg: ReadWindowConfig, *lines: str) -> str:
    with pytest.raises(StaleOperand) as stale:
        run_lines(cfg, lines)
    assert "\n" not in str(stale.value)
    return str(stale.value)


def test_a_fixed_reader_names_both_instructions_and_their_distance() -> None:
    text = message(CFG, "NOP", "FADD R1, R2, R3 | S3", "FFMA R5, R6, R1, R7")
    assert "dispatches the instruction at 0x20 (record 2) with value -1 in R1, but the trace has value 0 there" in text
    assert text.endswith("the instruction at 0x10 wrote it, issued 3 ticks before and must be at least 4 ticks away")


@pytest.mark.parametrize(("register", "ticks"), [("R4", 2), ("R5", 3)])
def test_both_registers_of_a_pair_need_as_many_ticks(register: str, ticks: int) -> None:
    """The first one is there a tick earlier, which is not guaranteed."""
    lines = f"IMAD.WIDE R4, R2, R3, RZ | S{ticks}", f"FADD R8, {register}, R6"
    assert f"issued {ticks} ticks before and must be at least 4 ticks away" in message(CFG, *lines)


@pytest.mark.parametrize(("delay", "needed"), [(5, 5), (6, 4)])
def test_a_reader_of_variable_latency_needs_its_own_distance(delay: int, needed: int) -> None:
    cfg = configured(latency=8, variable_delay=delay)
    text = message(cfg, f"MOV R4, R2 | S{needed - 1}", "LDS.U R6, [R4] | W0")
    assert f"issued {needed - 1} ticks before and must be at least {needed} ticks away" in text


def test_a_counter_without_a_wait_is_named() -> None:
    text = message(CFG, "LDS.U R4, [R2] | W3 S2", "IADD3 R5, R4, R6, R8 | wait1")
    assert text.endswith("the instruction at 0x0 wrote it and its dependence counter SB3 was not waited for")


def test_a_producer_without_a_counter_is_named() -> None:
    text = message(CFG, "LDS.U R4, [R2] | S2", "IADD3 R5, R4, R6, R8")
    assert text.endswith("the instruction at 0x0 wrote it and has no dependence counter to wait for")


def test_a_source_that_is_overwritten_names_who_did_it() -> None:
    stores = ["MOV R4, R9 | S5", *["STS [R2], R6 | S1"] * 4, "STS [R2], R4 | R0 S2"]
    text = message(CFG, *stores, "MOV R4, R7")
    assert text.endswith("the instruction at 0x60 overwrote it before it was read")
    run_lines(CFG, [*stores, "MOV R4, R7 | wait0"])


def of_lanes(trace: Trace, index: int, lanes: int) -> Trace:
    """A record is of some lanes: they are its path."""
    execute, active = trace.execute.copy(), trace.active.copy()
    execute[index] = active[index] = lanes
    return replace(trace, execute=execute, active=active)


@pytest.mark.parametrize(("reading", "writing"), [(0x0F, 0xF0), (0x80, 0x7F)])
def test_a_result_of_other_lanes_may_pass_a_read(reading: int, writing: int) -> None:
    """Paths of a divergent warp: the compiler lets none wait for the reads of another."""
    lines = ["MOV R4, R9 | S5", *["STS [R2], R6 | S1"] * 4, "STS [R2], R4 | R0 S2", "MOV R4, R7 | S5", "MOV R4, R8"]
    trace = of_lanes(of_lanes(coded_trace(*lines), 5, reading), 7, writing)
    assert run_trace(CFG, of_lanes(trace, 6, writing)).model.operands_checked
    for shared in (writing | reading & -reading, 0xFF):
        with pytest.raises(StaleOperand, match=r"at 0x50 \(record 5\) with value"):
            run_trace(CFG, of_lanes(trace, 6, shared))


def shortened(trace: Trace, index: int) -> Trace:
    """The stall count of one instruction is one less."""
    program = list(trace.program)
    program[index] = replace(program[index], control=program[index].control - 1)
    return replace(trace, program=tuple(program))


def test_every_stall_of_the_worked_example_is_needed() -> None:
    stalled = [n for n, line in enumerate(EXAMPLE) if (found := re.search(r"S(\d+)", line)) and int(found[1]) > 2]
    assert stalled == [2, 3]
    for number in stalled:
        with pytest.raises(StaleOperand, match="ticks before and must be at least"):
            run_trace(CFG, shortened(coded_trace(*EXAMPLE), number))


def test_stalls_of_tight_code_lowered_by_one_are_found() -> None:
    cfg = configured(latency=6, domains=1, variable_delay=5)
    trace = tight_trace(cfg, 1, length=40, warps=1)
    run_trace(cfg, trace)
    found = tried = 0
    for index, static in enumerate(trace.program):
        if static.control & 0xF > 2:
            tried += 1
            try:
                run_trace(cfg, shortened(trace, index))
            except StaleOperand as stale:
                found += "ticks before and must be at least" in str(stale)
    assert tried >= 5 and found >= tried // 2
