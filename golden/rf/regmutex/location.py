"""Where registers of both sets live (docs/schemes/regmutex.md, sections 3, 4 and 6)."""

from __future__ import annotations

from warpfile.golden.rf.location import Located
from warpfile.golden.rf.regmutex.sections import Sections
from warpfile.spec.schemes.regmutex import RegMutexConfig


class Sets(Located):
    """Location (``golden.rf.location.Located``) with a base for each set of a warp.

    ``split`` is the number of the first register of the extended set.
    """

    def __init__(self, cfg: RegMutexConfig, sections: Sections) -> None:
        self._banks, self._paired, self._sections = cfg.banks, cfg.paired, sections
        self._last = (1 << cfg.place_bits) - 1
        self._base = [0] * cfg.warps
        self._extended = [0] * cfg.warps
        self._acquired: tuple[int, int] | None = None
        self.split = self._size = self._pool = 0

    def kernel(self, base: int, extended: int, pool: int) -> None:
        """Sizes of the sets, and the first place behind the base sets, of the kernel that begins."""
        self.split, self._size, self._pool = base, extended, pool

    def launched(self, warp: int, base: int) -> None:
        """The warp's base set begins here; that of its pair is followed by what the two share."""
        self._base[warp] = base
        if self._paired:
            self._extended[warp] = base if warp % 2 else base + self.split

    def acquired(self, warp: int, section: int) -> None:
        """The warp's extended set is this section from the next cycle on; in paired mode it always is."""
        if not self._paired:
            self._acquired = warp, self._pool + section * self._size - self.split

    def edge(self) -> None:
        """What was acquired holds."""
        if self._acquired is not None:
            warp, base = self._acquired
            self._extended[warp] = base
            self._acquired = None

    def place(self, warp: int, register: int) -> tuple[int, int]:
        """Bank and row; the complement of the row if the register has no place."""
        if register < self.split:
            row, bank = divmod(self._base[warp] + register, self._banks)
            return bank, row
        row, bank = divmod(self._extended[warp] + register & self._last, self._banks)
        return bank, ~row if self._sections.lacks(warp) else row
