"""Fences of a listing, from the trace to the address table (docs/schemes/larf.md, section 15)."""

from __future__ import annotations

from tests.golden.rf.shared.scenario import make, run_shared
from warpfile.spec.stress.warp_programs import Memory, WarpProgram, trace_of


def counters(fenced: bool) -> dict[str, int]:
    """Of a warp that loads a vector twice, with or without a fence between."""
    warp = WarpProgram(Memory())
    warp.address(0, 0x10000000)
    warp.load(2, (0, 1))
    if fenced:
        warp.fence()
    warp.load(3, (0, 1))
    warp.get(2, 3)
    return run_shared(make(), trace_of([warp])).model.counters


def test_a_load_behind_a_fence_goes_to_memory() -> None:
    found = counters(fenced=True)
    assert (found["misses"], found["hits_perfect"], found["table_flushes"]) == (2, 0, 1)


def test_without_a_fence_it_does_not() -> None:
    found = counters(fenced=False)
    assert (found["misses"], found["hits_perfect"], found["table_flushes"]) == (1, 1, 0)
