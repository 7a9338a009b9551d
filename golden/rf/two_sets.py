"""Where registers live whose warp has two sets of them, each with a base of its own."""

from __future__ import annotations

from warpfile.golden.rf.location import Located
from warpfile.spec.config import Config


class TwoSets(Located):
    """Location (``golden.rf.location.Located``) with a base for each set of a warp.

    ``split`` is the number of the first register of the second set. A place of the second set is its base plus the
    register's number, modulo the width of a place.
    """

    def __init__(self, cfg: Config) -> None:
        self._banks = cfg.banks
        self._last = (1 << cfg.place_bits) - 1
        self._base = [0] * cfg.warps
        self._second = [0] * cfg.warps
        self.split = 0

    def launched(self, warp: int, base: int) -> None:
        """The warp's first set begins here."""
        self._base[warp] = base

    def behind_pair(self, warp: int, base: int) -> None:
        """The second set of the warp is what two warps share: it stands behind the first set of the odd one."""
        self._second[warp] = base if warp % 2 else base + self.split

    def place(self, warp: int, register: int) -> tuple[int, int]:
        """Bank and row of a register of the warp in slot ``warp``."""
        if register < self.split:
            row, bank = divmod(self._base[warp] + register, self._banks)
        else:
            row, bank = divmod(self._second[warp] + register & self._last, self._banks)
        return bank, row
