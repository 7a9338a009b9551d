"""Where private and shared registers live (docs/schemes/owf.md, sections 4 and 6)."""

from __future__ import annotations

from warpfile.golden.rf.two_sets import TwoSets
from warpfile.spec.config import Config


class Sets(TwoSets):
    """The private registers, and the shared ones: those of partners are in the same places."""

    def __init__(self, cfg: Config) -> None:
        super().__init__(cfg)
        self._paired = 0

    def kernel(self, private: int, paired: int) -> None:
        """Private registers, and slots with a partner, of the kernel that begins."""
        self.split, self._paired = private, paired

    def launched(self, warp: int, base: int) -> None:
        """Without a partner both sets stand side by side."""
        super().launched(warp, base)
        if warp < self._paired:
            self.behind_pair(warp, base)
        else:
            self._second[warp] = base
