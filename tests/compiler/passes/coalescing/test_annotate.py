"""Kill bits: no lane reads what was killed, and nothing is killed that its instruction writes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from tests.compiler.generated import graph, structured
from tests.compiler.irregular import irregular
from tests.compiler.passes.lost import carried, judged
from tests.compiler.passes.ltrf.harness import KERNELS, function_of, kernel, traced
from tests.emulator.harness import run
from warpfile.compiler.passes.coalescing.annotate import kills, kills_by_listing, kills_by_stream, shown
from warpfile.compiler.passes.dead_bits import of_records
from warpfile.schemes import SCHEMES
from warpfile.spec.beat import distinct_sources
from warpfile.spec.rewrite import rewritten
from warpfile.spec.stress import PROFILES, stress_trace
from warpfile.spec.trace import Trace

VIRTUAL = SCHEMES["virtualization"]


def written(trace: Trace, masks: np.ndarray) -> int:
    """Kill bits of registers that their instruction writes."""
    statics = (trace.program[index] for index in trace.instruction.tolist())
    return sum(
        mask >> bit & 1 and register in static.dests
        for static, mask in zip(statics, masks.tolist(), strict=True)
        for bit, register in enumerate(distinct_sources(static.sources))
    )


def faults(trace: Trace, masks: np.ndarray) -> int:
    """Reads of what was killed, and kills of what is written."""
    return judged(trace, masks)[1] + written(trace, masks)


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_read_nothing_that_was_killed(name: str) -> None:
    trace, scheme = kernel(name), SCHEMES["corf_virtual"]
    cfg = scheme.configuration("fermi", register_names=256)
    found = scheme.annotated(cfg, trace)
    masks = carried(cfg, found, "kill")
    assert masks.any() and not faults(found, masks)
    assert masks[~found.inserted].tolist() == of_records(trace, kills_by_listing(function_of(name))).tolist()
    assert not masks[found.inserted].any()
    assert not faults(trace, kills_by_stream(trace))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(structured())
def test_generated_code_reads_nothing_that_was_killed(code: str) -> None:
    function = graph(code).function
    trace = traced(function, run(code, live=0xFFFF).records)
    assert not faults(trace, of_records(trace, kills_by_listing(function)))
    assert not faults(trace, kills_by_stream(trace))


def test_irregular_code_reads_nothing_that_was_killed() -> None:
    honoured = 0
    for seed in range(150):
        execution = irregular(seed)
        trace = traced(execution.function, execution.records)
        masks = of_records(trace, kills_by_listing(execution.function))
        assert not faults(trace, masks), seed
        honoured += judged(trace, masks)[0]
    assert honoured > 100


@pytest.mark.parametrize("profile", PROFILES)
def test_stress_traces_read_nothing_that_was_killed(profile: str) -> None:
    trace = stress_trace(3, profile=profile, length=200, registers=12)
    masks = kills_by_stream(trace)
    assert masks.any() and not faults(trace, masks)
    assert judged(trace, np.full(trace.records, 0xFFFF))[1] and written(trace, np.full(trace.records, 0xFFFF))


def test_a_kill_too_many_is_found() -> None:
    trace, noticed = kernel("scan"), 0
    masks = kills(trace)
    for index in set(trace.instruction.tolist()):
        noticed += faults(trace, np.where(trace.instruction == index, 0xFFFF, masks)) > 0
    assert noticed > 10


def test_a_kill_where_lanes_are_elsewhere_is_found() -> None:
    assert any(
        judged(kernel(name), kills(kernel(name)), always=True)[1] for name in ("bfs_step", "collatz", "bytecode")
    )


CODE = """MOV R2, 0x1
    IADD3 R3, R2, R2, RZ
    IADD3 R3, R3, R2, RZ
    @P0 IADD3 R4, R3, R5, RZ
    STS [R4], R6
    STS [R5], R6"""


def test_the_last_read_kills_unless_the_instruction_writes() -> None:
    assert kills_by_listing(graph(CODE).function) == {0x10: 0, 0x20: 0b10, 0x30: 0b01, 0x40: 0b01, 0x50: 0b11}


def test_what_the_stream_executes_tells_more_than_a_listing() -> None:
    code = "MOV R2, 0x1\nIADD3 R3, R2, 0x3, RZ\n@P0 BRA `(end)\nIADD3 R3, R2, 0x7, RZ\nend:\nSTS [R3], RZ"
    function = graph(code).function
    trace = traced(function, run(code, predicates={0: 0xFFFFFFFF}).records)
    assert of_records(trace, kills_by_listing(function))[1] == 0
    assert kills_by_stream(trace)[1] == 1


CALLS = """MOV R2, 0x1
    MOV R3, 0x2
    IADD3 R4, R2, R3, RZ
    {call}
    MOV R2, 0x3
    EXIT
    sub:
    IADD3 R5, R4, R4, RZ
    RET.REL.NODEC R20 `(k)"""


def test_nothing_is_killed_before_a_call_or_a_return() -> None:
    assert kills_by_listing(graph(CALLS.format(call="NOP")).function)[0x20] == 0b11
    found = kills_by_listing(graph(CALLS.format(call="CALL.REL.NOINC `(sub)")).function)
    assert found[0x20] == found[0x60] == 0


@pytest.mark.parametrize("slots", [2, 3, 8])
def test_kills_are_on_the_beats_of_their_registers(slots: int) -> None:
    cfg = VIRTUAL.configuration("fermi", source_slots=slots)
    found = VIRTUAL.annotated(cfg, kernel("tensor"))
    assert carried(cfg, found, "kill").tolist() == kills(kernel("tensor")).tolist()


def test_a_seed_leaves_some_kills_out() -> None:
    cfg, trace = VIRTUAL.configuration("fermi"), kernel("spmv")
    everything, some, others = (carried(cfg, VIRTUAL.annotated(cfg, trace, seed), "kill") for seed in (None, 1, 2))
    assert not (some & ~everything).any() and some.any() and (some != everything).any() and (some != others).any()


def test_without_a_listing_or_with_other_names_the_stream_tells() -> None:
    trace = kernel("matmul_tiled")
    by_stream = kills_by_stream(trace)
    assert (kills(trace) != by_stream).any()
    assert (kills(replace(trace, listing="")) == by_stream).all()
    names = {register: register ^ 4 for register in range(32)}
    renamed = rewritten(trace, renamings=[names], renaming=np.zeros(trace.records, dtype=np.int64))
    assert (kills(renamed) == by_stream).all()


def test_kills_of_a_listing_are_shown() -> None:
    function = function_of("saxpy")
    assert shown(function, VIRTUAL.configuration("fermi")) == {
        offset: mask for offset, mask in kills_by_listing(function).items() if mask
    }
    assert not shown(function, SCHEMES["corf"].configuration("fermi"))
