"""No value is read behind a dead bit that the hardware honours, whatever executes; hints of listings beside exact ones.

The judge drops a value at once, and in all lanes, where a bit is honoured; a cache may do so at any time from there on.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from tests.compiler.generated import graph, structured
from tests.compiler.irregular import irregular
from tests.compiler.passes.malekeh.test_exact import ALL, trace_of
from tests.compiler.passes.malekeh.test_relation import converged, straight_lines
from tests.emulator.harness import run
from warpfile.compiler.model import Function
from warpfile.compiler.passes.last_reads import dead_sources
from warpfile.compiler.passes.rfc.exact import RecordHints, exact_hints, random_hints
from warpfile.compiler.passes.rfc.static import strand_hints
from warpfile.compiler.passes.rfc.suspend import suspend_before
from warpfile.compiler.program import static_instructions
from warpfile.emulator.launch import load_kernel
from warpfile.emulator.record import WarpRecords
from warpfile.emulator.run import execute
from warpfile.spec.beat import distinct_sources
from warpfile.spec.stress import PROFILES, stress_trace
from warpfile.spec.trace import StaticInstruction, Trace

KERNELS = {path.parent.name: path.parent for path in (Path(__file__).parents[4] / "kernels").glob("*/launch.toml")}
Row = tuple[int, int, int, int]  #: instruction, active, execution and live mask


@cache
def kernel(name: str) -> tuple[Function, Trace]:
    launch = load_kernel(KERNELS[name])
    return launch.function, execute(launch).trace


def rows_of(trace: Trace) -> list[list[Row]]:
    """Records of every warp."""
    columns = (trace.instruction, trace.active, trace.execute, trace.live)
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    return [rows[start:end] for start, end in zip(trace.warp_start[:-1], trace.warp_start[1:], strict=True)]


def rows_of_warp(records: WarpRecords) -> list[Row]:
    return list(zip(records.instruction, records.active, records.execute, records.live, strict=True))


class Judge:
    """Counts ``honoured`` dead bits and ``misses``, reads of a value that has been dropped.

    ``always``: bits are honoured also where some lanes are elsewhere.
    """

    def __init__(self, program: tuple[StaticInstruction, ...], always: bool = False) -> None:
        self.operands = [(distinct_sources(static.sources), static.dests) for static in program]
        self.always = always
        self.honoured = self.misses = 0

    def warp(self, rows: list[Row], masks: Iterator[int]) -> None:
        """Judge one warp with the mask of dead sources of every record."""
        dropped: dict[int, int] = {}
        for (index, active, execution, live), mask in zip(rows, masks, strict=True):
            if not execution:
                continue
            sources, dests = self.operands[index]
            self.misses += sum(bool(dropped.get(register, 0) & execution) for register in sources)
            if mask and (active == live or self.always):
                for bit, register in enumerate(sources):
                    if mask >> bit & 1:
                        dropped[register] = ALL
                        self.honoured += 1
            for register in dests:
                if register in dropped:
                    dropped[register] &= ~execution


def judged(function: Function, warps: list[list[Row]], masks: dict[int, int], always: bool = False) -> Judge:
    """The judge behind warps whose dead masks are given by offset."""
    judge = Judge(static_instructions(function), always)
    for rows in warps:
        judge.warp(rows, (masks.get(16 * index, 0) for index, *_ in rows))
    return judge


def judged_exact(trace: Trace, dead: np.ndarray, always: bool = True) -> Judge:
    judge, masks = Judge(trace.program, always), iter(dead.tolist())
    for rows in rows_of(trace):
        judge.warp(rows, (next(masks) for _ in rows))
    return judge


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_bundled_kernels_read_nothing_dead(name: str) -> None:
    function, trace = kernel(name)
    judge = judged(function, rows_of(trace), dead_sources(function))
    assert judge.misses == 0
    assert judge.honoured > 0


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_bundled_kernels_read_nothing_dead_by_exact_hints(name: str) -> None:
    _, trace = kernel(name)
    hints = exact_hints(trace)
    assert judged_exact(trace, hints.dead).misses == 0
    assert judged_exact(trace, random_hints(hints, 1).dead).misses == 0


@pytest.mark.parametrize("name", ["bits", "calls", "divide", "saxpy", "tensor"])
def test_one_more_dead_bit_is_noticed(name: str) -> None:
    function, trace = kernel(name)
    masks, warps, noticed = dead_sources(function), rows_of(trace)[:4], 0
    for offset, mask in masks.items():
        missing = ~mask & (mask + 1)
        noticed += judged(function, warps, masks | {offset: mask | missing}).misses > 0
    assert noticed > 0


def test_without_the_rule_about_lanes_elsewhere_kernels_read_dead_values() -> None:
    missing = [name for name in ("bfs_step", "collatz", "bytecode") if judged_always(name).misses]
    assert missing


def judged_always(name: str) -> Judge:
    function, trace = kernel(name)
    return judged(function, rows_of(trace), dead_sources(function), always=True)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(structured())
def test_generated_programs_read_nothing_dead(code: str) -> None:
    function, records = graph(code).function, run(code, live=0xFFFF).records
    assert judged(function, [rows_of_warp(records)], dead_sources(function)).misses == 0


@pytest.mark.parametrize("start", range(0, 400, 100))
def test_programs_with_any_control_flow_read_nothing_dead(start: int) -> None:
    honoured = 0
    for seed in range(start, start + 100):
        execution = irregular(seed)
        judge = judged(execution.function, [rows_of_warp(execution.records)], dead_sources(execution.function))
        assert judge.misses == 0, seed
        honoured += judge.honoured
    assert honoured > 100


@pytest.mark.parametrize("profile", PROFILES)
def test_stress_traces_read_nothing_dead_by_exact_hints(profile: str) -> None:
    trace = stress_trace(3, profile=profile, length=200, registers=12)
    hints = exact_hints(trace)
    judge = judged_exact(trace, hints.dead)
    assert judge.misses == 0
    assert judge.honoured > 0
    every = np.full(len(hints.dead), 0xFFFF)
    assert judged_exact(trace, every).misses > 0


SIDES = """S2R R0, SR_LANEID
    ISETP.LT.AND P0, PT, R0, 0x4, PT
    MOV R2, 0x1
    {leave}
    @P0 BRA `(other)
    IADD3 R3, R2, 0x1, RZ
    EXIT
    other:
    IADD3 R3, R2, 0x1, RZ"""


def test_the_other_side_of_a_branch_still_reads_what_is_dead_on_this_side() -> None:
    code = SIDES.format(leave="NOP")
    function, rows = graph(code).function, rows_of_warp(run(code).records)
    masks = dead_sources(function)
    assert masks[5 * 16] == masks[7 * 16] == 1
    assert judged(function, [rows], masks).misses == 0
    assert judged(function, [rows], masks, always=True).misses == 1


def test_a_dead_bit_is_honoured_if_the_other_lanes_have_exited() -> None:
    code = SIDES.format(leave="@P0 EXIT")
    function, rows = graph(code).function, rows_of_warp(run(code).records)
    without_last = dead_sources(function) | {5 * 16: 0}
    counts = [judged(function, [rows], masks).honoured for masks in (dead_sources(function), without_last)]
    assert counts[0] == counts[1] + 1


def static_hints(function: Function, trace: Trace) -> RecordHints:
    """Hints of the listing, record by record."""
    suspends, dead = suspend_before(function), dead_sources(function)
    unread, evicted = strand_hints(function, suspends)
    offsets = [static.offset for static in trace.program]
    columns = (
        [offset in suspends for offset in offsets],
        [dead.get(offset, 0) for offset in offsets],
        [evicted.get(offset, 0) for offset in offsets],
        [offset in unread for offset in offsets],
    )
    return RecordHints(*(np.array(column, dtype=np.int64)[trace.instruction] for column in columns))


@settings(max_examples=100, deadline=None)
@given(straight_lines())
def test_straight_code_without_guards_has_exact_hints(code: str) -> None:
    function = graph(code).function
    program = static_instructions(function)
    trace = trace_of(program, [(index, ALL, ALL) for index in range(len(program))])
    exact, static = exact_hints(trace), static_hints(function, trace)
    for name, values in vars(exact).items():
        assert np.array_equal(values, getattr(static, name)), name


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_converged_warps_of_a_kernel_do_better_with_exact_hints(name: str) -> None:
    function, trace = kernel(name)
    records = converged(trace)
    exact, static = exact_hints(trace), static_hints(function, trace)
    executed = trace.execute[records] != 0
    assert not np.any(exact.suspend[records] & ~static.suspend[records])
    assert not np.any(np.where(executed, static.dead[records] & ~exact.dead[records], 0))
