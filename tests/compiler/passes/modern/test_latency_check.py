"""What the check of a listing says of control codes, before anything runs, next to what runs then find stale."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from tests.compiler.passes.modern.coded import EXAMPLE, coded_instruction, coded_trace
from tests.golden.collectors.read_window.scenario import configured, run_trace
from tests.golden.collectors.read_window.test_kernels import KERNELS, NAMES, some, traced
from tests.golden.collectors.read_window.tight import tight_trace
from warpfile.compiler import load_listing, parse
from warpfile.compiler.model import Function
from warpfile.compiler.passes.modern.latency_check import Finding, lines, taken, uncovered
from warpfile.compiler.passes.trace_listing import listed_function
from warpfile.golden import StaleOperand
from warpfile.schemes import find
from warpfile.spec.schemes.modern import ReadWindowConfig
from warpfile.spec.trace import Trace

CFG = configured(latency=8, variable_delay=5)
TURING = configured("turing_rfc")
_CODE_AT = 105
_STALL = 15


def function_of(trace: Trace) -> Function:
    """The function of a trace with the codes of its program."""
    function = listed_function(trace)
    assert function is not None
    coded = [
        replace(one, encoding=static.control << _CODE_AT)
        for one, static in zip(function.instructions, trace.program, strict=True)
    ]
    return replace(function, instructions=tuple(coded))


def said(*code: str, cfg: ReadWindowConfig = CFG) -> list[str]:
    return lines(function_of(coded_trace(*code)), cfg)


def lowered(trace: Trace, index: int) -> Trace:
    """The stall count of one instruction is one less."""
    program = list(trace.program)
    program[index] = replace(program[index], control=program[index].control - 1)
    return replace(trace, program=tuple(program))


def can_be_lowered(trace: Trace) -> list[int]:
    return [at for at, static in enumerate(trace.program) if static.control & _STALL > 1]


def is_stale(cfg: ReadWindowConfig, trace: Trace) -> bool:
    try:
        run_trace(cfg, trace, limit=200_000)
    except StaleOperand:
        return True
    return False


def test_a_reader_that_is_too_close_is_named_with_both_distances() -> None:
    assert said("FADD R1, R2, R3 | S3", "FFMA R5, R6, R1, R7") == [
        "0x10 issues 3 ticks after 0x0 wrote R1, and needs 4"
    ]
    assert said("FADD R1, R2, R3 | S2", "NOP | S2", "FFMA R5, R6, R1, R7") == []


def test_a_yield_without_a_stall_is_worth_two_ticks() -> None:
    assert said("FADD R1, R2, R3 | S2", "NOP | Y", "FFMA R5, R6, R1, R7") == []
    assert said("FADD R1, R2, R3 | S2", "NOP", "FFMA R5, R6, R1, R7") != []


def test_both_results_of_a_pair_are_there_at_once() -> None:
    assert said("IMAD.WIDE R4, R2, R3, RZ | S4", "FADD R8, R5, R4") == []
    assert said("IMAD.WIDE R4, R2, R3, RZ | S3", "FADD R8, R5, R5") == [
        "0x10 issues 3 ticks after 0x0 wrote R5, and needs 4"
    ]


@pytest.mark.parametrize(("ticks", "found"), [(3, []), (2, ["0x10 issues 2 ticks after 0x0 wrote R4, and needs 3"])])
def test_the_low_half_of_a_pair_is_there_a_tick_earlier(ticks: int, found: list[str]) -> None:
    """Code of sm_90 counts on it; the machine agrees with the check."""
    code = f"IMAD.WIDE R4, R2, R3, RZ | S{ticks}", "FADD R8, R4, R4"
    assert said(*code) == found
    assert is_stale(CFG, coded_trace(*code)) == bool(found)


DOUBLES = "DFMA R4, R2, R6, R8 | S8", "MOV R6, R12", "DADD R10, R4, R2", "MOV R5, R13"


def test_what_varies_here_alone_gets_counters_and_waits() -> None:
    """Counters 0 and 1 are in use, so results take 2 and sources 3; each reader and writer waits for what it needs."""
    code = "LDS.U R20, [R21] | W0", "LDG.E R22, [R24] | W1 S2", *DOUBLES
    function = function_of(coded_trace(*code))
    codes = [one.control for one in function.instructions if one.control]
    counted = taken(function, CFG, codes)[2:6]
    assert [(one.write_barrier, one.read_barrier) for one in counted] == [(2, 3), (None, None), (2, 3), (None, None)]
    assert [one.wait_mask for one in counted] == [0, 1 << 3, 1 << 2, 1 << 3]
    assert [one.stall for one in counted] == [8, 1, 2, 1]
    assert said(*code) == [] and not is_stale(CFG, coded_trace(*code))


def test_a_unit_whose_results_have_counters_keeps_its_codes() -> None:
    """As double precision of sm_75: one that is not waited for is reported, and read too early."""
    code = "DFMA R4, R2, R6, R8", "DMUL R14, R16, R18 | W0 S2", "MOV R10, R4"
    assert said(*code) == ["0x20 needs R4 and does not wait for 0x0, which writes it"]
    assert is_stale(CFG, coded_trace(*code))
    assert said(*code[:2], f"{code[2]} | wait0") == []


def test_a_move_to_a_uniform_register_without_a_counter_gets_one() -> None:
    """As in code of sm_100; that of others has counters, which must be waited for."""
    assert said("R2UR UR4, R2 | S2", "IADD3 R2, R6, R7, R8") == []
    code = "R2UR UR4, R2 | S2", "R2UR UR6, R3 | R0 S2", "IADD3 R2, R6, R7, R8"
    assert said(*code) == ["0x20 writes R2 and does not wait until 0x0 has read it"]


def test_the_high_addend_is_read_two_ticks_later() -> None:
    assert said("MOV R5, R9 | S2", "IMAD.WIDE R6, R2, R3, R4 | S5") == []
    assert said("MOV R4, R9 | S2", "IMAD.WIDE R6, R2, R3, R4 | S5") != []


@pytest.mark.parametrize(("delay", "needed"), [(5, 5), (6, 4)])
def test_a_reader_of_variable_latency_has_its_own_distance(delay: int, needed: int) -> None:
    cfg = configured(latency=8, variable_delay=delay)
    text = f"0x10 issues {needed - 1} ticks after 0x0 wrote R4, and needs {needed}"
    assert said(f"MOV R4, R2 | S{needed - 1}", "LDS.U R6, [R4] | W0", cfg=cfg) == [text]
    assert said(f"MOV R4, R2 | S{needed}", "LDS.U R6, [R4] | W0", cfg=cfg) == []


@pytest.mark.parametrize("later", ["IADD3 R5, R4, R6, R8", "MOV R4, R9", "LDG.E R4, [R8]", "STS [R2], R4"])
def test_a_result_must_be_waited_for_by_its_reader_and_by_its_writer(later: str) -> None:
    assert said("LDS.U R4, [R2] | W3 S2", later) == ["0x10 needs R4 and does not wait for 0x0, which writes it"]
    assert said("LDS.U R4, [R2] | W3 S2", f"{later} | wait3") == []
    assert said("LDS.U R4, [R2] | W3 S2", "NOP | wait3", later) == []
    assert said("LDS.U R4, [R2] | W3 S2", f"{later} | wait2") != []


def test_the_next_instruction_does_not_see_a_counter_that_has_just_been_raised() -> None:
    assert said("LDS.U R4, [R2] | W3", "IADD3 R5, R4, R6, R8 | wait3") != []
    assert said("LDS.U R4, [R2] | W3 Y", "IADD3 R5, R4, R6, R8 | wait3") == []
    assert said("LDS.U R4, [R2] | W3", "NOP | wait3", "IADD3 R5, R4, R6, R8") != []
    assert said("LDS.U R4, [R2] | W3", "NOP", "IADD3 R5, R4, R6, R8 | wait3") == []


def test_a_source_must_be_waited_for_by_its_writer() -> None:
    assert said("STS [R2], R4 | S2", "MOV R4, R7") == ["0x10 writes R4 and does not wait until 0x0 has read it"]
    assert said("STS [R2], R4 | S2 R0", "MOV R4, R7 | wait0") == []
    assert said("STS [R2], R4 | S2", "BAR.SYNC 0x0", "MOV R4, R7") == []


def test_one_counter_does_for_what_comes_in_order() -> None:
    assert said("LDS.U R4, [R2]", "LDS.U R5, [R3] | S2 W0", "FADD R6, R4, R5 | wait0") == []
    assert said("LDG.E R4, [R2]", "LDG.E R5, [R3] | S2 W0", "FADD R6, R4, R5 | wait0") != []
    assert said("STS [R2], R4", "LDG.E R5, [R3] | S2 W0", "MOV R4, R7 | wait0") == []
    assert said("LDS.U.128 R4, [R2]", "LDS.U R8, [R3] | S2 W0", "FADD R9, R7, R8 | wait0") == []


def test_a_depbar_does_for_all_but_the_last_ones() -> None:
    three = ("LDS.U R4, [R2] | W5", "LDS.U R5, [R2] | W5", "LDS.U R6, [R2] | W5 S2")
    assert said(*three, "DEPBAR.LE SB5, 0x2 | S4", "FADD R7, R4, R4") == []
    assert said(*three, "DEPBAR.LE SB5, 0x1 | S4", "FADD R7, R4, R5") == []
    assert said(*three, "DEPBAR.LE SB5, 0x2 | S4", "FADD R7, R4, R5") != []
    assert said(*three, "DEPBAR.LE SB4, 0x2 | S4", "FADD R7, R4, R4") != []
    assert said(*three, "DEPBAR.LE SB5, 0x0 | S4", "FADD R7, R4, R6") == []
    assert said(*three, "DEPBAR.LE SB4, 0x1, {5} | S4", "FADD R7, R4, R6") == []
    other = (*three[:2], "MUFU.RCP R6, R2 | W5 S2")
    assert said(*other, "DEPBAR.LE SB5, 0x2 | S4", "FADD R7, R4, R4") != []
    assert said(*other, "DEPBAR.LE SB5, 0x0 | S4", "FADD R7, R4, R6") == []


def test_the_counter_of_a_guarded_instruction_does_for_what_comes_before_it() -> None:
    assert said("LDS.U R4, [R2]", "@P0 LDS.U R5, [R3] | S2 W0", "FADD R6, R4, R4 | wait0") == []
    assert said("@P0 LDS.U R4, [R2]", "@!P0 LDS.U R5, [R3] | S2 W0", "FADD R6, R4, R4 | wait0") == []
    assert said("STS [R2], R4", "@P0 LDG.E R5, [R3] | S2 W0", "MOV R4, R7 | wait0") == []
    assert said("LDS.U R4, [R2]", "@P0 MUFU.RCP R5, R3 | S2 W0", "FADD R6, R4, R4 | wait0") != []


def branching(*code: str) -> Function:
    """A function of lines ``TEXT | CODE`` and labels."""
    text, codes = ['\t.section\t.text.k,"ax",@progbits', "k:"], []
    for line in (*code, "EXIT"):
        if not line.endswith(":"):
            line, _, more = line.partition("|")
            text.append(f"        /*{16 * len(codes):04x}*/   {line.strip()} ;")
            codes.append(more)
        else:
            text.append(line)
    function = parse("\n".join(text), "t").functions["k"]
    coded = [
        replace(one, encoding=coded_instruction(one, more).control << _CODE_AT)
        for one, more in zip(function.instructions, codes, strict=True)
    ]
    return replace(function, instructions=tuple(coded))


def test_the_shortest_of_all_paths_counts() -> None:
    long = ("FADD R1, R2, R3 | S2", "{branch}", "NOP | S4", "L:", "FFMA R5, R6, R1, R7")
    assert lines(branching(*long[:1], "NOP", *long[2:]), CFG) == []
    assert lines(branching(*long[:1], "@P0 BRA `(L)", *long[2:]), CFG) == [
        "0x30 issues 3 ticks after 0x0 wrote R1, and needs 4"
    ]


def test_a_loop_reads_what_its_end_wrote() -> None:
    loop = "L:", "FADD R1, R1, R3 | S{}", "@P0 BRA `(L) | S2"
    assert lines(branching(loop[0], loop[1].format(1), loop[2]), CFG) == [
        "0x0 issues 3 ticks after 0x0 wrote R1, and needs 4"
    ]
    assert lines(branching(loop[0], loop[1].format(2), loop[2]), CFG) == []


def test_a_counter_must_be_waited_for_on_every_path() -> None:
    code = "LDS.U R4, [R2] | W3 S2", "@P0 BRA `(L)", "NOP | {}", "L:", "FADD R6, R4, R5 | {}"
    waits_on_one, waits_on_both = (
        [line.format(*[(where == n and "wait3") or ""]) for n, line in enumerate(code)] for where in (2, 4)
    )
    assert lines(branching(*waits_on_one), CFG) == ["0x30 needs R4 and does not wait for 0x0, which writes it"]
    assert lines(branching(*waits_on_both), CFG) == []


def test_a_write_under_a_guard_leaves_the_older_one() -> None:
    code = "FADD R1, R2, R3", "{}MOV R1, R9", "FFMA R5, R6, R1, R7"
    assert len(said(code[0], code[1].format("@P0 "), code[2])) == 2
    assert len(said(code[0], code[1].format(""), code[2])) == 1


@pytest.mark.parametrize("first", ["@{}P0 MUFU.RCP R13, R7 | W1 S2", "@{}P0 STS [R2], R13 | S2", "@{}P0 MOV R13, R9"])
def test_opposite_guards_share_no_lane_until_the_predicate_is_written(first: str) -> None:
    """ptxas does so at -O1: a reciprocal in some lanes, a product in the others, both to R13."""
    then = "@P0 FFMA R13, R13, R42, R9"
    assert said(first.format("!"), then) == []
    assert len(said(first.format(""), then)) == 1
    assert len(said(first.format("!"), "ISETP.NE.AND P0, PT, R20, R21, PT", then)) == 1
    assert said(first.format("!"), "ISETP.NE.AND P1, PT, R20, R21, PT", then) == []


def test_what_behind_opposite_guards_all_lanes_read_must_be_waited_for() -> None:
    code = "@!P0 MUFU.RCP R13, R7 | W1 S2", "@P0 FFMA R13, R8, R42, R9 | S15"
    assert said(*code, "FADD R1, R13, R3") == ["0x20 needs R13 and does not wait for 0x0, which writes it"]
    assert said(*code, "FADD R1, R13, R3 | wait1") == []


def test_a_listing_without_codes_and_a_scoreboard_are_not_checked() -> None:
    code = "FADD R1, R2, R3", "FFMA R5, R6, R1, R7"
    function = function_of(coded_trace(*code))
    bare = replace(function, instructions=tuple(replace(one, encoding=None) for one in function.instructions))
    assert uncovered(bare, CFG) == uncovered(function, configured(dependences="scoreboard")) == ()
    assert uncovered(function, CFG) == (Finding(0x10, 0, 1, distance=1, needed=4),)


@pytest.mark.parametrize("kernel", NAMES)
@pytest.mark.parametrize("preset", ["turing_rfc", "ampere"])
def test_the_codes_of_the_bundled_kernels_cover_the_machine(kernel: str, preset: str) -> None:
    cfg = find("modern").configuration(preset)
    functions = load_listing(KERNELS / kernel / "kernel.sass").functions.values()
    assert all(one.control is not None for function in functions for one in function.instructions)
    assert [line for function in functions for line in lines(function, cfg)] == []


def test_codes_for_a_faster_machine_are_reported() -> None:
    fast, slow = configured(latency=6, variable_delay=6), configured(latency=6, variable_delay=5)
    function = function_of(tight_trace(fast, 1, length=40, warps=1))
    assert lines(function, fast) == []
    assert all("and needs 5" in line or "and needs 6" in line for line in lines(function, slow))
    assert lines(function, slow)


def test_the_worked_example_is_covered_and_every_stall_of_it_is_needed() -> None:
    trace = coded_trace(*EXAMPLE)
    assert lines(function_of(trace), CFG) == []
    assert len(can_be_lowered(trace)) == 3
    for index in can_be_lowered(trace):
        assert len(lines(function_of(lowered(trace, index)), CFG)) == 1


def check_lowered(cfg: ReadWindowConfig, trace: Trace, indices: list[int]) -> tuple[int, int]:
    """Lower stall counts one by one: how many are reported, and how many go stale, each of which is reported."""
    reported = stale = 0
    for index in indices:
        other = lowered(trace, index)
        found, wrong = lines(function_of(other), cfg), is_stale(cfg, other)
        assert found or not wrong, f"{trace.program[index].text} at {trace.program[index].offset:#x}"
        reported, stale = reported + bool(found), stale + wrong
    return reported, stale


def test_every_stall_count_whose_lowering_goes_stale_is_reported() -> None:
    reported = stale = 0
    for seed in range(4):
        cfg = configured(latency=6, domains=1, variable_delay=5 + seed % 2)
        trace = tight_trace(cfg, seed, length=40, warps=1)
        assert lines(function_of(trace), cfg) == []
        more = check_lowered(cfg, trace, can_be_lowered(trace))
        reported, stale = reported + more[0], stale + more[1]
    assert reported >= stale >= 20


@pytest.mark.parametrize("kernel", some(("divide",), NAMES))
def test_lowered_stalls_of_a_kernel_are_reported_if_they_go_stale(kernel: str) -> None:
    trace = traced(kernel)
    indices = can_be_lowered(trace)
    random.Random(kernel).shuffle(indices)
    check_lowered(TURING, trace, indices[:12])
