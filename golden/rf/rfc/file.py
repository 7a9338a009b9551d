"""Register file with a cache per active warp (docs/schemes/rfc.md)."""

from __future__ import annotations

from collections.abc import Mapping

from mypy_extensions import mypyc_attr

from warpfile.golden.arbiter import indices
from warpfile.golden.completion import Completion
from warpfile.golden.entry import Entry
from warpfile.golden.rf.banks import Access, Banks
from warpfile.golden.rf.contract import LateFile, Place
from warpfile.golden.rf.engine import EnginePort
from warpfile.golden.rf.location import Location
from warpfile.golden.rf.rfc.events import Events
from warpfile.golden.rf.rfc.flush import Flush
from warpfile.golden.rf.rfc.lines import Lines
from warpfile.golden.rf.rfc.queues import WriteQueues
from warpfile.golden.rf.rfc.results import ResultEntrance
from warpfile.golden.rf.rfc.shared_state import SharedState
from warpfile.golden.scheduler.places import Places
from warpfile.spec.beat import Beat
from warpfile.spec.cta_dispatcher import Launch
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.rfc import READ_PORTS, RfcConfig
from warpfile.spec.stimulus import Result


@mypyc_attr(allow_interpreted_subclasses=True)
class CachedFile(LateFile):
    """Register file (:class:`golden.rf.contract.LateFile`) with a cache per place and queues in front of the banks.

    A copy that is near is named by the number of its line.
    """

    hold = 0
    launch_ready = True
    drives_itself = True

    def __init__(self, cfg: RfcConfig, layout: ProbeLayout, places: Places | None) -> None:
        assert places is not None, "only active warps have a cache"
        self._counters: dict[str, int] = {}
        self.completion = Completion()
        self.engines: Mapping[str, EnginePort] = {}
        self.banks = Banks(cfg)
        self.location = Location(cfg)
        self.events = Events(layout, self._counters, cfg.keeps_lanes)
        self.lines = Lines(cfg, layout)
        self.queues = WriteQueues(cfg, layout, self.banks)
        inside = SharedState(self.location, self.lines, self.queues, places, self.events, self.banks)
        self.entrance = ResultEntrance(cfg, inside)
        self.flush = Flush(cfg, inside)
        self._places = places
        self._all_places = (1 << cfg.active_warps) - 1
        self._lru = cfg.replacement == "lru"
        self._slots = cfg.source_slots
        self._at_dead, self._at_evict_first = cfg.hint_at("dead"), cfg.hint_at("evict_first")
        self._near = 0
        self._word = 0

    def read(self, cycle: int, asking: list[int], rows: list[int], order: list[int]) -> list[Access]:
        """See the contract."""
        return self.banks.read(cycle, asking, rows, order)

    def place(self, warp: int, register: int) -> Place:
        """See the contract."""
        return self.location.place(warp, register)

    @property
    def counters(self) -> dict[str, int]:
        """See the contract."""
        return self._counters

    def release(self, places: int) -> int:
        """See the contract."""
        return self.flush.release(places)

    def note(self, beat: Beat) -> int:
        """Per source slot dead, if the beat's lanes have converged; then per slot evict first."""
        own = (1 << self._slots) - 1
        dead = beat.hints >> self._at_dead & own if beat.converged else 0
        return dead | (beat.hints >> self._at_evict_first & own) << self._slots

    def unwritten(self, slots: int, banks: list[int], rows: list[int]) -> int:
        """Slots whose row is queued."""
        return self.queues.interlocked(slots, banks, rows) if self.queues.busy else 0

    def near(self, copies: list[int]) -> None:
        """See the contract. What is read near takes read ports of the lines away from victims."""
        self._near = len(copies)
        if self._lru:
            for line in copies:
                self.lines.touch(line)

    def accept(self, cycle: int, results: list[Result | None], valid: int, store: int) -> int:
        """Steps 1, 3 and 6. The queues' heads leave first, because what is queued now leaves in a later cycle."""
        queues, entrance = self.queues, self.entrance
        self._word = self.lines.word | queues.word
        queues.begin()
        if queues.busy:
            for bank in queues.leave(cycle):
                self.events.note("bank_write", bank)
        entrance.written, entrance.read_ports = 0, READ_PORTS - self._near
        self._near = 0
        flushing = self.flush.releasing or self.flush.recalled >= 0
        if flushing:
            self.flush.choose()
        accepted = entrance.enter(results, valid, store) if valid else 0
        for port in indices(accepted):
            result = results[port]
            assert result is not None, f"port {port} has no result"
            self.completion.add(cycle, result)
        if flushing:
            self.flush.send(entrance.read_ports, entrance.written)
        return accepted

    def near_data(self, copies: list[int], slots: list[int], note: int) -> list[int]:
        """Step 2. Pins are dropped after the results were entered."""
        data = [self.lines.copy[line] for line in copies]
        for slot, line in zip(slots, copies, strict=True):
            self.lines.unpin(line, note >> slot & 1, note >> self._slots + slot & 1)
        return data

    def deferred(self, warp: int, sources: tuple[int, ...], lanes: int) -> bool:
        """Step 4, over registered state: whether a line lacks some of the lanes; it is recalled then."""
        place, lines, lacking = self._places.place[warp], self.lines, 0
        for register in sources:
            line = lines.find(place, register)
            if line >= 0 and lanes & ~lines.lanes[line]:
                lacking |= 1 << line
        if lacking:
            self.flush.recall(lacking)
            self.events.note("defer")
        return lacking != 0

    def look_up(self, warp: int, sources: tuple[int, ...]) -> list[int]:
        """Step 4. Lines that are found are pinned."""
        place = self._places.place[warp]
        found = [self.lines.find(place, register) for register in sources]
        for line in found:
            if line >= 0:
                self.lines.pin(line)
        return found

    def issued(self, warp: int, entry: Entry) -> None:
        """A warp that ends takes its lines with it."""
        if entry.exits:
            for line in indices(self.lines.held & self.lines.of(self._places.place[warp])):
                self.lines.leave(line)
                self.events.note("drop", line)

    def launched(self, launch: Launch) -> None:
        """See the contract."""
        self.location.launched(launch.warp, launch.base)
        self.entrance.launched(launch.warp)

    def edge(self, cycle: int) -> int:
        """Rows change, and places without a warp begin again."""
        if self.banks.writes:
            self.banks.edge()
        if self._places.taken != self._all_places:
            self.lines.rewind(self._all_places & ~self._places.taken)
        word, self.events.word = self._word | self.events.word, 0
        return word
