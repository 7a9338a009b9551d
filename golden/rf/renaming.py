"""A renaming table: where every register of every warp is now, in memories of two ports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

PORTS = 2  #: of a memory; each reads or writes one entry per cycle


class Mapped(NamedTuple):
    """Where a register is: bank, row and a mask of the row's slices. Mask 0: it is nowhere."""

    bank: int
    row: int
    mask: int


UNMAPPED = Mapped(0, 0, 0)


class RenamingTable:
    """One memory per bank. Entries change at the ``edge``; after reset they are cleared, one per memory and cycle.

    Who comes first in a cycle takes a port: to write with ``claim``, to read with ``read``. ``clearing``: memories are
    not clear yet. ``reads`` and ``writes``: accesses of the cycle, two bits per memory. ``ports``: of a memory.
    """

    def __init__(self, banks: int, warps: int, registers: int, entries: int, one_bank: bool) -> None:
        self.clearing = True
        self.ports = PORTS
        self.reads = self.writes = 0
        self._banks, self._one_bank = banks, one_bank
        self._entries = [[UNMAPPED] * registers for _ in range(warps)]
        self._left = entries
        self._used = [0] * banks
        self._changes: list[tuple[int, int, Mapped]] = []

    def memory(self, warp: int, register: int) -> int:
        """The memory that has a register's entry, which is also the number of its home bank."""
        return (warp if self._one_bank else warp + register) % self._banks

    def entry(self, warp: int, register: int) -> Mapped:
        """What the table says, without any port."""
        return self._entries[warp][register]

    def claim(self, warp: int, register: int) -> bool:
        """Take a port to write an entry, if there is one left."""
        memory = self.memory(warp, register)
        if self._used[memory] == self.ports:
            return False
        self._used[memory] += 1
        return True

    def write(self, warp: int, register: int, mapped: Mapped) -> None:
        """Change an entry at the end of the cycle, through a port that was claimed."""
        self.writes += 1 << 2 * self.memory(warp, register)
        self._changes.append((warp, register, mapped))

    def read(self, warp: int, registers: Sequence[int]) -> list[Mapped]:
        """Entries of some registers, all in this cycle or none (an empty list). They may be used in the next one."""
        used = self._used
        memories = [self.memory(warp, register) for register in registers]
        if any(used[memory] + memories.count(memory) > self.ports for memory in memories):
            return []
        for memory in memories:
            used[memory] += 1
            self.reads += 1 << 2 * memory
        return [self._entries[warp][register] for register in registers]

    def edge(self) -> None:
        """Entries change."""
        if self._left:
            self._left -= 1
            self.clearing = self._left > 0
        for memory in range(self._banks):
            self._used[memory] = 0
        self.reads = self.writes = 0
        if self._changes:
            for warp, register, mapped in self._changes:
                self._entries[warp][register] = mapped
            self._changes.clear()
