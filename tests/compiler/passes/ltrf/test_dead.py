"""Dead operand bits: nothing is read that may be lost, whenever the warp leaves its registers behind."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from tests.compiler.generated import graph, structured
from tests.compiler.irregular import irregular
from tests.compiler.passes.lost import judged
from tests.compiler.passes.ltrf.harness import KERNELS, function_of, kernel, traced
from tests.emulator.harness import run
from warpfile.compiler.operands import effects, source_operands
from warpfile.compiler.passes.dead_bits import dead_by_stream
from warpfile.compiler.passes.ltrf.dead import dead_by_listing, dead_operands
from warpfile.spec.stress import PROFILES, stress_trace


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_read_nothing_that_is_lost(name: str) -> None:
    trace = kernel(name)
    honoured, misses = judged(trace, dead_by_listing(trace, function_of(name)))
    assert honoured and not misses
    assert not judged(trace, dead_by_stream(trace))[1]


def test_the_stream_knows_more_than_the_listing() -> None:
    trace = kernel("matmul_tiled")
    known = judged(trace, dead_by_listing(trace, function_of("matmul_tiled")))[0]
    assert judged(trace, dead_by_stream(trace))[0] > known


@settings(max_examples=60, deadline=None, derandomize=True)
@given(structured())
def test_generated_code_reads_nothing_that_is_lost(code: str) -> None:
    function = graph(code).function
    trace = traced(function, run(code, live=0xFFFF).records)
    assert not judged(trace, dead_by_listing(trace, function))[1]
    assert not judged(trace, dead_by_stream(trace))[1]


def test_irregular_code_reads_nothing_that_is_lost() -> None:
    count = 0
    for seed in range(150):
        execution = irregular(seed)
        trace = traced(execution.function, execution.records)
        honoured, misses = judged(trace, dead_by_listing(trace, execution.function))
        assert not misses, seed
        count += honoured
    assert count > 150


@pytest.mark.parametrize("profile", PROFILES)
def test_stress_traces_read_nothing_that_is_lost(profile: str) -> None:
    trace = stress_trace(3, profile=profile, length=200, registers=12)
    honoured, misses = judged(trace, dead_by_stream(trace))
    assert honoured and not misses
    assert judged(trace, np.full(trace.records, 0xFFFF))[1]


def test_without_the_rule_about_lanes_elsewhere_kernels_read_what_is_lost() -> None:
    names = ("bfs_step", "collatz", "bytecode")
    assert any(judged(kernel(one), dead_by_listing(kernel(one), function_of(one)), always=True)[1] for one in names)


def test_a_wrong_bit_is_found() -> None:
    trace, noticed = kernel("scan"), 0
    masks = dead_by_listing(trace, function_of("scan"))
    for index in set(trace.instruction.tolist()):
        more = np.where(trace.instruction == index, 0xFFFF, masks)
        noticed += judged(trace, more)[1] > 0
    assert noticed > 10


def test_a_wide_operand_is_dead_if_all_its_registers_are() -> None:
    function = graph("STG.E.64.SYS [R2.64], R4\nMOV R8, R3\nMOV R9, R5\nSTG.E.SYS [R8.64], R9").function
    assert dead_operands(function)[0] == 0
    function = graph("STG.E.64.SYS [R2.64], R4\nMOV R8, R3").function
    assert dead_operands(function)[0] == 0b1100


def test_a_register_of_two_operands_is_dead_by_either() -> None:
    function = graph("IMAD.WIDE R6, R4, R5, R4\nMOV R8, R5").function
    assert dead_operands(function)[0] == 0b01


@pytest.mark.parametrize("name", ["calls", "tensor", "mathlib", "divide_double"])
def test_operands_have_the_sources_of_their_instruction(name: str) -> None:
    for one in function_of(name).instructions:
        assert [register for operand in source_operands(one) for register in operand] == list(effects(one).uses)
