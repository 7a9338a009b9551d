"""What the slices of all rows hold (docs/schemes/corf.md, section 3)."""

from __future__ import annotations

from warpfile.golden.copies import POISON
from warpfile.golden.rf.renaming import Mapped
from warpfile.spec.config import Config
from warpfile.spec.contract import SLICES


class Cells:
    """Every slice holds a byte of a copy (``golden.copies``): which one, and of how many.

    Who reads other slices than were written together finds ``POISON``, and so does who reads what was given up.
    """

    def __init__(self, cfg: Config) -> None:
        slices = cfg.rows * SLICES
        self._copies = [[POISON] * slices for _ in range(cfg.banks)]
        self._bytes = [[(0, 0)] * slices for _ in range(cfg.banks)]

    def read(self, mapped: Mapped) -> int:
        """The copy that these slices, unpacked, are."""
        bank, row, mask = mapped.bank, mapped.row, mapped.mask
        size = mask.bit_count()
        first = row * SLICES + (mask & -mask).bit_length() - 1
        copies, places = self._copies[bank], self._bytes[bank]
        for number in range(size):
            if places[first + number] != (number, size) or copies[first + number] != copies[first]:
                return POISON
        return copies[first]

    def write(self, mapped: Mapped, copy: int) -> None:
        """All lanes of these slices."""
        bank, row, mask = mapped.bank, mapped.row, mapped.mask
        size = mask.bit_count()
        first = row * SLICES + (mask & -mask).bit_length() - 1
        for number in range(size):
            self._copies[bank][first + number] = copy
            self._bytes[bank][first + number] = number, size

    def give_up(self, mapped: Mapped) -> None:
        """These slices are not read before they are written again."""
        for number in range(SLICES):
            if mapped.mask >> number & 1:
                self._copies[mapped.bank][mapped.row * SLICES + number] = POISON
