"""Finding the registers with the largest counts (docs/schemes/pilot.md)."""

from __future__ import annotations


class Sorter:
    """Insertion sorter of ``size`` slots: those with a larger count first, and among equals the one that came first.

    ``slots`` are the valid ones, count and register.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self.slots: list[tuple[int, int]] = []

    def clear(self) -> None:
        """No slot is valid."""
        self.slots.clear()

    def take(self, register: int, count: int) -> None:
        """One register, in ascending order; what is last in a full sorter falls out."""
        place = sum(other >= count for other, _ in self.slots)
        self.slots.insert(place, (count, register))
        del self.slots[self._size :]

    @property
    def members(self) -> list[int]:
        """Registers of all slots, -1 where none is valid."""
        registers = [register for _, register in self.slots]
        return registers + [-1] * (self._size - len(registers))
