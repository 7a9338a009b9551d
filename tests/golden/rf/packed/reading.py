"""The rules of values and slices once more, as plain as the page has them (docs/schemes/corf.md, sections 3, 5, 6)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

Place = tuple[int, int, int]  #: bank, row and mask; mask 0: nowhere
NOWHERE: Place = (0, 0, 0)


def bytes_of(data: int, mask: int, lanes: int) -> int:
    """The least number of bytes of which every lane of a mask is the sign extension."""
    size = 1
    for lane in range(lanes):
        if mask >> lane & 1:
            value = data >> 32 * lane & 0xFFFFFFFF
            value -= value >> 31 << 32
            while not -(1 << 8 * size - 1) <= value < 1 << 8 * size - 1:
                size += 1
    return size


def sized(mask: int) -> int:
    """Slices of a mask."""
    return bin(mask).count("1")


def kept(mask: int, size: int, side: int) -> int:
    """What a register keeps of its slices."""
    high = {1: False, 2: True}.get(side, bool(mask & 8 and not mask & 1))
    numbers = sorted((k for k in range(4) if mask >> k & 1), reverse=high)
    return sum(1 << k for k in numbers[:size])


@dataclass
class Rows:
    """Owners of all slices, and which rows are reserved."""

    banks: int
    rows: int
    owner: dict[tuple[int, int, int], object] = field(default_factory=dict)
    reserved: set[tuple[int, int]] = field(default_factory=set)

    def used(self) -> int:
        """Rows that are not wholly free."""
        return len({(bank, row) for bank, row, _ in self.owner})

    def _free(self, bank: int, row: int, own: Place) -> set[int]:
        mine = {k for k in range(4) if own[2] >> k & 1} if own[:2] == (bank, row) else set()
        return {k for k in range(4) if (bank, row, k) not in self.owner} | mine

    def _anchors(self, bank: int, row: int, size: int, own: Place) -> list[int]:
        free = self._free(bank, row, own)
        return [a for a in range(5 - size) if free.issuperset(range(a, a + size))]

    def _order(self, home: int, alone: bool) -> Iterable[tuple[int, int]]:
        for step in range(1 if alone else self.banks):
            for row in range(self.rows):
                yield (home + step) % self.banks, row

    def first_fit(self, home: int, size: int, own: Place, alone: bool = False) -> Place:
        """The first place that fits."""
        for bank, row in self._order(home, alone):
            shut = (bank, row) in self.reserved and len(self._free(bank, row, own)) < 4
            anchors = [] if shut else self._anchors(bank, row, size, own)
            if anchors:
                return bank, row, (1 << size) - 1 << anchors[0]
        return NOWHERE

    def at_side(self, home: int, size: int, own: Place, left: bool) -> Place:
        """The lowest row with the slices of a side."""
        anchor = 4 - size if left else 0
        rows = [row for row in range(self.rows) if anchor in self._anchors(home, row, size, own)]
        return (home, rows[0], (1 << size) - 1 << anchor) if rows else NOWHERE

    def beside(self, partner: Place, size: int, own: Place) -> Place:
        """In the row of the partner."""
        bank, row, _ = partner
        anchors = self._anchors(bank, row, size, own)
        if not anchors:
            return NOWHERE
        return bank, row, (1 << size) - 1 << (4 - size if 4 - size in anchors else anchors[0])

    def alone(self, home: int, size: int, own: Place) -> Place:
        """The first row that is wholly free."""
        for bank, row in self._order(home, False):
            if len(self._free(bank, row, own)) == 4:
                return bank, row, (1 << size) - 1
        return NOWHERE

    def change(
        self,
        freed: Iterable[Place],
        taken: Iterable[tuple[object, Place]],
        reserve: Place | None = None,
        open_: Place | None = None,
    ) -> None:
        """The end of a cycle."""
        emptied = set()
        for bank, row, mask in freed:
            for k in range(4):
                if mask >> k & 1:
                    del self.owner[bank, row, k]
                    emptied.add((bank, row))
        emptied -= {(bank, row) for bank, row, _ in self.owner}
        self.reserved -= emptied
        if open_ is not None:
            self.reserved.discard(open_[:2])
        if reserve is not None and reserve[:2] not in emptied:
            self.reserved.add(reserve[:2])
        for name, (bank, row, mask) in taken:
            for k in range(4):
                if mask >> k & 1:
                    assert (bank, row, k) not in self.owner, f"slice {k} of row {row} in bank {bank} has an owner"
                    self.owner[bank, row, k] = name
