"""Registers that are dead behind a beat (docs/schemes/corf.md, section 9)."""

from __future__ import annotations

from typing import Final

from warpfile.golden.arbiter import indices
from warpfile.golden.collectors.pool import CollectorUnits
from warpfile.golden.entry import Entry
from warpfile.spec.config import Config

_NEVER: Final = 1 << 62


class Kills:
    """``mask`` has the source slots, numbered unit * source_slots + slot, whose register is to lose its slices."""

    def __init__(self, cfg: Config, units: CollectorUnits) -> None:
        self.mask = 0
        self._units = units
        self._hint, self._slots = cfg.hint_at("kill"), cfg.source_slots
        slots = cfg.collectors * cfg.source_slots
        self.registers = [0] * slots
        self._filled = [_NEVER] * slots  # the first cycle in which a slot is
        self._of_unit = [((1 << self._slots) - 1) << number * self._slots for number in range(cfg.collectors)]

    def expect(self, number: int, entry: Entry) -> int:
        """A unit takes a beat; returns the slots whose kill is refused."""
        beat = entry.beat
        hints = beat.hints >> self._hint & (1 << len(beat.sources)) - 1
        if not beat.converged:
            return hints
        for slot in indices(hints):
            index = number * self._slots + slot
            self.mask |= 1 << index
            self.registers[index], self._filled[index] = beat.sources[slot], _NEVER
        return 0

    def filled(self, index: int, cycle: int) -> None:
        """A slot is filled from this cycle on."""
        self._filled[index] = cycle

    def over(self, index: int) -> None:
        """The register of a slot is nowhere."""
        self.mask &= ~(1 << index)

    def of_unit(self, number: int) -> int:
        """Those of one unit."""
        return self.mask & self._of_unit[number]

    def blocked(self, warp: int) -> int:
        """Registers of a warp that are to lose their slices."""
        blocked = 0
        for index in indices(self.mask):
            if self._units.units[index // self._slots].warp == warp:
                blocked |= 1 << self.registers[index]
        return blocked

    def offered(self, cycle: int) -> int:
        """The first slot that is filled and whose register has no pending read, -1 if there is none."""
        for index in indices(self.mask):
            if self._filled[index] <= cycle:
                unread = self._units.unread(self._units.units[index // self._slots].warp)
                if not unread >> self.registers[index] & 1:
                    return index
        return -1
