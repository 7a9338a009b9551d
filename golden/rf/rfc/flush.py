"""The lines of a warp that loses its place (docs/schemes/rfc.md, step 3)."""

from __future__ import annotations

from warpfile.golden.arbiter import indices, lowest
from warpfile.golden.copies import POISON
from warpfile.golden.rf.banks import Write
from warpfile.golden.rf.rfc.inside import Inside
from warpfile.spec.schemes.rfc import RfcConfig


class Flush:
    """Empties places: dead lines at once, the others one per cycle. ``release`` first, ``send`` after the results."""

    def __init__(self, cfg: RfcConfig, inside: Inside) -> None:
        self._location, self._lines, self._queues, self._places, self._events, self._banks = inside
        self._honoured = cfg.dead_bits == "honoured"
        self.releasing = 0

    def release(self, releasing: int) -> int:
        """Note the places that are to be released in this cycle; returns those without a valid line."""
        self.releasing = releasing
        return sum(1 << place for place in indices(releasing) if not self._lines.held & self._lines.of(place))

    def send(self, read_ports: int, written: int) -> None:
        """Drop dead lines and send the lowest of the others; not one that was written to in this cycle."""
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
        candidates &= lines.held
        if not candidates or not read_ports:
            return
        line = lowest(candidates)
        bank, row = self._home(line)
        if written >> line & 1 or not self._queues.takes(bank):
            return
        self._queues.put(bank, Write(row, lines.copy[line]))
        lines.leave(line)
        self._events.note("flush", line)

    def _home(self, line: int) -> tuple[int, int]:
        """Bank and row of the register in a line."""
        warp = self._places.warp[line // self._lines.entries]
        return self._location.place(warp, self._lines.register[line])
