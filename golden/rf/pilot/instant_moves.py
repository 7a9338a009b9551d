"""Registers that move in an instant, for studies (docs/schemes/pilot.md, section 12)."""

from __future__ import annotations

from warpfile.golden.arbiter import indices
from warpfile.golden.rf.banks import Access, Banks
from warpfile.golden.rf.pilot.homes import Homes
from warpfile.spec.schemes.pilot import PilotConfig


class InstantMoves:
    """Rows of resident warps change places; slots that ask with an old place get what that held."""

    def __init__(self, cfg: PilotConfig, homes: Homes, banks: Banks) -> None:
        self._registers = range(cfg.register_names)
        self._homes, self._banks = homes, banks
        self._before: list[list[int]] = []
        self._changed = -1
        self._stale = 0

    def change(self, cycle: int, warps: int) -> None:
        """With the end of this cycle these warps have the second map."""
        homes, rows = self._homes, self._banks.rows
        self._before, self._changed = [list(bank) for bank in rows], cycle
        homes.versions |= warps
        old, new = homes.tables
        for warp in indices(warps):
            for register in {register for table in homes.tables for register, _ in table.entries}:
                (bank, row), (came, at) = homes.at(warp, new.home(register)), homes.at(warp, old.home(register))
                rows[bank][row] = self._before[came][at]

    def corrected(self, cycle: int, accesses: list[Access], asking: list[int], rows: list[int]) -> list[Access]:
        """Reads of a cycle with the data that they are meant to have."""
        if cycle == self._changed + 1:
            self._stale = sum(asking)
        if not self._stale:
            return accesses
        found = []
        for index, copy, arrival in accesses:
            if self._stale >> index & 1:
                self._stale ^= 1 << index
                bank = next(bank for bank, slots in enumerate(asking) if slots >> index & 1)
                copy = self._before[bank][rows[index]]
            found.append((index, copy, arrival))
        return found
