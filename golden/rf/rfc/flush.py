"""Lines that are sent to their banks: of a warp that loses its place, or recalled (docs/schemes/rfc.md, step 3)."""

from __future__ import annotations

from warpfile.golden.arbiter import indices, lowest
from warpfile.golden.copies import POISON
from warpfile.golden.rf.banks import Write
from warpfile.golden.rf.rfc.inside import Inside
from warpfile.spec.schemes.rfc import RfcConfig


class Flush:
    """Empties places: dead lines at once, the others one per cycle. A line that is recalled goes before them.

    ``release`` and ``recall`` first, ``send`` after the results.
    """

    def __init__(self, cfg: RfcConfig, inside: Inside) -> None:
        self._location, self._lines, self._queues, self._places, self._events, self._banks = inside
        self._honoured = cfg.dead_bits == "honoured"
        self.releasing = 0
        self.recalled = -1

    def recall(self, lacking: int) -> None:
        """Of the lines that lack lanes of a beat the lowest that nobody has yet to read goes in this cycle."""
        loose = lacking & ~self._lines.pinned
        self.recalled = lowest(loose) if loose else -1

    def release(self, releasing: int) -> int:
        """Note the places that are to be released in this cycle; returns those without a valid line."""
        self.releasing = releasing
        return sum(1 << place for place in indices(releasing) if not self._lines.held & self._lines.of(place))

    def send(self, read_ports: int, written: int) -> None:
        """Drop dead lines; send the recalled line or the lowest other, but none that this cycle wrote to."""
        lines, recalled = self._lines, self.recalled
        candidates, self.recalled = self._kept(), -1
        if not (candidates or recalled >= 0) or not read_ports:
            return
        line = recalled if recalled >= 0 else lowest(candidates)
        if written >> line & 1:
            return
        bank, row = self._home(line)
        if not self._queues.takes(bank):
            return
        self._queues.put(bank, lines.saved(line, row))
        lines.leave(line)
        self._events.note("flush", line)
        if recalled >= 0:
            self._events.note("recall")

    def _kept(self) -> int:
        """Lines of released places, as a mask, after those are dropped that are dead."""
        lines = self._lines
        candidates = 0
        for place in indices(self.releasing):
            candidates |= lines.of(place)
        self.releasing = 0
        candidates &= lines.held
        if self._honoured:
            for line in indices(candidates & lines.dead):
                bank, row = self._home(line)
                self._banks.write(bank, Write(row, POISON))
                lines.leave(line)
                self._events.note("flush_dead", line)
        return candidates & lines.held

    def _home(self, line: int) -> tuple[int, int]:
        """Bank and row of the register in a line."""
        warp = self._places.warp[line // self._lines.entries]
        return self._location.place(warp, self._lines.register[line])
