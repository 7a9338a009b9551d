"""Where registers live in two partitions (docs/schemes/pilot.md, section 3)."""

from __future__ import annotations

from warpfile.golden.rf.location import Located
from warpfile.golden.rf.pilot.swap import SwapTable
from warpfile.spec.schemes.pilot import PilotConfig


class Homes(Located):
    """Location (``golden.rf.location.Located``) over two versions of the swapping table.

    ``versions`` are the warps for which the second one holds.
    """

    def __init__(self, cfg: PilotConfig) -> None:
        self._banks, self._rows, self._fast, self._hot = cfg.banks, cfg.rows, cfg.fast_rows, cfg.fast_registers
        self._base = [0] * cfg.warps
        self.tables = [SwapTable(cfg.fast_registers), SwapTable(cfg.fast_registers)]
        self.versions = 0

    def launched(self, warp: int, base: int) -> None:
        """The warp's slow registers begin at this slow place."""
        self._base[warp] = base

    def table(self, warp: int) -> SwapTable:
        """The version that holds for a warp."""
        return self.tables[self.versions >> warp & 1]

    def place(self, warp: int, register: int) -> tuple[int, int]:
        """Bank and row of a register of the warp in slot ``warp``."""
        return self.at(warp, self.table(warp).home(register))

    def at(self, warp: int, home: int) -> tuple[int, int]:
        """Bank and row of a home of the warp."""
        if home < self._hot:
            place = warp * self._hot + home
        else:
            place = self._fast * self._banks + self._base[warp] + home - self._hot
        row, bank = divmod(place, self._banks)
        assert row < self._rows, f"home {home} of warp {warp} has a home beyond the banks"
        return bank, row

    def is_fast(self, row: int) -> bool:
        """Whether a row is in the fast partition of its bank."""
        return row < self._fast
