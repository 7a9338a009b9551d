"""Bundled kernels with PREFETCH in their streams, and what their warps find near."""

from __future__ import annotations

from collections.abc import Iterator

from tests.compiler.passes.regmutex.harness import KERNELS, kernel, traced
from warpfile.compiler.model import Function
from warpfile.compiler.passes.trace_listing import listed_function
from warpfile.spec.trace import Kind, Trace

__all__ = ["KERNELS", "function_of", "kernel", "misses", "traced", "vectors"]


def function_of(name: str) -> Function:
    """The function that a bundled kernel's trace was executed from."""
    function = listed_function(kernel(name))
    assert function is not None
    return function


def vectors(trace: Trace) -> list[int]:
    """By record, the set that the warp's last PREFETCH named; -1 where it has executed none."""
    found, near = [], -1
    starts = set(trace.warp_start[:-1].tolist())
    for record, index in enumerate(trace.instruction.tolist()):
        static = trace.program[index]
        near = -1 if record in starts else near
        if static.kind is Kind.SCHEME:
            near = static.operand
        found.append(near)
    return found


def misses(trace: Trace, limit: int) -> Iterator[str]:
    """Accesses of registers that are not in the set that was fetched, and sets that are too large."""
    for near, index in zip(vectors(trace), trace.instruction.tolist(), strict=True):
        static = trace.program[index]
        missing = [one for one in {*static.sources, *static.dests} if near < 0 or not near >> one & 1]
        if missing or max(near, 0).bit_count() > limit:
            yield f"{static.text} needs {missing}, of {near:#x}"
