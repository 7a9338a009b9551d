"""How long units are: executed instructions from PREFETCH to PREFETCH, and what PREFETCH adds to the code.

M. Sadrosadati et al., ASPLOS 2018, section 6.5 (Table 4) and 4.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from warpfile.compiler.passes.ltrf.code import Code
from warpfile.compiler.passes.ltrf.units import NONE, Units
from warpfile.spec.trace import Trace

VECTOR_WORDS = 2  #: instructions of 128 bits whose room a set of 256 registers takes


@dataclass(frozen=True)
class Lengths:
    """How many runs there are, how many instructions they have together, and at least and at most."""

    count: int
    instructions: int
    shortest: int
    longest: int

    @property
    def average(self) -> float:
        """Instructions per run."""
        return self.instructions / self.count

    @classmethod
    def of(cls, runs: Iterable[int]) -> Lengths:
        """Of these runs; there is one at least."""
        found = list(runs)
        return cls(len(found), sum(found), min(found), max(found))


def real_lengths(trace: Trace) -> Lengths:
    """Executed instructions from each PREFETCH of a warp to its next one, or to its end."""
    starts = np.zeros(trace.records, dtype=bool)
    starts[trace.warp_start[:-1]] = True
    runs = np.bincount(np.cumsum(trace.inserted | starts)[~trace.inserted])
    return Lengths.of(runs[runs > 0].tolist())


def optimal_lengths(trace: Trace, limit: int) -> Lengths:
    """Executed instructions of the longest runs of each warp that name at most ``limit`` registers, end to end.

    The trace is the original.
    """
    sets = [sum(1 << one for one in {*static.sources, *static.dests}) for static in trace.program]
    of_records = [sets[index] for index in trace.instruction.tolist()]
    warps = zip(trace.warp_start[:-1].tolist(), trace.warp_start[1:].tolist(), strict=True)
    return Lengths.of(run for start, end in warps for run in _greedy(of_records[start:end], limit))


def _greedy(sets: Iterable[int], limit: int) -> Iterator[int]:
    have = count = 0
    for one in sets:
        if (have | one).bit_count() > limit:
            yield count
            have = count = 0
        have, count = have | one, count + 1
    yield count


@dataclass(frozen=True)
class Growth:
    """Instructions of the code that control can reach, each PREFETCH in it, and jumps around one."""

    instructions: int
    prefetches: int
    jumps: int

    def by(self, *, opcode: bool) -> float:
        """Share by which the code grows, if a set follows an instruction of its own or a bit in the one before."""
        return (self.prefetches * (VECTOR_WORDS + opcode) + self.jumps) / self.instructions


def growth(code: Code, units: Units) -> Growth:
    """What PREFETCH adds to the code: one per unit, and a jump where an interval falls through to its own head."""
    loops = (head for unit, head in enumerate(units.heads) if head and units.of[head - 1] == unit)
    jumps = 0 if units.repeats else sum(head in code.behind(head - 1) for head in loops)
    reached = sum(unit != NONE for unit in units.of)
    return Growth(reached, len(units.heads) - len(units.silent), jumps)
