"""Which warps have an ACQ or a REL as their head beat (docs/schemes/regmutex.md, section 5)."""

from __future__ import annotations

from typing import Final

from warpfile.golden.arbiter import indices
from warpfile.golden.collectors.contract import Heads
from warpfile.spec.trace import Drain

_DISPATCHED: Final = int(Drain.DISPATCHED)


class PseudoHeads:
    """Masks over warps. A head beat stays until it issues, so that each is looked at once."""

    def __init__(self) -> None:
        self.acquiring = self.releasing = 0
        self._known = 0

    def update(self, heads: Heads) -> None:
        """Look at the head beats that are new."""
        for warp in indices(heads.buffered & ~self._known):
            beat, bit = heads.buffers[warp][0].beat, 1 << warp
            self._known |= bit
            if beat.pseudo:
                if beat.drain == _DISPATCHED:
                    self.releasing |= bit
                else:
                    self.acquiring |= bit

    def issued(self, warp: int) -> None:
        """The head beat is gone."""
        keep = ~(1 << warp)
        self._known &= keep
        self.acquiring &= keep
        self.releasing &= keep
