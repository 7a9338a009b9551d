"""Near hints from the listing beside those from what was executed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.compiler.generated import graph, structured
from tests.compiler.passes.malekeh.test_exact import ALL, trace_of
from tests.emulator.harness import run
from warpfile.compiler import parse
from warpfile.compiler.cfg import Cfg
from warpfile.compiler.model import Function
from warpfile.compiler.passes.malekeh.exact import distances, near_from_distances
from warpfile.compiler.passes.malekeh.static import near_hints
from warpfile.compiler.program import static_instructions
from warpfile.spec.trace import Trace
from warpfile.workloads.inputs import bundled_kernels, executed

THRESHOLDS = (1, 2, 4, 8, 16)


def hinted(function: Function, trace: Trace, threshold: int) -> np.ndarray:
    """Near bits of sources and destinations of every record, from the listing."""
    hints = near_hints(function, threshold=threshold)
    masks = np.zeros((len(trace.program), 2), dtype=np.uint16)
    for index, static in enumerate(trace.program):
        if static.offset in hints:
            masks[index] = hints[static.offset].sources, hints[static.offset].dests
    return masks[trace.instruction]


def measured(trace: Trace, threshold: int) -> np.ndarray:
    """Near bits of sources and destinations of every record, from the trace."""
    return np.stack(near_from_distances(distances(trace), threshold), axis=1)


@st.composite
def straight_lines(draw: st.DrawFn) -> str:
    """Code without guards and branches, with operands of one to four registers."""

    def register(size: int) -> str:
        return f"R{draw(st.integers(1, 8 // size)) * size}"

    lines = []
    for _ in range(draw(st.integers(1, 25))):
        texts = (
            lambda: f"IADD3 {register(1)}, {register(1)}, {register(1)}, RZ",
            lambda: f"FFMA {register(1)}, {register(1)}, {(again := register(1))}, {again}",
            lambda: f"MOV {register(1)}, 0x1",
            lambda: f"IMAD.WIDE {register(2)}, {register(1)}, {register(1)}, {register(2)}",
            lambda: f"DFMA {register(2)}, {register(2)}, {register(2)}, {register(2)}",
            lambda: f"LDG.E.128.SYS {register(4)}, [{register(2)}]",
            lambda: f"STG.E.64.SYS [{register(2)}], {register(2)}",
            lambda: f"ISETP.LT.AND P0, PT, {register(1)}, {register(1)}, PT",
            lambda: "NOP",
        )
        lines.append(draw(st.sampled_from(texts))())
    return "\n".join(lines)


@settings(max_examples=100, deadline=None)
@given(straight_lines())
def test_straight_code_without_guards_has_exact_hints(code: str) -> None:
    function = graph(code).function
    program = static_instructions(function)
    trace = trace_of(program, [(index, ALL, ALL) for index in range(len(program))])
    for threshold in THRESHOLDS:
        assert np.array_equal(hinted(function, trace, threshold), measured(trace, threshold))


def run_by_one_lane(code: str) -> tuple[Cfg, Trace]:
    cfg, records = graph(code), run(code, live=1).records
    stream = list(zip(records.instruction, records.execute, records.live, strict=True))
    return cfg, trace_of(static_instructions(cfg.function), stream)


@settings(max_examples=60, deadline=None)
@given(structured())
def test_what_a_single_lane_reads_again_soon_is_near_in_the_listing(code: str) -> None:
    cfg, trace = run_by_one_lane(code)
    for threshold in THRESHOLDS:
        assert not np.any(measured(trace, threshold) & ~hinted(cfg.function, trace, threshold))


def test_hints_for_a_lower_threshold_miss_what_is_read_again_soon() -> None:
    cfg, trace = run_by_one_lane("MOV R2, 0x1\nNOP\nIADD3 R3, R2, RZ, RZ")
    assert np.any(measured(trace, 2) & ~hinted(cfg.function, trace, 1))


def converged(trace: Trace) -> Sequence[int]:
    """Records of the warps that never ran with some of their lanes only."""
    together = trace.active == trace.live
    spans = zip(trace.warp_start[:-1].tolist(), trace.warp_start[1:].tolist(), strict=True)
    return [record for start, end in spans if together[start:end].all() for record in range(start, end)]


@pytest.mark.parametrize("kernel", ["bytes_vector", "conv_layer", "matmul_tiled", "scan", "tensor", "wide_accumulate"])
def test_what_converged_warps_of_a_kernel_read_again_soon_is_near_in_the_listing(kernel: str) -> None:
    trace = executed(bundled_kernels()[kernel], "launch", None, lambda *_: None)
    function = parse(trace.listing, kernel).function(trace.kernel)
    records = converged(trace)
    assert records
    for threshold in THRESHOLDS:
        exact, static = measured(trace, threshold)[records], hinted(function, trace, threshold)[records]
        assert not np.any(exact & ~static)
        assert np.any(exact)
