"""A reference interpreter of rewritten streams: it holds registers with lanes, and takes the extended set away.

It knows nothing of the pass. What an original instruction computes comes from the original trace; what it reads must
stand where the stream says, and every REL poisons the extended set in all lanes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from warpfile.spec.trace import LANES, Kind, StaticInstruction, Trace

_LANE = np.arange(LANES)
#: Numbers of values: never written, and lost.
NOBODY, POISON = 0, 1


@dataclass
class Warp:
    """Which value is in every lane of every register, by number: under the old names and in this stream."""

    old: np.ndarray
    new: np.ndarray
    held: bool = False


@dataclass
class Interpreter:
    """Runs the warps of a trace; ``wrong`` has a line for everything that must not happen."""

    base: int
    strict: bool = False  #: an ACQ while the section is held, a REL while it is not and an EXIT with it are wrong too
    wrong: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    _next: int = 2

    def run(self, trace: Trace) -> None:
        """Judge all warps of a trace."""
        for number in range(trace.warps):
            self.warp(trace, range(int(trace.warp_start[number]), int(trace.warp_start[number + 1])))

    def warp(self, trace: Trace, records: Iterable[int]) -> None:
        """Judge one warp."""
        warp = Warp(*(np.zeros((256, LANES), dtype=np.int64) for _ in range(2)))
        for record in records:
            static, execute = trace.program[trace.instruction[record]], int(trace.execute[record])
            if static.kind == Kind.SCHEME:
                self._pseudo(warp, static, record)
            elif execute:
                lanes = (execute >> _LANE & 1).astype(bool)
                self._access(warp, static, record)
                self._execute(warp, trace, static, lanes, record)
            if static.kind == Kind.BARRIER and warp.held:
                self.wrong.append(f"{record}: waits at a barrier with the section")
        if self.strict and warp.held:
            self.wrong.append(f"{record}: ends with the section")

    def _pseudo(self, warp: Warp, static: StaticInstruction, record: int) -> None:
        acquires = bool(static.operand)
        self.counts["ACQ" if acquires else "REL"] += 1
        if acquires == warp.held:
            self.counts["again"] += 1
            if self.strict:
                self.wrong.append(f"{record}: {static.text} changes nothing")
        elif not acquires:
            warp.new[self.base :] = POISON
        warp.held = acquires

    def _access(self, warp: Warp, static: StaticInstruction, record: int) -> None:
        high = [register for register in (*static.sources, *static.dests) if register >= self.base]
        self.counts["extended"] += bool(high)
        if high and not warp.held:
            self.wrong.append(f"{record}: {static.text} accesses R{high[0]} without a section")

    def _execute(self, warp: Warp, trace: Trace, static: StaticInstruction, lanes: np.ndarray, record: int) -> None:
        if static.inserted:
            self._moved(warp, static, lanes)
            return
        before = trace.program[static.origin] if static.origin >= 0 else static
        for old, new in zip(before.sources, static.sources, strict=True):
            wanted, found = warp.old[old][lanes], warp.new[new][lanes]
            if np.any((wanted != found) & (wanted != NOBODY)):
                self.wrong.append(f"{record}: {static.text} does not find in R{new} what was in R{old}")
        for old, new in zip(before.dests, static.dests, strict=True):
            warp.old[old][lanes] = warp.new[new][lanes] = self._next
            self._next += 1

    @staticmethod
    def _moved(warp: Warp, static: StaticInstruction, lanes: np.ndarray) -> None:
        """A move copies the number; three exclusive ors exchange two, because numbers are exchanged the same way."""
        sources = warp.new[list(static.sources)][:, lanes]
        result = sources[0] if len(static.sources) == 1 else sources[0] ^ sources[1]
        warp.new[static.dest][lanes] = result


def judged(trace: Trace, strict: bool = False) -> Interpreter:
    """The verdict about a rewritten trace, by its descriptor."""
    interpreter = Interpreter(trace.descriptor["base_registers"], strict)
    if trace.descriptor["extended_registers"]:
        interpreter.run(trace)
    return interpreter
