"""Which slices of all rows are free, and the search for some that are."""

from __future__ import annotations

from warpfile.golden.arbiter import lowest
from warpfile.golden.rf.renaming import UNMAPPED, Mapped


def run(anchor: int, size: int) -> int:
    """Mask of ``size`` slices side by side, from ``anchor`` on."""
    return ((1 << size) - 1) << anchor


class FreeSlices:
    """One bit per slice, and per row whether it is reserved. Everything changes at the ``edge``.

    A search sees what was free when the cycle began, and ``own``: the slices that its own step makes free. A row that
    these make wholly free is not reserved for it. What finds nothing returns ``UNMAPPED``. ``used_rows`` are not wholly
    free.
    """

    def __init__(self, banks: int, rows: int, slices: int) -> None:
        self.used_rows = self.reserved_rows = 0
        self._all = (1 << rows) - 1
        self._slices = slices
        self._free = [[self._all] * slices for _ in range(banks)]  # masks of rows, by bank and slice
        self._reserved = [0] * banks
        self._used = [0] * banks
        self._freed: list[Mapped] = []
        self._taken: list[Mapped] = []
        self._reserving: list[Mapped] = []
        self._unreserving: list[Mapped] = []

    def is_free(self, mapped: Mapped) -> bool:
        """Whether all of these slices are."""
        planes = self._free[mapped.bank]
        return all(planes[k] >> mapped.row & 1 for k in range(self._slices) if mapped.mask >> k & 1)

    def _seen(self, bank: int, own: Mapped) -> list[int]:
        """Rows in which each slice is free."""
        planes = self._free[bank]
        if not own.mask or own.bank != bank:
            return planes
        return [rows | (own.mask >> k & 1) << own.row for k, rows in enumerate(planes)]

    def first_fit(self, home: int, banks: int, size: int, own: Mapped) -> Mapped:
        """In the first of ``banks`` banks from ``home`` on: the lowest row with a run that is not reserved, in it the
        lowest run."""
        for step in range(banks):
            bank = (home + step) % len(self._free)
            planes = self._seen(bank, own)
            runs = _runs(planes, size)
            fits = 0
            for rows in runs:
                fits |= rows
            fits &= ~self._reserved[bank] | _empty(planes)
            if fits:
                row = lowest(fits)
                anchor = next(anchor for anchor, rows in enumerate(runs) if rows >> row & 1)
                return Mapped(bank, row, run(anchor, size))
        return UNMAPPED

    def lowest_row(self, bank: int, mask: int, own: Mapped) -> Mapped:
        """The lowest row of a bank in which these slices are free."""
        rows = self._all
        for k, plane in enumerate(self._seen(bank, own)):
            if mask >> k & 1:
                rows &= plane
        return Mapped(bank, lowest(rows), mask) if rows else UNMAPPED

    def empty_row(self, home: int, size: int, own: Mapped) -> Mapped:
        """The lowest slices of the lowest wholly free row of the first bank from ``home`` on that has one."""
        for step in range(len(self._free)):
            bank = (home + step) % len(self._free)
            rows = _empty(self._seen(bank, own))
            if rows:
                return Mapped(bank, lowest(rows), run(0, size))
        return UNMAPPED

    def in_row(self, bank: int, row: int, size: int, own: Mapped) -> Mapped:
        """In this row: the highest slices if they are free, otherwise the lowest run."""
        runs = _runs(self._seen(bank, own), size)
        for anchor in (len(runs) - 1, *range(len(runs) - 1)):
            if runs[anchor] >> row & 1:
                return Mapped(bank, row, run(anchor, size))
        return UNMAPPED

    def release(self, mapped: Mapped) -> None:
        """These slices become free."""
        if mapped.mask:
            self._freed.append(mapped)

    def take(self, mapped: Mapped) -> None:
        """They are taken; what the same cycle frees may be among them."""
        self._taken.append(mapped)

    def reserve(self, mapped: Mapped) -> None:
        """The row is reserved, unless it loses its last slice in this cycle."""
        self._reserving.append(mapped)

    def unreserve(self, mapped: Mapped) -> None:
        """The row is not reserved any more."""
        self._unreserving.append(mapped)

    def edge(self) -> None:
        """All changes of the cycle."""
        if not (self._freed or self._taken or self._unreserving):
            return
        emptied = self._set_free()
        for mapped in self._taken:
            bank, row = mapped.bank, mapped.row
            for k in range(self._slices):
                if mapped.mask >> k & 1:
                    assert self._free[bank][k] >> row & 1, f"slice {k} of row {row} in bank {bank} is taken twice"
                    self._free[bank][k] ^= 1 << row
        for mapped in self._reserving:
            if (mapped.bank, mapped.row) not in emptied:
                self._reserved[mapped.bank] |= 1 << mapped.row
        self._count({mapped.bank for mapped in self._freed + self._taken})
        for changes in (self._freed, self._taken, self._reserving, self._unreserving):
            changes.clear()

    def _set_free(self) -> set[tuple[int, int]]:
        """Free what is released; returns the rows that have lost their last slice, which ends their reservation."""
        for mapped in self._freed:
            bank, row = mapped.bank, mapped.row
            for k in range(self._slices):
                if mapped.mask >> k & 1:
                    assert not self._free[bank][k] >> row & 1, f"slice {k} of row {row} in bank {bank} is free already"
                    self._free[bank][k] |= 1 << row
        freed = [(mapped.bank, mapped.row) for mapped in self._freed]
        emptied = {(bank, row) for bank, row in freed if _empty(self._free[bank]) >> row & 1}
        for bank, row in (*emptied, *((mapped.bank, mapped.row) for mapped in self._unreserving)):
            self._reserved[bank] &= ~(1 << row)
        return emptied

    def _count(self, banks: set[int]) -> None:
        for bank in banks:
            self._used[bank] = (self._all ^ _empty(self._free[bank])).bit_count()
        self.used_rows = sum(self._used)
        self.reserved_rows = sum(rows.bit_count() for rows in self._reserved)


def _runs(planes: list[int], size: int) -> list[int]:
    """By anchor the rows in which a run of slices is free."""
    runs = planes[: len(planes) - size + 1]
    for anchor in range(len(runs)):
        for k in range(1, size):
            runs[anchor] &= planes[anchor + k]
    return runs


def _empty(planes: list[int]) -> int:
    """Rows that are wholly free."""
    rows = -1
    for plane in planes:
        rows &= plane
    return rows
