"""Collector units that look into the register cache before they ask the banks (docs/schemes/rfc.md, steps 2 and 4)."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from warpfile.golden.collectors.units.units import CollectorUnits, Unit
from warpfile.golden.copies import seen
from warpfile.golden.entry import Entry
from warpfile.golden.rf.location import Location
from warpfile.golden.rf.rfc.lines import Lines
from warpfile.spec.config import Config


class Check(NamedTuple):
    """A unit whose sources are looked up: masks over its slots, and slot and line of each hit."""

    number: int
    warp: int
    entry: Entry
    hit: int
    miss: int
    reads: list[tuple[int, int]]


class CheckedUnits(CollectorUnits):
    """``unchecked`` are the units that wait for their check, ``reading`` the one that has hits to read.

    One unit is checked and one is read per cycle, both in order of allocation, so there are never two of them.
    """

    def __init__(self, cfg: Config, location: Location) -> None:
        super().__init__(cfg, location)
        self.reading: Check | None = None
        self.unchecked: deque[int] = deque()
        self._filled: Check | None = None

    def _locate(self, base: int, warp: int, unit: Unit, sources: tuple[int, ...]) -> None:
        """A unit that is allocated asks nobody; with sources it waits for its check."""
        unit.ungranted = 0
        for register in sources:
            unit.unread |= 1 << register
        if sources:
            self.unchecked.append(base // self._slots)

    def check(self, lines: Lines, places: list[int]) -> Check:
        """Look up the sources of the unit that waits longest. Its hits are pinned and its misses ask from now on."""
        number = self.unchecked.popleft()
        unit, base = self.units[number], number * self._slots
        assert unit.entry is not None, f"unit {number} is checked without a beat"
        hit, reads, place = 0, list[tuple[int, int]](), places[unit.warp]
        for slot, register in enumerate(unit.entry.beat.sources):
            line = lines.find(place, register)
            if line >= 0:
                hit |= 1 << slot
                reads.append((slot, line))
                lines.pin(line)
                continue
            self.banks[base + slot], self.rows[base + slot] = self._location.place(unit.warp, register)
            if not (self._lowest and unit.ungranted):
                self._present(base + slot)
            unit.ungranted |= 1 << slot
        return Check(number, unit.warp, unit.entry, hit, unit.ungranted, reads)

    def read(self, lines: Lines) -> None:
        """The unit in ``reading`` takes the values of its hits."""
        check = self.reading
        assert check is not None, "no unit has hits to read"
        unit, base, sources = self.units[check.number], check.number * self._slots, check.entry.beat.sources
        for slot, line in check.reads:
            copy = lines.copy[line]
            self.values[base + slot] = copy if copy >= -1 else self.sees(base + slot, copy)
            unit.unread ^= 1 << sources[slot]
        self._filled, self.reading = check, None

    def sees(self, index: int, copy: int) -> int:
        """What the lanes of a slot's beat find in a copy."""
        entry = self.units[index // self._slots].entry
        assert entry is not None, f"slot {index} reads for no beat"
        return seen(copy, entry.beat.mask)

    def arrive(self, cycle: int) -> None:
        """Fill the slots whose data leave their bank in ``cycle``, and those that read the cache in it."""
        if self._arrivals:
            super().arrive(cycle)
        if self._filled is not None:
            number = self._filled.number
            self.units[number].missing -= len(self._filled.reads)
            self._note_ready(number)
            self._filled = None
