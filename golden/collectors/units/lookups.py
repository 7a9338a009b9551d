"""Units over a register file that looks sources up later (docs/schemes/rfc.md, steps 2 and 4)."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from warpfile.golden.arbiter import ones
from warpfile.golden.collectors.gathering import SourceLookUps
from warpfile.golden.collectors.pool import CollectorUnits
from warpfile.golden.entry import Entry
from warpfile.golden.rf.contract import LateFile
from warpfile.spec.config import Config
from warpfile.spec.probe import ProbeLayout

#: Probes of events, and the counter that has one more for each of their bits.
EVENTS = {"interlock": "interlocks", "hit": "cache_hits", "miss": "cache_misses"}


class NearReads(NamedTuple):
    """What a unit reads near: slots and the names of their copies, and the note of its beat."""

    number: int
    slots: list[int]
    copies: list[int]
    note: int


class LookUps(SourceLookUps):
    """One unit is looked up and one reads per cycle, both in order of allocation."""

    def __init__(
        self, cfg: Config, layout: ProbeLayout, file: LateFile, units: CollectorUnits, counters: dict[str, int]
    ) -> None:
        self._file, self._units, self._counters = file, units, counters
        counters |= dict.fromkeys(EVENTS.values(), 0)
        names = ("check", "near_read", *EVENTS)
        super().__init__(min(layout.offset[name] for name in names))
        self._at = {name: layout.offset[name] - self.first for name in names}
        self._waiting: deque[tuple[int, int]] = deque()  # unit and note
        self._reading: NearReads | None = None
        self._defers = cfg.gives.defers
        self._deferred = False

    def begin(self) -> int:
        """Slots that ask; those whose row has yet to be written do not. Near reads and the look-up are announced."""
        requests, self.word = self._units.requests, 0
        asking, of_bank = requests.asking, requests.of_bank
        locked = self._file.unwritten(asking, requests.banks, requests.rows) if asking else 0
        if locked:
            self._show("interlock", locked)
            asking, of_bank = asking ^ locked, [mask & ~locked for mask in of_bank]
        self.asking = asking, of_bank
        if self._reading is not None:
            self._file.near(self._reading.copies)
        self._deferred = self._defers and self._must_wait()
        return asking

    def _must_wait(self) -> bool:
        """Whether the file puts the next look-up off."""
        if not self._waiting:
            return False
        unit = self._units.units[self._waiting[0][0]]
        assert unit.entry is not None, "a unit waits for its look-up without a beat"
        return self._file.deferred(unit.warp, unit.entry.beat.sources, unit.entry.beat.mask)

    def _show(self, probe: str, mask: int) -> None:
        self.word |= mask << self._at[probe]
        self._counters[EVENTS[probe]] += ones(mask)

    def expect(self, number: int, entry: Entry) -> None:
        """A unit with sources waits for its look-up."""
        if entry.beat.sources:
            self._waiting.append((number, self._file.note(entry.beat)))

    def step(self, cycle: int) -> int:
        """The unit that has near sources reads them, the next one is looked up; returns the reader's warp as a mask."""
        reading, self._reading = self._reading, None
        changed = 0
        if reading is not None:
            copies = self._file.near_data(reading.copies, reading.slots, reading.note)
            for slot, copy in zip(reading.slots, copies, strict=True):
                self._units.fetched(reading.number, slot, copy, cycle)
            self.word |= 1 << self._at["near_read"] + reading.number
            changed = 1 << self._units.units[reading.number].warp
        if self._waiting and not self._deferred:
            number, note = self._waiting.popleft()
            self._look_up(number, note)
        return changed

    def _look_up(self, number: int, note: int) -> None:
        """What is near is read in the next cycle, for the rest the unit asks from then on."""
        unit = self._units.units[number]
        assert unit.entry is not None, f"unit {number} is looked up without a beat"
        sources = unit.entry.beat.sources
        copies = self._file.look_up(unit.warp, sources)
        for slot, register in enumerate(sources):
            if copies[slot] < 0:
                self._units.present(number, slot, self._file.place(unit.warp, register))
        self.word |= 1 << self._at["check"] + number
        self._show("miss", unit.ungranted)
        near = [slot for slot, copy in enumerate(copies) if copy >= 0]
        if near:
            self._show("hit", sum(1 << slot for slot in near))
            self._reading = NearReads(number, near, [copies[slot] for slot in near], note)
