"""Registers that the collectors give back, behind X (docs/schemes/corf.md, section 17)."""

from __future__ import annotations

from typing import Final

from warpfile.golden.rf.contract import Eviction

#: No register of any warp.
NOBODY: Final = (-1, -1)


class Leaving:
    """What a window gave back: a result of all lanes of its register. Results that pass it by change its copy."""

    __slots__ = ("copy", "full", "register", "warp")

    def __init__(self, eviction: Eviction) -> None:
        self.warp, self.register, self.copy = eviction.warp, eviction.register, eviction.copy
        self.full = True


class UnderWay:
    """Of which register, as warp and register, T, W0 and W1 of port 0 held an eviction when the cycle began."""

    def __init__(self) -> None:
        self.reading = self.deciding = self.storing = NOBODY

    def holds(self, warp: int, register: int) -> bool:
        """Whether results and evictions of a register wait for one that is under way."""
        return (warp, register) in (self.reading, self.deciding, self.storing)

    def hides(self, warp: int, register: int) -> bool:
        """Whether the table may have an entry that the eviction replaces."""
        return (warp, register) in (self.reading, self.deciding)

    def others(self, warps: int) -> int:
        """Of some warps, a mask, those of which no register is under way."""
        for warp, _ in (self.reading, self.deciding, self.storing):
            if warp >= 0:
                warps &= ~(1 << warp)
        return warps
