"""The registers of a warp that has ended lose their places, one after the other."""

from __future__ import annotations

from collections.abc import Callable

from warpfile.golden.arbiter import lowest
from warpfile.golden.rf.renaming import Mapped, RenamingTable


class Sweep:
    """One warp at a time, of which the mapped registers are read one per cycle, and given up behind that.

    ``waiting`` are the warps that wait for their sweep, with the one that is swept; ``warp`` is that one, -1 without.
    ``todo``: its registers that are still to be read, as a mask; ``held``: the one that was read, and what it is mapped
    to. Of the last ``step``: ``read`` and ``gave_up``, and as a mask the warp that is ``retired`` by it.
    """

    def __init__(self, table: RenamingTable, release: Callable[[Mapped], None]) -> None:
        self.waiting = self.todo = self.retired = 0
        self.read = self.gave_up = False
        self.warp = self._register = -1
        self.held: Mapped | None = None
        self._table, self._release = table, release

    @property
    def register(self) -> int:
        """The one that is read next, 0 without."""
        return lowest(self.todo) if self.todo else 0

    def exited(self, warp: int) -> None:
        """The warp waits from the next cycle on."""
        self.waiting |= 1 << warp

    def step(self, reads: bool, gives_up: bool, chosen: int) -> None:
        """What a cycle does, behind reads of results' entries.

        ``reads``: it may read an entry; ``gives_up``: what it holds may be given up; ``chosen``: of the waiting warps,
        those that may be swept from the next cycle on.
        """
        self.read = self.gave_up = False
        self.retired = 0
        if self.warp < 0:
            if chosen:
                self.warp = lowest(chosen)
                self.todo = self._table.mapped(self.warp)
            return
        if self.held is not None and gives_up:
            self._table.unmap(self.warp, self._register)
            self._release(self.held)
            self.held, self.gave_up = None, True
        if self.held is None:
            if not self.todo:
                self._retire()
            elif reads:
                self._read()

    def _retire(self) -> None:
        self.retired = 1 << self.warp
        self.waiting ^= self.retired
        self.warp = -1

    def _read(self) -> None:
        register = lowest(self.todo)
        found = self._table.read(self.warp, register)
        if found is not None:
            self._register, self.held, self.read = register, found, True
            self.todo &= self.todo - 1
