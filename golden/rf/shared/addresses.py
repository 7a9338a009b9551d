"""The address table: which loaded vectors of words are in the register file (docs/schemes/larf.md, section 6)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from warpfile.spec.schemes.shared import WORD, SharedConfig

NO_UPPER: Final = -1


def meets(base: int, stride: int, lanes: int, low: int, high: int) -> bool:
    """Whether a vector of words in all built lanes has a byte from ``low`` to ``high``, both included."""
    return base <= high and base + (lanes - 1) * stride + WORD - 1 >= low


class Known:
    """An entry: lane i of the row is the word at ``base`` + i * ``stride``, for i in ``lanes``."""

    __slots__ = ("base", "lanes", "row", "stride")

    def __init__(self, base: int, stride: int, lanes: int, row: int) -> None:
        self.base, self.stride, self.lanes, self.row = base, stride, lanes, row

    def _all(self) -> tuple[int, int, int, int]:
        return self.base, self.stride, self.lanes, self.row

    def __eq__(self, other: object) -> bool:
        return self._all() == other._all() if isinstance(other, Known) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._all())


class AddressTable:
    """``entries``: None where one is not valid. ``upper``: what is above the bits of all bases, ``NO_UPPER`` if that is
    open. Who looks sees what was valid when the cycle began: all changes come at the ``edge``.
    """

    def __init__(self, cfg: SharedConfig) -> None:
        self.entries: list[Known | None] = [None] * cfg.table_entries
        self.pointer, self.upper, self.valid = 0, NO_UPPER, 0
        self._lanes = cfg.lanes
        self._of_row: dict[int, int] = {}
        self._ending: set[int] = set()
        self._inserted: Known | None = None
        self._upper = NO_UPPER

    def recent(self) -> Iterator[tuple[int, Known]]:
        """Valid entries by their number, the most recent first."""
        for number in (*range(self.pointer - 1, -1, -1), *range(len(self.entries) - 1, self.pointer - 1, -1)):
            entry = self.entries[number]
            if entry is not None:
                yield number, entry

    def end(self, row: int) -> bool:
        """The entry of a row is valid no more; whether there is one."""
        number = self._of_row.get(row, -1)
        if number >= 0:
            self._ending.add(number)
        return number >= 0

    def end_entry(self, number: int) -> None:
        """An entry is valid no more."""
        self._ending.add(number)

    def insert(self, known: Known) -> bool:
        """Behind what ended in this cycle; whether an entry is evicted that did not."""
        self._inserted = known
        return self.entries[self.pointer] is not None and self.pointer not in self._ending

    def delete(self, low: int, high: int) -> int:
        """Entries with a word from ``low`` to ``high``, both included, are valid no more; how many."""
        meeting = {number for number, entry in self.recent() if meets(entry.base, entry.stride, self._lanes, low, high)}
        self._ending |= meeting
        return len(meeting)

    def flush(self) -> bool:
        """No entry is valid any more, and the upper bits are open; whether there was an entry."""
        self._ending.update(self._of_row.values())
        self._upper = NO_UPPER
        return self.valid > 0

    def restart(self) -> None:
        """A kernel begins."""
        self.flush()
        self.edge()
        self.pointer = 0

    def begin(self, upper: int) -> None:
        """The upper bits of all entries from now on."""
        self._upper = upper

    def edge(self) -> None:
        """All changes of the cycle."""
        self.upper = self._upper
        for number in self._ending:
            self._forget(number)
        self._ending.clear()
        if self._inserted is not None:
            self._insert(self._inserted)
            self._inserted = None

    def _insert(self, known: Known) -> None:
        self._forget(self.pointer)
        assert known.row not in self._of_row, f"two entries name row {known.row}"
        self.entries[self.pointer], self._of_row[known.row] = known, self.pointer
        self.valid += 1
        self.pointer = (self.pointer + 1) % len(self.entries)

    def _forget(self, number: int) -> None:
        entry, self.entries[number] = self.entries[number], None
        if entry is not None:
            del self._of_row[entry.row]
            self.valid -= 1
