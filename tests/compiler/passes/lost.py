"""What a warp reads although it was lost: the judge of dead bits."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from warpfile.spec.beat import distinct_sources
from warpfile.spec.config import Config
from warpfile.spec.trace import Trace

ALL = (1 << 32) - 1


class Liveness:
    """The liveness vector of a warp, and what is lost: all lanes of a register at the moment at which it is dead.

    A dead register may be left behind at any later time; to be lost at once is the worst that can happen. A write makes
    the register live, and its lanes good again.
    """

    def __init__(self) -> None:
        self.lost: dict[int, int] = {}
        self.honoured = self.misses = 0

    def record(self, sources: Iterable[int], dests: Iterable[int], dead: int, masks: tuple[int, int, int]) -> None:
        execute, active, live = masks
        self.misses += sum(bool(self.lost.get(one, 0) & execute) for one in sources)
        for bit, one in enumerate(distinct_sources(sources)):
            if dead >> bit & 1 and active == live and one not in dests:
                self.lost[one] = ALL
                self.honoured += 1
        for one in dests:
            self.lost[one] = self.lost.get(one, 0) & ~execute


def judged(trace: Trace, dead: np.ndarray, always: bool = False) -> tuple[int, int]:
    """Bits that were honoured, and reads of what was lost; ``always``: also where some lanes are elsewhere."""
    honoured = misses = 0
    columns = [column.tolist() for column in (trace.instruction, dead, trace.execute, trace.active, trace.live)]
    for start, end in zip(trace.warp_start[:-1].tolist(), trace.warp_start[1:].tolist(), strict=True):
        warp = Liveness()
        for index, mask, execute, active, live in zip(*(column[start:end] for column in columns), strict=True):
            static = trace.program[index]
            if execute:
                warp.record(static.sources, static.dests, mask, (execute, active, active if always else live))
        honoured, misses = honoured + warp.honoured, misses + warp.misses
    return honoured, misses


def carried(cfg: Config, trace: Trace, hint: str) -> np.ndarray:
    """By record, the mask of distinct sources that its beats carry under a hint."""
    found, beat, slots = [], 0, (1 << cfg.source_slots) - 1
    for index in trace.instruction.tolist():
        count = max(1, -(-len(distinct_sources(trace.program[index].sources)) // cfg.source_slots))
        words = [int(word) >> cfg.hint_at(hint) & slots for word in trace.hints[beat : beat + count]]
        found.append(sum(word << cfg.source_slots * place for place, word in enumerate(words)))
        beat += count
    assert beat == len(trace.hints)
    return np.array(found)
