"""The swapping table: which register is at home in which place (docs/schemes/pilot.md)."""

from __future__ import annotations

from collections.abc import Sequence


class SwapTable:
    """One version of the table, of 2 * ``hot`` entries. ``pairs`` has what pair j swaps: a default hot register first.

    Entry 2j says that the first lives where the second did, entry 2j + 1 the reverse.
    """

    def __init__(self, hot: int) -> None:
        self._hot = hot
        self.pairs: list[tuple[int, int]] = []
        self._home: dict[int, int] = {}

    @property
    def entries(self) -> list[tuple[int, int]]:
        """Register and home of the valid entries, which are the first ones."""
        return [entry for low, high in self.pairs for entry in ((low, high), (high, low))]

    def clear(self) -> None:
        """Every register is at home in its own place."""
        self.pairs.clear()
        self._home.clear()

    def install(self, members: Sequence[int], step: int) -> bool:
        """Handle one member of a hot list, -1 for none; returns whether a pair was written.

        A member that is fast by default stays; another one changes places with the lowest such register that is
        neither in the list nor swapped.
        """
        member = members[step]
        if member < self._hot:
            return False
        low = next(register for register in range(self._hot) if register not in members and register not in self._home)
        self.pairs.append((low, member))
        self._home[low], self._home[member] = member, low
        return True

    def hits(self, register: int) -> bool:
        """Whether an entry names the register."""
        return register in self._home

    def home(self, register: int) -> int:
        """Where a register lives."""
        return self._home.get(register, register)
