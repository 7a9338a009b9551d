"""Moving the registers of resident warps, one pair after the other (docs/schemes/pilot.md, section 12)."""

from __future__ import annotations

from warpfile.golden.rf.banks import Write
from warpfile.golden.rf.engine import Ask, Served
from warpfile.golden.rf.pilot.homes import Homes
from warpfile.spec.schemes.pilot import PilotConfig

#: Accesses of a pair, in this order.
FAST_READ, SLOW_READ, SLOW_WRITE, FAST_WRITE = range(4)


class Mover:
    """Where MOVE is. ``edge`` in each of its cycles, then ``ask`` for what the next one asks for."""

    def __init__(self, cfg: PilotConfig, homes: Homes) -> None:
        self._homes, self._warps = homes, cfg.warps
        self.warp = self.pair = self.access = 0
        self._wait = 0
        self._read = [-1, -1]  # what the first two accesses found

    def rewind(self) -> None:
        """A kernel begins; no warp was resident."""
        self.warp = 0

    def ask(self, resident: int) -> Ask | None:
        """What is asked for, if these warps are resident."""
        if self._wait or not self._is_due(resident):
            return None
        low, high = self._homes.tables[0].pairs[self.pair]
        bank, row = self._homes.at(self.warp, low if self.access in (FAST_READ, FAST_WRITE) else high)
        if self.access < SLOW_WRITE:
            return Ask(bank, row)
        return Ask(bank, row, Write(row, self._read[self.access - SLOW_WRITE]))

    def _is_due(self, resident: int) -> bool:
        return bool(resident >> self.warp & 1) and self.pair < len(self._homes.tables[0].pairs)

    def edge(self, cycle: int, resident: int, served: Served | None) -> bool:
        """End a cycle of MOVE in which the bank served this; whether it was the last one."""
        if self._wait:
            self._wait -= 1
        elif not self._is_due(resident):
            self.pair, self.warp = 0, (self.warp + 1) % self._warps
            return not self.warp
        elif served is not None:
            self._wait = served.arrival - cycle - 1
            if self.access < SLOW_WRITE:
                self._read[self.access] = served.copy
            self.pair += self.access == FAST_WRITE
            self.access = (self.access + 1) % 4
        return False
