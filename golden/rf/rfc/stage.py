"""Register file cache with two-level scheduling (docs/schemes/rfc.md)."""

from __future__ import annotations

from collections.abc import Sequence

from warpfile.golden.arbiter import indices
from warpfile.golden.collectors.contract import Offer
from warpfile.golden.collectors.units.stage import BaselineStage
from warpfile.golden.entry import Entry
from warpfile.golden.machine import Machine
from warpfile.golden.rf.rfc.events import Events
from warpfile.golden.rf.rfc.flush import Flush
from warpfile.golden.rf.rfc.lines import Lines
from warpfile.golden.rf.rfc.queues import WriteQueues
from warpfile.golden.rf.rfc.results import ResultEntrance
from warpfile.golden.rf.rfc.units import Check, CheckedUnits
from warpfile.golden.scheduler.two_level.scheduler import Places, TwoLevel
from warpfile.spec.ctas import Launch
from warpfile.spec.environment import Result
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.rfc import DEAD, READ_PORTS, RfcConfig


class RfcStage(BaselineStage):
    """The baseline's stage with a cache per place between units and banks, and queues in front of the banks."""

    collectors: CheckedUnits

    def __init__(self, cfg: RfcConfig, layout: ProbeLayout, places: Places) -> None:
        super().__init__(cfg, layout, CheckedUnits)
        self.events = Events(layout, self.counters)
        self.lines = Lines(cfg, layout)
        self.queues = WriteQueues(cfg, layout, self.banks)
        shared = (self.location, self.lines, self.queues, places, self.events, self.banks.rows)
        self.entrance = ResultEntrance(cfg, *shared)
        self.flush = Flush(cfg, *shared)
        self._places = places
        self._slots = cfg.source_slots
        self._lru = cfg.replacement == "lru"
        self._taken = 0
        self._all_places = (1 << cfg.active_warps) - 1
        self._asking = self.collectors.requests
        self._at_check, self._at_cache_read = layout.offset["check"], layout.offset["cache_read"]

    def offer(self) -> Sequence[Offer]:
        """See the contract. Slots whose row is queued are kept from asking."""
        offers = super().offer()
        collectors, queues = self.collectors, self.queues
        self.events.word = 0
        self._taken = self._places.taken
        self._asking = collectors.requests
        if collectors.requested and queues.busy:
            locked = queues.interlocked(collectors.requested, collectors.banks, collectors.rows)
            if locked:
                self._word ^= locked << self._at_request
                self.events.show("interlock", locked)
                self._asking = [mask & ~locked for mask in collectors.requests]
        self._word |= self.lines.word | queues.word
        return offers

    def take(self, cycle: int, results: Sequence[Result | None]) -> int:
        """Steps 1 to 6. What decides over registered state comes first: the queues' heads and the banks' reads."""
        queues, collectors, entrance = self.queues, self.collectors, self.entrance
        queues.begin()
        left = queues.leave(cycle) if queues.busy else {}
        if collectors.requested:
            self._read(cycle)
        if left:
            queues.apply(left)
            for bank in left:
                self.events.note("bank_write", bank)
        reading = collectors.reading
        entrance.written, entrance.read_ports = 0, READ_PORTS
        if reading is not None:
            entrance.read_ports -= len(reading.reads)
            if self._lru:
                for _, line in reading.reads:
                    self.lines.touch(line)
        accepted = self._enter(cycle, results) if any(results) else 0
        if reading is not None:
            self._read_cache(reading)
        if self.flush.releasing:
            self.flush.send(entrance.read_ports, entrance.written)
        if collectors.unchecked:
            self._check()
        return accepted

    def _read(self, cycle: int) -> None:
        collectors, rows, counters, word = self.collectors, self.banks.rows, self.counters, 0
        grants = self.banks.grant(cycle, self._asking, collectors.order)
        counters["bank_reads"] += len(grants)
        counters["bank_conflicts"] += sum(map(int.bit_count, self._asking)) - len(grants)
        for index in grants:
            copy = rows[collectors.banks[index]][collectors.rows[index]]
            value = copy if copy >= -1 else collectors.sees(index, copy)
            self.changed |= 1 << collectors.granted(cycle, index, value)
            word |= 1 << index
        self._word |= word << self._at_grant

    def _enter(self, cycle: int, results: Sequence[Result | None]) -> int:
        accepted = self.entrance.enter(results)
        for port, result in enumerate(results):
            if result is not None and accepted >> port & 1:
                self.completion.add(cycle, result)
        return accepted

    def _read_cache(self, reading: Check) -> None:
        """Step 2. Pins are dropped after the results were entered."""
        beat, collectors = reading.entry.beat, self.collectors
        collectors.read(self.lines)
        self.changed |= 1 << reading.warp
        self._word |= 1 << self._at_cache_read + reading.number
        dead, evict_first = beat.hints >> DEAD if beat.converged else 0, beat.hints >> DEAD + self._slots
        for slot, line in reading.reads:
            self.lines.unpin(line, dead >> slot & 1, evict_first >> slot & 1)

    def _check(self) -> None:
        """Step 4."""
        check = self.collectors.check(self.lines, self._places.place)
        self._word |= 1 << self._at_check + check.number
        self.events.show("hit", check.hit)
        self.events.show("miss", check.miss)
        if check.hit:
            assert self.collectors.reading is None, "two units have hits to read"
            self.collectors.reading = check

    def accept(self, warp: int, entry: Entry) -> bool:
        """See the contract. A warp that ends takes its lines with it."""
        if entry.exits:
            for line in indices(self.lines.held & self.lines.of(self._places.place[warp])):
                self.lines.leave(line)
                self.events.note("drop", line)
        return super().accept(warp, entry)

    def launched(self, launch: Launch) -> None:
        """See the contract."""
        super().launched(launch)
        self.entrance.launched(launch.warp)

    def edge(self, cycle: int) -> int:
        """Data arrive, and places without a warp begin again."""
        if self._taken != self._all_places:
            self.lines.rewind(self._all_places & ~self._taken)
        self.collectors.arrive(cycle)
        return self._word | self.events.word


class Rfc(Machine[RfcStage]):
    """Golden model of the register file cache under the two-level scheduler."""

    def __init__(self, cfg: RfcConfig, layout: ProbeLayout) -> None:
        places = Places(cfg)
        stage = RfcStage(cfg, layout, places)
        super().__init__(cfg, layout, stage, TwoLevel(cfg, places, stage.flush.release))
