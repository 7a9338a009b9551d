"""PREFETCH in the streams of warps: every register of every instruction is in the set that was fetched last."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.compiler.generated import graph, structured
from tests.compiler.irregular import irregular
from tests.compiler.passes.ltrf.harness import KERNELS, function_of, kernel, misses, traced
from tests.compiler.passes.malekeh.test_exact import ALL, trace_of
from tests.emulator.harness import run
from tests.golden.scenario import op
from warpfile.compiler.cfg import STEP
from warpfile.compiler.passes.ltrf.code import Code, code_of
from warpfile.compiler.passes.ltrf.executed_code import observed
from warpfile.compiler.passes.ltrf.intervals import intervals
from warpfile.compiler.passes.ltrf.placement import EXPLICIT, IMPLICIT, insertions
from warpfile.compiler.passes.ltrf.strands import strands
from warpfile.compiler.passes.ltrf.units import NONE, Units
from warpfile.emulator.launch import load_kernel
from warpfile.emulator.run import execute
from warpfile.spec.rewrite import rewritten
from warpfile.spec.trace import Drain, StaticInstruction, Trace

FORMS = {"intervals": intervals, "strands": strands}
Form = Callable[[Code, int], Units]


def placed(trace: Trace, units: Units, listed: bool = True) -> Trace:
    places = [static.offset // STEP if listed else k for k, static in enumerate(trace.program)]
    return rewritten(trace, list(insertions(trace, units, places)))


def counts(trace: Trace) -> Counter[str]:
    return Counter(trace.program[index].opcode for index in trace.instruction[trace.inserted].tolist())


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("name", KERNELS)
def test_kernels_find_every_register(name: str, form: Form) -> None:
    trace, code = kernel(name), code_of(function_of(name))
    for limit in (16, 32):
        assert not list(misses(placed(trace, form(code, limit)), limit))


@pytest.mark.regress
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("name", KERNELS)
def test_large_launches_find_every_register(name: str, form: Form) -> None:
    trace = execute(load_kernel(KERNELS[name], "large")).trace
    assert not list(misses(placed(trace, form(code_of(function_of(name)), 16)), 16))


@pytest.mark.parametrize("name", ["calls", "spmv", "divide_double", "matmul_tiled"])
def test_kernels_without_a_listing_find_every_register(name: str) -> None:
    trace = kernel(name)
    assert not list(misses(placed(trace, intervals(observed(trace), 16), listed=False), 16))


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_irregular_code_finds_every_register(form: Form) -> None:
    found: Counter[str] = Counter()
    for seed in range(300):
        execution = irregular(seed)
        result = placed(traced(execution.function, execution.records), form(code_of(execution.function), 6))
        assert not list(misses(result, 6)), seed
        found += counts(result)
    assert found[IMPLICIT] > 20 and found[EXPLICIT] > 500


@settings(max_examples=60, deadline=None, derandomize=True)
@given(structured(), st.sampled_from((4, 6, 8)), st.sampled_from(sorted(FORMS)))
def test_generated_code_finds_every_register(code: str, limit: int, form: str) -> None:
    function = graph(code).function
    trace = traced(function, run(code, live=0xFFFF).records)
    assert not list(misses(placed(trace, FORMS[form](code_of(function), limit)), limit))


def test_a_lost_prefetch_is_found() -> None:
    trace = kernel("calls")
    places = [static.offset // STEP for static in trace.program]
    found = list(insertions(trace, intervals(code_of(function_of("calls")), 16), places))
    kinds = {opcode: [one for one in found if one.instruction.opcode == opcode] for opcode in (EXPLICIT, IMPLICIT)}
    assert not list(misses(rewritten(trace, found), 16))
    assert all(list(misses(rewritten(trace, kept), 16)) for kept in kinds.values())
    losses = [any(misses(rewritten(trace, found[:k] + found[k + 1 :]), 16)) for k in range(0, len(found), 5)]
    assert sum(losses) > len(losses) // 3  # the others bring nothing that is used before the next


def test_a_register_that_a_set_lacks_is_found() -> None:
    trace, units = kernel("collatz"), intervals(code_of(function_of("collatz")), 16)
    short = replace(units, sets=tuple(one & (one - 1) for one in units.sets))
    assert list(misses(placed(trace, short), 16))


def test_a_prefetch_waits_until_nothing_of_its_warp_is_in_flight() -> None:
    result = placed(kernel("saxpy"), intervals(code_of(function_of("saxpy")), 16))
    assert {static.drain for static in result.program if static.inserted} == {Drain.EMPTY}


LOOP = """MOV R2, 0x3
    top:
    IADD3 R2, R2, -0x1, RZ
    ISETP.NE.AND P0, PT, R2, RZ, PT
    @P0 BRA `(top)
    MOV R3, R2"""


def fetched(code: str, form: Form, limit: int, live: int = ALL) -> list[tuple[int, str, int]]:
    """Every PREFETCH of a program that one warp executes: in front of which instruction, how, and what."""
    function = graph(code).function
    trace = placed(traced(function, run(code, live=live).records), form(code_of(function), limit))
    assert not list(misses(trace, limit))
    pairs = pairwise(trace.program[index] for index in trace.instruction.tolist())
    return [(after.offset // STEP, one.opcode, one.operand) for one, after in pairs if one.inserted]


def test_a_loop_in_an_interval_fetches_once() -> None:
    assert fetched(LOOP, intervals, 2) == [(0, EXPLICIT, 0b1100)]
    assert fetched(LOOP.replace("R3, R2", "R3, 0x1"), intervals, 1) == [(0, EXPLICIT, 0b0100), (4, EXPLICIT, 0b1000)]


def test_a_strand_fetches_in_every_round_of_a_loop() -> None:
    assert [place for place, _, _ in fetched(LOOP, strands, 2)] == [0, 1, 1, 1, 4]


def test_lanes_in_the_middle_of_another_unit_fetch_without_an_instruction_of_the_code() -> None:
    """Lane 0 parks in the first interval, lane 1 enters the second one, and lane 0 goes on where it is."""
    trace = traced_by([op((), 1), op((), 2), op((), 3)], [(0, ALL), (2, 2), (1, 1), (2, 1)])
    units = Units((0, 0, 1), (0, 2), (0b0110, 0b1000), False, frozenset())
    found = [(one.record, one.instruction.opcode) for one in insertions(trace, units, range(3))]
    assert found == [(0, EXPLICIT), (1, EXPLICIT), (2, IMPLICIT), (3, EXPLICIT)]


def test_lanes_that_enter_an_interval_fetch_although_others_have_it() -> None:
    """Lane 1 waits in front of the loop while lane 0 is in it, and enters it then."""
    program = [op((), 1), op((), 2), op((2,), 2)]
    stream = [(0, ALL), (1, 1), (2, 1), (1, 1), (1, 2), (2, 2), (2, 1)]
    trace = traced_by(program, stream)
    units = Units((0, 1, 1), (0, 1), (0b010, 0b100), False, frozenset())
    found = [(one.record, one.instruction.opcode, one.active) for one in insertions(trace, units, range(3))]
    assert found == [(0, EXPLICIT, ALL), (1, EXPLICIT, 1), (4, EXPLICIT, 2)]


def test_a_call_without_registers_keeps_what_is_near_and_its_callee_is_entered() -> None:
    code = Code((0b10, 0, 0b10), (0, 1, 2), frozenset({(0, 1), (1, 2)}), frozenset({0}), frozenset({0, 1, 2}),
                frozenset({1}))  # fmt: skip
    units = intervals(code, 4)
    trace = traced_by([op((), 1), op(), op((), 1)], [(0, ALL), (1, ALL), (0, ALL), (1, ALL), (2, ALL)])
    found = [(one.record, one.instruction.opcode) for one in insertions(trace, units, range(3))]
    assert found == [(0, EXPLICIT), (2, EXPLICIT), (4, EXPLICIT)]


def test_code_that_no_edge_leads_to_is_refused() -> None:
    units = Units((0, NONE), (0,), (0b10,), False, frozenset())
    with pytest.raises(ValueError, match="'TEST' must be reached over the edges of the code"):
        list(insertions(traced_by([op((), 1), op()], [(0, ALL), (1, ALL)]), units, range(2)))


def traced_by(program: list[StaticInstruction], stream: list[tuple[int, int]]) -> Trace:
    """One warp, all of whose lanes are there to the end."""
    return trace_of(program, [(index, mask, ALL) for index, mask in stream])
