"""Dead operand bits: sources whose registers need not be kept behind an instruction.

M. Sadrosadati et al., ASPLOS 2018, section 3.2. A bit tells of the lanes that are there; the hardware honours it only
if these are all that have not exited. An instruction that also writes the register makes it live again.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from warpfile.compiler.cfg import STEP
from warpfile.compiler.model import Function
from warpfile.compiler.operands import source_operands
from warpfile.compiler.passes.last_reads import bit_mask, dead_sources
from warpfile.spec.beat import distinct_sources
from warpfile.spec.trace import Trace


def dead_operands(function: Function) -> dict[int, int]:
    """By offset, the mask of the distinct sources that an operand marks as dead.

    An operand has one bit, set if all its registers are dead. What is live: :func:`..last_reads.dead_sources`.
    """
    found = {}
    for offset, mask in dead_sources(function).items():
        operands = source_operands(function.instructions[offset // STEP])
        sources = distinct_sources(register for operand in operands for register in operand)
        dead = {register for bit, register in enumerate(sources) if mask >> bit & 1}
        marked = {register for operand in operands if dead.issuperset(operand) for register in operand}
        found[offset] = bit_mask(register in marked for register in sources)
    return found


def dead_by_listing(trace: Trace, function: Function) -> np.ndarray:
    """int64[n]: by executed instruction, the mask of its distinct sources that are dead behind it."""
    masks = dead_operands(function)
    return np.array([masks.get(static.offset, 0) for static in trace.program], dtype=np.int64)[trace.instruction]


def dead_by_stream(trace: Trace) -> np.ndarray:
    """The same without a listing, and register by register: what no lane of the warp reads before all write it."""
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
