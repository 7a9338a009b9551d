"""Where registers of both sets live (docs/schemes/regmutex.md, sections 3, 4 and 6)."""

from __future__ import annotations

from warpfile.golden.rf.regmutex.sections import Sections
from warpfile.golden.rf.two_sets import TwoSets
from warpfile.spec.schemes.regmutex import RegMutexConfig


class Sets(TwoSets):
    """The base set, and the extended one that a warp has while it has a section."""

    def __init__(self, cfg: RegMutexConfig, sections: Sections) -> None:
        super().__init__(cfg)
        self._paired, self._sections = cfg.paired, sections
        self._acquired: tuple[int, int] | None = None
        self._size = self._pool = 0

    def kernel(self, base: int, extended: int, pool: int) -> None:
        """Sizes of the sets, and the first place behind the base sets, of the kernel that begins."""
        self.split, self._size, self._pool = base, extended, pool

    def launched(self, warp: int, base: int) -> None:
        """The warp's base set begins here; that of its pair is followed by what the two share."""
        super().launched(warp, base)
        if self._paired:
            self.behind_pair(warp, base)

    def acquired(self, warp: int, section: int) -> None:
        """The warp's extended set is this section from the next cycle on; in paired mode it always is."""
        if not self._paired:
            self._acquired = warp, self._pool + section * self._size - self.split

    def edge(self) -> None:
        """What was acquired holds."""
        if self._acquired is not None:
            warp, base = self._acquired
            self._second[warp] = base
            self._acquired = None

    def place(self, warp: int, register: int) -> tuple[int, int]:
        """Bank and row; the complement of the row if the register has no place."""
        bank, row = super().place(warp, register)
        return bank, ~row if register >= self.split and self._sections.lacks(warp) else row
