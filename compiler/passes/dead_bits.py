"""Dead bits of executed instructions: masks of the distinct sources that are dead behind each."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

import numpy as np

from warpfile.compiler.passes.last_reads import bit_mask
from warpfile.spec.beat import distinct_sources
from warpfile.spec.trace import Trace


def of_records(trace: Trace, masks: Mapping[int, int]) -> np.ndarray:
    """int64[n]: by executed instruction the mask of its offset, or 0."""
    return np.array([masks.get(static.offset, 0) for static in trace.program], dtype=np.int64)[trace.instruction]


def dead_by_stream(trace: Trace) -> np.ndarray:
    """int64[n]: by executed instruction, without a listing: what no lane of the warp reads before all write it."""
    found = np.zeros(trace.records, dtype=np.int64)
    sources = [distinct_sources(static.sources) for static in trace.program]
    for start, end in zip(trace.warp_start[:-1].tolist(), trace.warp_start[1:].tolist(), strict=True):
        for record, live in _live_behind(trace, start, end):
            found[record] = bit_mask(register not in live for register in sources[trace.instruction[record]])
    return found


def _live_behind(trace: Trace, start: int, end: int) -> Iterator[tuple[int, set[int]]]:
    """Records of a warp that execute, the last one first, with the registers that are read behind them."""
    live: set[int] = set()
    for record in range(end - 1, start - 1, -1):
        static = trace.program[trace.instruction[record]]
        if trace.execute[record]:
            yield record, live
            if trace.execute[record] == trace.live[record]:
                live -= set(static.dests)
            live |= set(static.sources)


def random_subset(rng: random.Random, masks: np.ndarray) -> np.ndarray:
    """Some of the dead bits."""
    kept = [rng.getrandbits(16) for _ in masks]
    return masks & np.array(kept, dtype=np.int64)
