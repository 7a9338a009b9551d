"""Which warps own what they share, and which wait for an owner to end (docs/schemes/owf.md, sections 3 to 5)."""

from __future__ import annotations

from warpfile.golden.arbiter import indices
from warpfile.golden.collectors.contract import Heads


class Owners:
    """Masks over warps. ``owner``, ``slots`` (below n), ``resident`` and ``stray`` change at the ``edge`` only."""

    def __init__(self, warps: int) -> None:
        self.owner = self.slots = self.resident = 0
        self.stray = False
        self._even = sum(1 << warp for warp in range(0, warps, 2))
        self._cta = [0] * warps
        self._closed = 0  # warps of whose partner's CTA some warp is an owner
        self._known = self._naming = 0  # heads that were looked at; those that name a shared register
        self._taken = self._ended = self._begun = 0

    def holds(self, heads: Heads, split: int) -> int:
        """Warps whose head beat must wait. A head beat stays until it issues, so that each is looked at once."""
        for warp in indices(heads.buffered & ~self._known):
            self._known |= 1 << warp
            if heads.buffers[warp][0].touched >> split:
                self._naming |= 1 << warp
        return self._naming & self.slots & ~self.owner & self._closed

    def issued(self, warp: int, exits: bool) -> bool:
        """The head beat issues. Returns whether it makes its warp an owner."""
        bit = 1 << warp
        takes = bool(self._naming & self.slots & ~self.owner & bit)
        if takes:
            self._taken = bit
        if exits:
            self._ended = bit
        self._known &= ~bit
        self._naming &= ~bit
        return takes

    def launched(self, warp: int, cta: int) -> None:
        """The warp is resident from the next cycle."""
        self._cta[warp] = cta
        self._begun = 1 << warp

    def kernel(self, paired: int) -> None:
        """A kernel begins in which so many slots have partners."""
        self.slots = (1 << paired) - 1

    def edge(self) -> None:
        """The state as the next cycle sees it."""
        self.stray |= self.owner & self._even & self.owner >> 1 != 0
        if self._taken | self._ended | self._begun:
            self.owner = (self.owner | self._taken) & ~self._ended
            self.resident = self.resident & ~self._ended | self._begun
            self._taken = self._ended = self._begun = 0
            self._closed = self.closed()

    def closed(self) -> int:
        """Resident warps of whose partner's CTA some warp is an owner."""
        owning = 0
        for warp in indices(self.owner):
            owning |= 1 << self._cta[warp]
        found = 0
        if owning:
            for warp in indices(self.resident & self.slots):
                if owning >> (self._cta[warp] ^ 1) & 1:
                    found |= 1 << warp
        return found
