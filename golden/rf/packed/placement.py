"""Where a value goes (docs/schemes/corf.md, section 6)."""

from __future__ import annotations

from warpfile.golden.rf.renaming import UNMAPPED, Mapped
from warpfile.golden.rf.slices import FreeSlices, run
from warpfile.spec.contract import SLICES
from warpfile.spec.schemes.packed import LEFT, RIGHT, PackedConfig


class Wanted:
    """What is known of a value that needs slices.

    ``own``: those that its step makes free. ``partner``: where the partner was, None without one. ``side``: of its
    register.
    """

    __slots__ = ("home", "own", "partner", "side", "size")

    def __init__(self, home: int, size: int, own: Mapped, partner: Mapped | None, side: int) -> None:
        self.home, self.size, self.own, self.partner, self.side = home, size, own, partner, side


class Placement:
    """``find`` chooses, ``settle`` does what it chose last.

    ``reserves``: the row is kept for the partner.
    """

    def __init__(self, cfg: PackedConfig, free: FreeSlices) -> None:
        self.reserves = False
        self._free = free
        self._banks = 1 if cfg.one_bank else cfg.banks

    def find(self, wanted: Wanted) -> Mapped:
        """Slices for a value, ``UNMAPPED`` if there are none."""
        found = self._preferred(wanted)
        alone = wanted.partner is not None and not wanted.partner.mask
        self.reserves = alone and found.mask != 0 and wanted.size < SLICES
        if found.mask:
            return found
        return self._free.first_fit(wanted.home, self._banks, wanted.size, wanted.own)

    def _preferred(self, wanted: Wanted) -> Mapped:
        """Beside the partner, in a row that the partner can come to, or at its side."""
        size, own, partner = wanted.size, wanted.own, wanted.partner
        if wanted.side == RIGHT:
            return self._free.lowest_row(wanted.home, run(0, size), own)
        if wanted.side == LEFT:
            return self._free.lowest_row(wanted.home, run(SLICES - size, size), own)
        if partner is None:
            return UNMAPPED
        if partner.mask:
            return self._free.in_row(partner.bank, partner.row, size, own)
        return self._free.empty_row(wanted.home, size, own)

    def settle(self, wanted: Wanted, found: Mapped) -> None:
        """The value goes there."""
        self._free.release(wanted.own)
        self._free.take(found)
        if wanted.partner is not None and wanted.partner.mask:
            self._free.unreserve(wanted.partner)
        if self.reserves:
            self._free.reserve(found)


def shrunk(mapped: Mapped, size: int, side: int) -> Mapped:
    """The slices that a register keeps whose value needs fewer of them than it has."""
    bank, row, mask = mapped.bank, mapped.row, mapped.mask
    high = side == LEFT or (side != RIGHT and mask >> SLICES - 1 and not mask & 1)
    anchor = mask.bit_length() - size if high else (mask & -mask).bit_length() - 1
    return Mapped(bank, row, run(anchor, size))
