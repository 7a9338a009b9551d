"""Lines that are sent to their banks: of a warp that loses its place, or recalled (docs/schemes/rfc.md, step 3)."""

from __future__ import annotations

from warpfile.golden.arbiter import indices, lowest
from warpfile.golden.copies import POISON
from warpfile.golden.rf.banks import Write
from warpfile.golden.rf.rfc.shared_state import SharedState
from warpfile.spec.schemes.rfc import RfcConfig


class Flush:
    """Empties places: dead lines at once, the others one per cycle. A line that is recalled goes before them.

    ``release`` and ``recall`` first, ``choose`` before the results and ``send`` after them.
    """

    def __init__(self, cfg: RfcConfig, inside: SharedState) -> None:
        self._location, self._lines, self._queues, self._places, self._events, self._banks = inside
        self._honoured = cfg.dead_bits == "honoured"
        self.releasing = 0
        self.recalled = -1
        self._dying = 0
        self._candidate = -1

    def recall(self, lacking: int) -> None:
        """Of the lines that lack lanes of a beat the lowest without a pending read goes in this cycle."""
        loose = lacking & ~self._lines.pinned
        self.recalled = lowest(loose) if loose else -1

    def release(self, releasing: int) -> int:
        """Note the places that are to be released in this cycle; returns those without a valid line."""
        self.releasing = releasing
        return sum(1 << place for place in indices(releasing) if not self._lines.held & self._lines.of(place))

    def choose(self) -> None:
        """Which lines are to go, by what they are before results are entered."""
        released = 0
        for place in indices(self.releasing):
            released |= self._lines.of(place)
        released &= self._lines.held
        self._dying = released & self._lines.dead if self._honoured else 0
        kept = released & ~self._dying
        self._candidate = self.recalled if self.recalled >= 0 or not kept else lowest(kept)

    def send(self, read_ports: int, written: int) -> None:
        """Drop the dead lines and send the candidate, but nothing that this cycle wrote to or made invalid."""
        lines, line = self._lines, self._candidate
        staying = lines.held & ~written
        for dying in indices(self._dying & staying):
            self._drop(dying)
        if line >= 0 and staying >> line & 1 and read_ports:
            bank, row = self._home(line)
            if self._queues.takes(bank):
                self._queues.put(bank, lines.saved(line, row))
                lines.leave(line)
                self._events.note("flush", line)
                if self.recalled >= 0:
                    self._events.note("recall")
        self.releasing, self.recalled = 0, -1

    def _drop(self, line: int) -> None:
        bank, row = self._home(line)
        self._banks.write(bank, Write(row, POISON))
        self._lines.leave(line)
        self._events.note("flush_dead", line)

    def _home(self, line: int) -> tuple[int, int]:
        """Bank and row of the register in a line."""
        warp = self._places.warp[line // self._lines.entries]
        return self._location.place(warp, self._lines.register[line])
