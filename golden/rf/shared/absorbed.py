"""Loads that are absorbed and not complete (docs/schemes/larf.md, sections 9 and 16)."""

from __future__ import annotations

from warpfile.golden.arbiter import indices, lowest
from warpfile.golden.completion import Completion
from warpfile.golden.copies import Latest
from warpfile.golden.operands import StaleOperand
from warpfile.golden.rf.shared.contents import Contents
from warpfile.golden.rf.shared.counts import Counts
from warpfile.golden.rf.shared.probes import Probes
from warpfile.spec.beat import Beat
from warpfile.spec.schemes.shared import SharedConfig
from warpfile.spec.stimulus import Result


class Absorbed:
    """An absorbed load, and the row that has its words, or will."""

    __slots__ = ("beat", "row", "warp")

    def __init__(self, warp: int, beat: Beat, row: int) -> None:
        self.warp, self.beat, self.row = warp, beat, row


class AbsorbedList:
    """``valid`` entries, and those of them that are ``waiting`` for their row, as masks that change at the edge."""

    def __init__(self, cfg: SharedConfig, counts: Counts, contents: Contents, latest: Latest, probes: Probes) -> None:
        self.valid = self.waiting = 0
        self._all = (1 << cfg.absorbed_loads) - 1
        self._entries: list[Absorbed | None] = [None] * cfg.absorbed_loads
        self._added = self._done = 0
        self._counts, self._contents, self._latest, self._probes = counts, contents, latest, probes

    @property
    def full(self) -> bool:
        """Whether no entry is free."""
        return self.valid == self._all

    def add(self, absorbed: Absorbed) -> None:
        """The lowest free entry takes a load."""
        number = lowest(self._all & ~self.valid)
        self._entries[number], self._added = absorbed, 1 << number

    def complete(self, cycle: int, completion: Completion) -> None:
        """The port of the LSU has nothing else to complete: the lowest entry with a ready row does."""
        ready = self.valid & ~self.waiting
        if not ready:
            return
        number = lowest(ready)
        absorbed = self._entries[number]
        assert absorbed is not None, f"entry {number} has no load"
        self._done = 1 << number
        self._probes.show("absorbed_done", self._done)
        self._check(cycle, absorbed)
        completion.add(cycle, self._result(absorbed))

    def _check(self, cycle: int, absorbed: Absorbed) -> None:
        """The row must have what a memory would have given."""
        beat, words = absorbed.beat, self._contents.words[absorbed.row]
        differing = 0 if beat.result_words is None else words ^ beat.result_words
        if differing & self._contents.bits(beat.mask):
            raise StaleOperand(
                f"cycle {cycle}: warp {absorbed.warp} is spared the load at {beat.offset:#x} (record {beat.record}),"
                " but its row has other words than the trace"
            )

    def _result(self, absorbed: Absorbed) -> Result:
        """What the scoreboard is told; the register has the value of the load from now on."""
        warp, beat = absorbed.warp, absorbed.beat
        result = Result(0, warp, True, beat.dest, 0, beat.mask, beat.result_row)
        self._latest.change(result)
        self._contents.finds(absorbed.row, warp, beat.dest, beat.result_row)
        self._contents.learn(beat.result_row, beat.result_words)
        return result

    def edge(self) -> None:
        """Behind that of the counts: a row that became ready in this cycle is waited for no more."""
        self.valid = self.valid & ~self._done | self._added
        self.waiting = (self.waiting | self._added) & self.valid
        self._added = self._done = 0
        for number in indices(self.waiting):
            absorbed = self._entries[number]
            if absorbed is not None and self._counts.ready[absorbed.row]:
                self.waiting ^= 1 << number
