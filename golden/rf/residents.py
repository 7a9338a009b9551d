"""How many warps are resident, for a file that takes the kernel (docs/slots/rf.md)."""

from __future__ import annotations


class Residents:
    """``count`` is that of the last edge; the other methods note what happens in a cycle."""

    def __init__(self) -> None:
        self.count = self._next = 0

    def launched(self) -> None:
        """A warp is resident from the next cycle."""
        self._next += 1

    def exited(self) -> None:
        """A warp's EXIT issues."""
        self._next -= 1

    def edge(self) -> None:
        """The cycle ends."""
        self.count = self._next
