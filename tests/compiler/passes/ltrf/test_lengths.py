"""Lengths of units and growth of the code against worked examples and slow counting."""

from __future__ import annotations

import pytest

from tests.compiler.generated import graph
from tests.compiler.passes.ltrf.harness import KERNELS, kernel
from tests.compiler.passes.malekeh.test_exact import ALL, trace_of
from tests.golden.scenario import op
from warpfile.compiler.passes.ltrf.annotate import prefetched
from warpfile.compiler.passes.ltrf.code import Code, code_of
from warpfile.compiler.passes.ltrf.intervals import intervals
from warpfile.compiler.passes.ltrf.lengths import Growth, Lengths, growth, optimal_lengths, real_lengths
from warpfile.compiler.passes.ltrf.strands import strands
from warpfile.spec.trace import Trace


def straight(*names: int) -> Trace:
    """One warp; each instruction names one register."""
    return trace_of([op((), one) for one in names], [(index, ALL, ALL) for index in range(len(names))])


def test_optimal_runs_are_as_long_as_the_registers_allow() -> None:
    trace = straight(1, 2, 1, 3, 2, 1, 1)
    assert optimal_lengths(trace, 2) == Lengths(3, 7, 2, 3)
    assert optimal_lengths(trace, 1) == Lengths(6, 7, 1, 2)
    assert optimal_lengths(trace, 3) == Lengths(1, 7, 7, 7)


def test_runs_do_not_go_on_in_the_next_warp() -> None:
    program = [op((), 1), op((), 2)]
    trace = trace_of(program, [(0, ALL, ALL)] * 3, [(0, ALL, ALL), (1, ALL, ALL)])
    assert optimal_lengths(trace, 2) == Lengths(2, 5, 2, 3)
    assert real_lengths(prefetched(trace, 2)) == Lengths(2, 5, 2, 3)


def test_real_runs_are_counted_without_the_prefetches() -> None:
    found = prefetched(straight(1, 2, 3, 1, 1), 2)
    assert real_lengths(found) == Lengths(2, 5, 2, 3)


def counted(trace: Trace) -> list[int]:
    """Runs, record by record."""
    runs: list[int] = []
    for record, index in enumerate(trace.instruction.tolist()):
        if trace.program[index].inserted or record in trace.warp_start:
            runs.append(0)
        runs[-1] += not trace.program[index].inserted
    return [run for run in runs if run]


@pytest.mark.parametrize("name", ["calls", "spmv", "matmul_tiled", "saxpy"])
def test_lengths_of_kernels_are_those_that_counting_gives(name: str) -> None:
    found = prefetched(kernel(name), 16)
    assert real_lengths(found) == Lengths.of(counted(found))


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("limit", [16, 32])
def test_no_interval_is_longer_than_the_optimum_on_average_but_strands_are_shorter(name: str, limit: int) -> None:
    trace = kernel(name)
    real, short = (real_lengths(prefetched(trace, limit, form)) for form in ("intervals", "strands"))
    best = optimal_lengths(trace, limit)
    assert real.instructions == best.instructions == trace.records
    assert best.count <= real.count <= short.count


def test_a_loop_that_falls_through_to_its_own_head_needs_a_jump() -> None:
    """The head of the loop stands behind a block that only the loop's end leads to."""
    code = graph("MOV R6, R7\nBRA `(head)\nback:\nMOV R2, R3\nhead:\nMOV R4, R2\n@P0 BRA `(back)\nMOV R5, R2").function
    assert growth(code_of(code), intervals(code_of(code), 3)) == Growth(7, 3, 1)
    assert growth(code_of(code), strands(code_of(code), 3)).jumps == 0


def test_a_silent_call_adds_nothing() -> None:
    code = Code((1, 0, 1), (0, 1, 2), frozenset({(0, 1), (1, 2)}), frozenset({0}), frozenset({0, 1, 2}), frozenset({1}))
    assert growth(code, intervals(code, 4)) == Growth(3, 2, 0)


def test_a_set_takes_two_instruction_words() -> None:
    assert Growth(100, 3, 1).by(opcode=True) == pytest.approx(0.10)
    assert Growth(100, 3, 1).by(opcode=False) == pytest.approx(0.07)
