"""Which near slots keep which registers, and the unit that a beat takes (docs/schemes/sticky.md, steps 4 to 6)."""

from __future__ import annotations

from warpfile.golden.arbiter import indices
from warpfile.golden.entry import Entry
from warpfile.spec.schemes.sticky import StickyConfig


class KeptOperands:
    """Tags of all near slots, and those whose data are still their register's value.

    ``kept`` is a mask, bit unit * near slots + slot, and changes at once; ``names`` and ``owners`` (warps) by the same
    number. ``order``: all units, the one allocated longest ago first.
    """

    def __init__(self, cfg: StickyConfig) -> None:
        self._near = cfg.near_slots
        self._keeps = cfg.keeps_operands
        self._name_bits, self._warp_bits = cfg.register_bits, cfg.warp_bits
        self.kept = 0
        self.names = [0] * (cfg.collectors * cfg.near_slots)
        self.owners = [0] * (cfg.collectors * cfg.near_slots)
        self.order = list(range(cfg.collectors))

    def hits(self, unit: int, warp: int, entry: Entry) -> int:
        """Source slots of a beat that find their register in this unit, as a mask."""
        found, base = 0, unit * self._near
        own = self.kept >> base & (1 << self._near) - 1
        if not own:
            return 0
        for slot, register in enumerate(entry.beat.sources[: self._near]):
            if own >> slot & 1 and self.holds(base + slot, warp, register):
                found |= 1 << slot
        return found

    def holds(self, slot: int, warp: int, register: int) -> bool:
        """Whether a near slot has this tag."""
        return self.names[slot] == register and self.owners[slot] == warp

    def choose(self, free: int, warp: int, entry: Entry) -> tuple[int, int]:
        """Of the free units the one that a beat takes, and its slots that hit there."""
        first = -1
        for unit in self.order:
            if free >> unit & 1:
                hits = self.hits(unit, warp, entry)
                if hits:
                    return unit, hits
                if first < 0:
                    first = unit
        return first, 0

    def overwritten(self, warp: int, entry: Entry) -> int:
        """Kept slots whose register an issuing beat writes."""
        if not entry.executes or not entry.dests or not self.kept:
            return 0
        found = 0
        for slot in indices(self.kept):
            if self.owners[slot] == warp and entry.dests >> self.names[slot] & 1:
                found |= 1 << slot
        return found

    def drop(self, slots: int) -> None:
        """These slots keep nothing any more."""
        self.kept &= ~slots

    def exits(self, warp: int) -> None:
        """Nothing of the warp is kept."""
        for slot in indices(self.kept):
            if self.owners[slot] == warp:
                self.kept ^= 1 << slot

    def take(self, unit: int, warp: int, entry: Entry) -> None:
        """A unit takes a beat: it keeps what its near slots get, but what the beat itself writes."""
        for slot, register in enumerate(entry.beat.sources[: self._near], unit * self._near):
            self.names[slot], self.owners[slot] = register, warp
            bit = 1 << slot
            self.kept = self.kept & ~bit if entry.dests >> register & 1 or not self._keeps else self.kept | bit
        self.order.remove(unit)
        self.order.append(unit)

    def shown(self) -> tuple[int, int]:
        """Names and warps of the kept slots, each side by side."""
        names = warps = 0
        for slot in indices(self.kept):
            names |= self.names[slot] << slot * self._name_bits
            warps |= self.owners[slot] << slot * self._warp_bits
        return names, warps
