"""Shares of scalar and affine values, over traces written by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.compiler.passes.regmutex.harness import kernel
from tests.golden.rf.scalar.scenario import LANE, Words, make, run_scalar, valued
from tests.golden.scenario import BAR, Step, hand_trace, op
from warpfile.pages.scalar_values import COLUMNS, SCALAR, Measured, is_affine, is_scalar, kinds, measured, rows
from warpfile.spec.trace import Trace

ALL = np.arange(32)


def made(program: list[Step], *results: Words) -> Trace:
    """A warp whose results are these."""
    return valued(hand_trace(program), results)


def words(*values: Words) -> np.ndarray:
    """Values of all lanes, one row each."""
    return np.array([np.broadcast_to(np.asarray(value, np.uint32), 32) for value in values])


def test_a_stride_may_be_negative_and_wrap_but_not_zero() -> None:
    falling = np.uint32(5) - LANE * np.uint32(4)
    large = np.uint32(0xFFFFFFF0) + LANE
    bent = np.where(LANE == 31, 7, LANE)
    assert is_affine(words(3 * LANE, falling, large, 7, bent), ALL).tolist() == [True, True, True, False, False]
    assert is_scalar(words(3 * LANE, 7, np.where(LANE == 31, 6, 7)), ALL).tolist() == [False, True, False]


def test_only_live_lanes_count() -> None:
    even = np.arange(0, 32, 2)
    value = np.where(LANE % 2, 99, 10 + 3 * LANE)
    assert is_affine(words(value), even).tolist() == [True] and is_affine(words(value), ALL).tolist() == [False]
    odd = np.where(LANE % 4 == 0, LANE, LANE + np.uint32(1))
    assert is_affine(words(odd), even).tolist() == [False]
    assert is_scalar(words(np.where(LANE % 2, 1, 2)), even).tolist() == [True]
    assert is_affine(words(LANE), ALL[:1]).tolist() == [False], "one lane has no stride"


def test_results_sources_and_expansions_of_a_program() -> None:
    """Of four full results two are scalar and one is affine, of four sources two are; one of eight expands."""
    program: list[Step] = [
        *(op((), 0), op((), 1)),
        *(op((0, 1, 0), 2), BAR),  # R0, scalar, and R1
        *((op((0,), 3), 0b11), (op((), 0), 0b11)),  # R0 is read, then written in part
        op((0,), 0),  # R0 is not scalar when it is read
    ]
    lanes = np.where(LANE == 3, 100, LANE)
    found = measured(made(program, 7, LANE, lanes, 1, 7, 8))
    assert found == Measured(scalar=50, affine=25, partial=pytest.approx(100 / 3), sources=50, expansions=125)


def test_a_register_of_another_warp_is_not_scalar_and_a_guard_that_no_lane_passes_counts_nothing() -> None:
    trace = valued(hand_trace([op((), 0)], [(op((0,), 0), 0), op((0,), 1)]), [7, LANE])
    found = measured(trace)
    assert (found.scalar, found.affine, found.sources) == (50, 50, 0)


def test_a_result_of_all_live_lanes_is_full_and_a_value_that_is_not_known_is_zero() -> None:
    trace = hand_trace([op((), 0), op((0,), 1)])
    masks = np.array([0xFFFFFFFF, 0b110, 0b110], dtype=np.uint32)
    trace = valued(replace(trace, live=masks, active=masks, execute=masks), [LANE, 7])
    assert measured(trace).partial == 0 and measured(trace).scalar == 50
    unknown = replace(trace, value_row=np.array([-1, 1, -1]))
    assert measured(unknown).scalar == 100 and measured(unknown).sources == 100


def test_the_last_row_has_the_means_of_the_kernels() -> None:
    one, other = made([op((), 0)], 7), made([op((), 0), op((0,), 0)], LANE, 5)
    found = list(rows(("a", "b"), {"a": one, "b": other}.__getitem__))
    assert {len(row) for row in found} == {len(COLUMNS)}
    assert found == [
        ("a", "100.0%", "0.0%", "0.0%", "0.0%", "0.00"),
        ("b", "50.0%", "50.0%", "0.0%", "0.0%", "0.00"),
        ("mean", "75.0%", "25.0%", "0.0%", "0.0%", "0.00"),
    ]


@pytest.mark.parametrize("name", ["scan", "spmv", "fdtd"])
def test_a_machine_with_all_warps_and_lanes_counts_the_same(name: str) -> None:
    trace = kernel(name)
    cfg = make(lanes=32, warps=32, ctas=32, rows=1024, shared_bytes=1 << 16)
    run = run_scalar(cfg, trace, limit=200_000)
    counters, found = run.model.counters, measured(trace)
    assert counters["scalar_writes"] == int((kinds(trace)[1] == SCALAR).sum()) > 0
    assert found.sources == pytest.approx(100 * counters["scalar_reads"] / counters["bank_reads"])
    assert found.expansions == pytest.approx(1000 * counters["expansions"] / counters["instructions"])
