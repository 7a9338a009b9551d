"""The registers of a warp that has ended lose their places, one after the other."""

from __future__ import annotations

from collections.abc import Callable

from warpfile.golden.arbiter import lowest
from warpfile.golden.rf.renaming import UNMAPPED, Mapped, RenamingTable


class Sweep:
    """One warp at a time; each of its registers is read and then unmapped.

    ``waiting`` are the warps that wait for their sweep, with the one that is swept; ``warp`` is that
    one, -1 without, and ``register`` where it is. Of the last ``step``: ``read`` and ``wrote``, and as a mask the warp
    that is ``retired`` by it.
    """

    def __init__(self, table: RenamingTable, release: Callable[[Mapped], None]) -> None:
        self.waiting = self.register = self.retired = 0
        self.read = self.wrote = False
        self.registers = 1  # of a warp
        self._table, self._release = table, release
        self.warp = -1
        self._found: list[Mapped] = []  # what was read, until it is unmapped

    def exited(self, warp: int) -> None:
        """The warp waits from the next cycle on."""
        self.waiting |= 1 << warp

    def unmaps(self, warp: int, register: int) -> bool:
        """Whether this is the entry that it asks to write."""
        return bool(self._found) and warp == self.warp and register == self.register

    @property
    def drops(self) -> Mapped | None:
        """What the register that is to be unmapped next is mapped to; None if it has to be read first."""
        return self._found[0] if self._found else None

    def step(self, allowed: bool) -> None:
        """What a cycle does, behind all others that write the table or read results' entries."""
        self.read = self.wrote = False
        self.retired = 0
        if self.warp < 0:
            if self.waiting:
                self.warp = lowest(self.waiting)
        elif allowed and self._found:
            self._unmap()
        elif allowed:
            self._found = self._table.read(self.warp, (self.register,))
            self.read = bool(self._found)

    def _unmap(self) -> None:
        if not self._table.claim(self.warp, self.register):
            return
        self._table.write(self.warp, self.register, UNMAPPED)
        self._release(self._found[0])
        self._found, self.wrote = [], True
        self.register += 1
        if self.register >= self.registers:
            self.retired = 1 << self.warp
            self.waiting ^= self.retired
            self.warp, self.register = -1, 0
