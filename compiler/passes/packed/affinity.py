"""Which registers are read together, and how often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import combinations

import numpy as np

from warpfile.compiler.cfg import build_cfg
from warpfile.compiler.memoized import memoized
from warpfile.compiler.model import Function
from warpfile.compiler.opcodes import is_known
from warpfile.compiler.passes.packed.frequency import frequencies
from warpfile.compiler.program import static_instruction
from warpfile.spec.trace import Trace

Edge = tuple[int, int]  #: two registers, the lower one first
Graph = Mapping[Edge, int]  #: by pair of registers, how often they are read together


@memoized
def expected(function: Function) -> Graph:
    """Every two source registers of an instruction, as often as it is expected to run; guards do not matter."""
    cfg = build_cfg(function)
    often = frequencies(cfg)
    known = ((index, one) for index, one in enumerate(function.instructions) if is_known(one.opcode))
    return _together((static_instruction(one).sources, often[cfg.block_of[index]]) for index, one in known)


def executed(trace: Trace) -> Graph:
    """The same of what the warps of a trace executed."""
    counts = np.bincount(trace.instruction, minlength=len(trace.program)).tolist()
    return _together((static.sources, count) for static, count in zip(trace.program, counts, strict=True) if count)


def _together(reads: Iterable[tuple[Iterable[int], int]]) -> Graph:
    found: Counter[Edge] = Counter()
    for registers, count in reads:
        for edge in combinations(sorted(set(registers)), 2):
            found[edge] += count
    return found
