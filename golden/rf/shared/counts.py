"""How many registers share every row, and what is known of it (docs/schemes/larf.md, section 6)."""

from __future__ import annotations

from typing import Final

from warpfile.golden.arbiter import lowest
from warpfile.golden.rf.renaming import Mapped
from warpfile.spec.contract import SLICES
from warpfile.spec.schemes.shared import SharedConfig

NO_ROW: Final = -1
_WHOLE: Final = (1 << SLICES) - 1


class Counts:
    """A row's number is its bank, in the lowest bits, and its row in the bank. Everything changes at the ``edge``.

    ``count``: registers that are mapped to a row; a row without is free. ``ready``: it is not a row that waits for a
    load or a merge. ``marked``: an entry may name it. ``used`` and ``shared``: rows with a count, and with one above 1.
    """

    def __init__(self, cfg: SharedConfig) -> None:
        self.most = cfg.most_shared
        self.used = self.shared = 0
        self._bank_bits, self._banks = cfg.bank_bits, cfg.banks
        rows = cfg.rows << cfg.bank_bits
        self.count, self.ready, self.marked = [0] * rows, [True] * rows, [False] * rows
        self._mapped = [Mapped(self.bank(row), row >> cfg.bank_bits, _WHOLE) for row in range(rows)]
        self._free = [(1 << cfg.rows) - 1] * cfg.banks
        self._changes: dict[int, int] = {}
        self._readiness: dict[int, bool] = {}
        self._marks: dict[int, bool] = {}

    def bank(self, row: int) -> int:
        """The bank that has a row."""
        return row & (1 << self._bank_bits) - 1

    def mapped(self, row: int) -> Mapped:
        """The same as an entry of the renaming table."""
        return self._mapped[row]

    def row(self, mapped: Mapped) -> int:
        """The row of an entry of the renaming table, ``NO_ROW`` if it has none."""
        return mapped.bank | mapped.row << self._bank_bits if mapped.mask else NO_ROW

    def fresh(self, home: int) -> int:
        """The lowest free row of the first bank from ``home`` on that has one, ``NO_ROW`` without."""
        for step in range(self._banks):
            bank = (home + step) % self._banks
            if self._free[bank]:
                return bank | lowest(self._free[bank]) << self._bank_bits
        return NO_ROW

    def add(self, row: int, registers: int) -> None:
        """So many registers more are mapped to a row, or less."""
        self._changes[row] = self._changes.get(row, 0) + registers

    def becomes_ready(self, row: int, ready: bool = True) -> None:
        """It is filled, or has to be."""
        self._readiness[row] = ready

    def mark(self, row: int, marked: bool) -> None:
        """An entry names it, or none does any more."""
        self._marks[row] = marked

    def edge(self) -> None:
        """All changes of the cycle."""
        if self._changes:
            for row, change in self._changes.items():
                if change:
                    self._count(row, self.count[row] + change)
            self._changes.clear()
        _set(self.ready, self._readiness)
        _set(self.marked, self._marks)

    def _count(self, row: int, count: int) -> None:
        assert 0 <= count <= self.most, f"{count} registers share row {row}"
        before, self.count[row] = self.count[row], count
        self.used += (count > 0) - (before > 0)
        self.shared += (count > 1) - (before > 1)
        if (count > 0) != (before > 0):
            self._free[self.bank(row)] ^= 1 << (row >> self._bank_bits)


def _set(bits: list[bool], changes: dict[int, bool]) -> None:
    if changes:
        for row, bit in changes.items():
            bits[row] = bit
        changes.clear()
