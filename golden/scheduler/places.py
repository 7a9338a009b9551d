"""Places for active warps, which a scheduler gives and a register file may keep something for."""

from __future__ import annotations

from warpfile.spec.config import Config


class Places:
    """Who holds which place: ``warp`` per place and ``place`` per warp, -1 for none.

    ``taken`` is a mask of places, ``holders`` one of warps, and ``packed`` has every place's warp, zero if free. They
    change at the end of the clock edge only, so that a register file may look at any time.
    """

    def __init__(self, cfg: Config) -> None:
        self._warp_bits = cfg.warp_bits
        self.warp = [-1] * cfg.active_warps
        self.place = [-1] * cfg.warps
        self.taken = self.holders = self.packed = 0

    @classmethod
    def of_all(cls, cfg: Config) -> Places:
        """Every warp slot holds the place of its number, for good: for schedulers that have none."""
        found = cls(cfg)
        found.warp, found.place = list(range(cfg.warps)), list(range(cfg.warps))
        found.taken = found.holders = (1 << cfg.warps) - 1
        found.packed = sum(warp << warp * cfg.warp_bits for warp in found.warp)
        return found

    def give(self, place: int, warp: int) -> None:
        """``warp`` gets a place that is free."""
        assert self.warp[place] < 0 and self.place[warp] < 0, f"place {place} cannot be given to warp {warp}"
        self.warp[place], self.place[warp] = warp, place
        self.taken |= 1 << place
        self.holders |= 1 << warp
        self.packed |= warp << place * self._warp_bits

    def free(self, place: int) -> None:
        """No warp holds the place any more."""
        warp = self.warp[place]
        assert warp >= 0, f"place {place} is freed twice"
        self.warp[place] = self.place[warp] = -1
        self.taken ^= 1 << place
        self.holders ^= 1 << warp
        self.packed ^= warp << place * self._warp_bits
