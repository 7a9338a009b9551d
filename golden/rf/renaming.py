"""A renaming table: where every register of every warp is now, in memories of two ports."""

from __future__ import annotations

from typing import Final

PORTS: Final = 2  #: of a memory; one reads or writes, the other one reads


class Mapped:
    """Where a register is: bank, row and a mask of the row's slices. Mask 0: it is nowhere."""

    __slots__ = ("bank", "mask", "row")

    def __init__(self, bank: int, row: int, mask: int) -> None:
        self.bank, self.row, self.mask = bank, row, mask

    def __eq__(self, other: object) -> bool:
        return self._all() == other._all() if isinstance(other, Mapped) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._all())

    def _all(self) -> tuple[int, int, int]:
        return self.bank, self.row, self.mask


UNMAPPED: Final = Mapped(0, 0, 0)


class RenamingTable:
    """One memory per bank, and a bit per name of every warp that says whether it is mapped: both change at ``edge``.

    One entry is written per cycle, before others are read, so that no ``write`` waits; a read that comes first takes a
    port. Registers are unmapped without any memory. ``reads`` and ``writes``: accesses of the cycle, two bits per
    memory. ``ports``: of a memory.
    """

    def __init__(self, banks: int, warps: int, registers: int) -> None:
        self.ports = PORTS
        self.reads = self.writes = 0
        self._banks = banks
        self._entries = [[UNMAPPED] * registers for _ in range(warps)]
        self._used = [0] * banks
        self._changes: list[tuple[int, int, Mapped]] = []

    def memory(self, warp: int, register: int) -> int:
        """The memory that has a register's entry."""
        return (warp + register) % self._banks

    def entry(self, warp: int, register: int) -> Mapped:
        """What the table says, without any port."""
        return self._entries[warp][register]

    def write(self, warp: int, register: int, mapped: Mapped) -> None:
        """Change an entry at the end of the cycle."""
        memory = self.memory(warp, register)
        self._used[memory] += 1
        self.writes += 1 << 2 * memory
        self._changes.append((warp, register, mapped))

    def unmap(self, warp: int, register: int) -> None:
        """A register is nowhere from the end of the cycle on."""
        self._changes.append((warp, register, UNMAPPED))

    def mapped(self, warp: int) -> int:
        """The registers of a warp that are mapped, as a mask."""
        return sum(1 << register for register, mapped in enumerate(self._entries[warp]) if mapped.mask)

    def read(self, warp: int, register: int) -> Mapped | None:
        """An entry, which may be used in the next cycle; None if no port is left."""
        memory = self.memory(warp, register)
        if self._used[memory] >= self.ports:
            return None
        self._used[memory] += 1
        self.reads += 1 << 2 * memory
        return self._entries[warp][register]

    def read_both(self, warp: int, one: int, other: int) -> tuple[Mapped, Mapped] | None:
        """Two entries, both in this cycle or neither."""
        memories = self.memory(warp, one), self.memory(warp, other)
        needed = 2 if memories[0] == memories[1] else 1
        if any(self._used[memory] + needed > self.ports for memory in memories):
            return None
        for memory in memories:
            self._used[memory] += 1
            self.reads += 1 << 2 * memory
        return self._entries[warp][one], self._entries[warp][other]

    def edge(self) -> None:
        """Entries change."""
        if self.reads or self.writes:
            for memory in range(self._banks):
                self._used[memory] = 0
        self.reads = self.writes = 0
        if self._changes:
            for warp, register, mapped in self._changes:
                self._entries[warp][register] = mapped
            self._changes.clear()
