"""Units over a register file that has some sources near, which it knows with the offer (docs/schemes/shrf.md)."""

from __future__ import annotations

from collections import deque

from warpfile.golden.arbiter import lowest
from warpfile.golden.collectors.gathering import SourceLookUps
from warpfile.golden.collectors.pool import CollectorUnits
from warpfile.golden.collectors.units.lookups import NearReads
from warpfile.golden.entry import Entry
from warpfile.golden.rf.contract import Bring, LeveledFile
from warpfile.spec.probe import ProbeLayout


class NearSources(SourceLookUps):
    """One unit reads what it has near per cycle, in order of allocation; one slot that brings may ask its bank."""

    def __init__(self, layout: ProbeLayout, file: LeveledFile, units: CollectorUnits) -> None:
        self._file, self._units = file, units
        super().__init__(layout.offset["near_read"])
        self._waiting: deque[NearReads] = deque()
        self._bringing = 0  # slots that have not been granted yet
        self._copies = [-1] * len(units.values)
        self._slots = len(units.values) // len(units.units)

    def begin(self) -> int:
        """Slots that ask. The near reads of this cycle and the slot that brings are announced."""
        requests, self.word = self._units.requests, 0
        asking, of_bank = requests.asking, requests.of_bank
        self._bringing &= self._ungranted()
        bringing = self._bringing & asking
        if bringing:
            chosen = self._oldest(bringing)
            passed = bringing & ~(1 << chosen)
            if passed:
                asking, of_bank = asking ^ passed, [mask & ~passed for mask in of_bank]
            entry = self._units.units[chosen // self._slots].entry
            assert entry is not None, f"slot {chosen} brings for no beat"
            self._file.brings(Bring(chosen, self._copies[chosen], entry.beat.mask))
        self.asking = asking, of_bank
        if self._waiting:
            self._file.near(self._waiting[0].copies)
        return asking

    def _ungranted(self) -> int:
        return sum(unit.ungranted << number * self._slots for number, unit in enumerate(self._units.units))

    def _oldest(self, slots: int) -> int:
        """Of some slots, the lowest one of the unit that was allocated first."""
        for number in self._units.order:
            own = slots >> number * self._slots & (1 << self._slots) - 1
            if own:
                return number * self._slots + lowest(own)
        raise AssertionError("a slot that brings belongs to no unit")

    def expect(self, number: int, entry: Entry) -> None:
        """A unit takes a beat: what is not near is asked for."""
        warp, sources = self._units.units[number].warp, entry.beat.sources
        copies, bringing = self._file.named(warp, entry.beat)
        base = number * self._slots
        self._bringing |= bringing << base
        near = []
        for slot, register in enumerate(sources):
            self._copies[base + slot] = copies[slot]
            if copies[slot] >= 0 and not bringing >> slot & 1:
                near.append(slot)
            else:
                self._units.present(number, slot, self._file.place(warp, register))
        if near:
            self._waiting.append(NearReads(number, near, [copies[slot] for slot in near], 0))

    def step(self, cycle: int) -> int:
        """The unit that waits longest reads what it has near; returns its warp as a mask."""
        if not self._waiting:
            return 0
        reading = self._waiting.popleft()
        copies = self._file.near_data(reading.copies, reading.slots, reading.note)
        for slot, copy in zip(reading.slots, copies, strict=True):
            self._units.fetched(reading.number, slot, copy, cycle)
        self.word |= 1 << reading.number
        return 1 << self._units.units[reading.number].warp
