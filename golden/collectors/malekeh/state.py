"""What the caching units were at the beginning of a cycle: for decisions, and as probes (docs/schemes/malekeh.md)."""

from __future__ import annotations

from warpfile.golden.arbiter import indices
from warpfile.golden.collectors.malekeh.units import CachingUnits
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.malekeh import LFSR_BITS, MalekehConfig


class RegisteredState:
    """Masks and probes as of the last ``refresh``, while the units change in the course of a cycle.

    Over units: ``busy``, ``empty`` (no entry has a register), ``near`` (some entry is near). Over warps: ``prefer``
    (owners of a unit that is not empty) and ``occupied`` (owners of a busy one). ``word`` has the probes.
    """

    def __init__(self, cfg: MalekehConfig, layout: ProbeLayout, units: CachingUnits) -> None:
        self._units = units
        self._images = [0] * cfg.collectors
        self._rank_bits = cfg.rank_bits
        self._orders: list[list[int]] = [[] for _ in range(cfg.collectors)]
        self._ranks = [0] * cfg.collectors
        self._at_prefer = layout.offset["prefer"]
        self._at = [_Places(cfg, layout, unit) for unit in range(cfg.collectors)]
        self.busy = self.lacking = self.empty = self.near = self.prefer = self.occupied = self.word = 0
        units.touched = (1 << cfg.collectors) - 1
        self.refresh()

    def refresh(self) -> None:
        """Follow the units that changed."""
        touched = self._units.touched
        if not touched:
            return
        self._units.touched = 0
        for number in indices(touched):
            self._follow(number)
        word = prefer = occupied = 0
        for unit, image in zip(self._units.units, self._images, strict=True):
            word |= image
            if unit.owner >= 0:
                if unit.entries.used:
                    prefer |= 1 << unit.owner
                if unit.entry is not None:
                    occupied |= 1 << unit.owner
        self.prefer, self.occupied, self.word = prefer, occupied, word | prefer << self._at_prefer

    def _follow(self, number: int) -> None:
        unit, bit, at = self._units.units[number], 1 << number, self._at[number]
        entries = unit.entries
        busy = unit.entry is not None
        self.busy = self.busy | bit if busy else self.busy & ~bit
        lacks = unit.ready != unit.valid
        self.lacking = self.lacking | bit if lacks else self.lacking & ~bit
        self.empty = self.empty & ~bit if entries.used else self.empty | bit
        self.near = self.near | bit if entries.near else self.near & ~bit
        at = self._at[number]
        who = int(busy) | int(lacks) << at.lacking
        if unit.owner >= 0:
            who |= 1 << at.owned | unit.owner << at.owner
        if entries.order != self._orders[number]:
            self._orders[number] = entries.order.copy()
            ranks = sum(rank << entry * self._rank_bits for rank, entry in enumerate(entries.order))
            self._ranks[number] = ranks << at.rank
        image = self._ranks[number] | entries.tags << at.tag | who << at.busy
        image |= (entries.near | entries.locked << at.locked) << at.near
        self._images[number] = image | (unit.ready | entries.lfsr << at.lfsr) << at.filled


class _Places:
    """Where a unit's probes are: in the word, and those that make a short number with another one behind that."""

    def __init__(self, cfg: MalekehConfig, layout: ProbeLayout, unit: int) -> None:
        at, entries = layout.offset, unit * cfg.unit_entries
        self.busy, self.tag, self.near = at["busy"] + unit, at["tag"] + entries * cfg.tag_bits, at["near"] + entries
        self.rank, self.filled = at["rank"] + entries * cfg.rank_bits, at["filled"] + unit * cfg.source_slots
        self.lacking = at["lacking"] + unit - self.busy
        self.owned, self.owner = at["owned"] + unit - self.busy, at["owner"] + unit * cfg.warp_bits - self.busy
        self.locked, self.lfsr = at["locked"] + entries - self.near, at["lfsr"] + unit * LFSR_BITS - self.filled
