"""The merge slot makes a row of one or two others (docs/schemes/larf.md, section 11)."""

from __future__ import annotations

from collections.abc import Sequence

from warpfile.golden.rf.banks import Banks
from warpfile.golden.rf.shared.contents import Contents
from warpfile.golden.rf.shared.counts import NO_ROW, Counts
from warpfile.golden.rf.shared.probes import Probes
from warpfile.golden.rf.shared.search import Source
from warpfile.spec.schemes.shared import IDLE, READ1, READ2, WRITE


class MergeSlot:
    """One job at a time. ``state`` changes at the edge."""

    def __init__(self, banks: Banks, counts: Counts, contents: Contents, probes: Probes) -> None:
        self.state = self._next = IDLE
        self._sources: tuple[Source, ...] = ()  # that have not been read
        self._target, self._lanes = NO_ROW, 0
        self._words = 0  # accumulator
        self._first = False  # cycle of the state, in which a row comes
        self._banks, self._counts, self._contents, self._probes = banks, counts, contents, probes

    def busy(self, row: int) -> bool:
        """Whether a row has yet to be read."""
        return self.state in (READ1, READ2) and any(source.row == row for source in self._sources[self.state - READ1 :])

    def start(self, sources: Sequence[Source], target: int, lanes: int) -> None:
        """Take a job, which begins in the next cycle."""
        assert self.state == IDLE, "the merge slot has a job"
        self._next, self._sources, self._target, self._lanes = READ1, tuple(sources), target, lanes

    def step(self, cycle: int) -> None:
        """Ask a bank, behind all results."""
        if self.state == WRITE:
            if not self._first and self._claims(cycle, self._target, "merge_write"):
                self._write()
        elif self.state != IDLE:
            source = self._sources[self.state - READ1]
            if self._claims(cycle, source.row, "merge_read"):
                self._read(source)

    def _claims(self, cycle: int, row: int, served: str) -> bool:
        taken = self._banks.claim(cycle, self._counts.bank(row))
        self._probes.show(served if taken else "merge_hold")
        return taken

    def _read(self, source: Source) -> None:
        """Lane i gets what lane i + distance of the row has."""
        words, shift, bits = self._contents.words[source.row], 32 * source.distance, self._contents.bits(source.lanes)
        moved = words >> shift if shift >= 0 else words << -shift
        self._words = self._words & ~bits | moved & bits
        self._next = READ2 if self.state == READ1 and len(self._sources) == 2 else WRITE

    def _write(self) -> None:
        self._contents.write(self._target, self._words, self._lanes)
        self._counts.becomes_ready(self._target)
        self._probes.show_ready(2)
        self._next = IDLE

    def edge(self) -> None:
        """The state changes."""
        self._first = self._next != self.state
        self.state = self._next
