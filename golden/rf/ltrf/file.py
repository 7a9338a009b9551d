"""Register file with a cache that PREFETCHes fill; every bank moves registers by itself (docs/schemes/ltrf.md)."""

from __future__ import annotations

from collections.abc import Mapping

from mypy_extensions import mypyc_attr

from warpfile.golden.collectors.contract import Heads
from warpfile.golden.entry import Entry
from warpfile.golden.rf.banks import Access, Banks
from warpfile.golden.rf.contract import GatedFile, LateFile, Place
from warpfile.golden.rf.engine import EnginePort
from warpfile.golden.rf.location import Location
from warpfile.golden.rf.ltrf.fills import Fills
from warpfile.golden.rf.ltrf.main import MainBanks
from warpfile.golden.rf.ltrf.partitions import Partitions
from warpfile.golden.rf.ltrf.probes import Probes
from warpfile.golden.rf.ltrf.results import ResultEntrance
from warpfile.golden.rf.ltrf.write_backs import WriteBacks
from warpfile.golden.scheduler.places import Places
from warpfile.spec.beat import Beat
from warpfile.spec.cta_dispatcher import Launch
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.ltrf import LtrfConfig
from warpfile.spec.stimulus import Result


@mypyc_attr(allow_interpreted_subclasses=True)
class PrefetchedFile(LateFile, GatedFile):
    """Register file (:class:`golden.rf.contract.LateFile`) with nothing near: units read the banks of the cache.

    It is a :class:`golden.rf.contract.GatedFile`, too, and takes the operands of pseudo-instructions.
    """

    launch_ready = True
    drives_itself = True
    refuses = 0
    yields = 0

    def __init__(self, cfg: LtrfConfig, layout: ProbeLayout, places: Places | None) -> None:
        assert places is not None, "only active warps have a cache"
        self.engines: Mapping[str, EnginePort] = {}
        self.probes = probes = Probes(cfg, layout)
        self.location, self.cache, self.main = Location(cfg), Banks(cfg.cache), MainBanks(cfg, probes)
        self.partitions = partitions = Partitions(cfg, places, self.location, probes)
        self.directory = partitions.directory
        self.fills = Fills(cfg, self.cache, self.main, self.directory, probes)
        self.backs = WriteBacks(cfg, self.cache, self.main, self.directory, self.fills, probes)
        storage = self.cache, self.main
        self.entrance = ResultEntrance(cfg, storage, self.location, partitions, places, self.fills, probes)
        self.completion = self.entrance.completion
        self.hold = partitions.hold
        self._places = places
        self._at_busy, self._at_asks = probes.at("main_busy"), probes.at("fill_asks")
        # These lie side by side: a word by itself, which goes into the long one at once.
        self._at_fills, self._at_phases, self._at_backs, self._at_latches = (
            probes.at(name) - self._at_asks for name in ("fill_place", "back_phase", "back_place", "latch_state")
        )

    @property
    def counters(self) -> dict[str, int]:
        """See the contract."""
        return self.probes.counters

    def operand(self, operand: int) -> None:
        """See the contract."""
        self.partitions.operand = operand

    def gate(self, heads: Heads) -> None:
        """See the contract: it only looks at the head beat of a warp that comes back."""
        self.partitions.gate(heads)

    def refused(self, warp: int) -> None:
        """No beat is refused."""

    def note(self, beat: Beat) -> int:
        """Nothing is near."""
        return 0

    def unwritten(self, slots: int, banks: list[int], rows: list[int]) -> int:
        """A result is in its row when it is complete."""
        return 0

    def deferred(self, warp: int, sources: tuple[int, ...], lanes: int) -> bool:
        """No look-up is put off."""
        return False

    def near(self, copies: list[int]) -> None:
        """Nothing is near."""

    def near_data(self, copies: list[int], slots: list[int], note: int) -> list[int]:
        """Nothing is near."""
        return []

    def read(self, cycle: int, asking: list[int], rows: list[int], order: list[int]) -> list[Access]:
        """See the contract."""
        grants = self.cache.read(cycle, asking, rows, order)
        self.probes.counts.cache_reads += len(grants)
        return grants

    def look_up(self, warp: int, sources: tuple[int, ...]) -> list[int]:
        """See the contract. A source that is not there sets the error flag."""
        self.probes.counts.look_ups += 1
        part = self.partitions.parts[self._places.place[warp]]
        for slot, register in enumerate(sources):
            self.probes.looked_up(slot, part.bank[register])
            if not part.cached >> register & 1:
                self.probes.fails = True
        return [-1] * len(sources)

    def place(self, warp: int, register: int) -> Place:
        """Bank and row of the cache."""
        place = self._places.place[warp]
        return self.partitions.parts[place].bank[register], place

    def release(self, places: int) -> int:
        """See the contract."""
        return self.partitions.release(places)

    def issued(self, warp: int, entry: Entry) -> None:
        """See the contract."""
        self.partitions.issued(warp, entry)

    def launched(self, launch: Launch) -> None:
        """See the contract."""
        self.location.launched(launch.warp, launch.base)
        self.partitions.launched(launch.warp)
        self.entrance.launched(launch.warp)

    def accept(self, cycle: int, results: list[Result | None], valid: int, store: int) -> int:
        """See the contract. Fills take their write ports, and write-backs those read ports that they lost too often."""
        if self.fills.storing:
            self.fills.store(cycle)
        if self.backs.urgent:
            self.backs.first(cycle)
        return self.entrance.enter(cycle, results, valid, store) if valid else 0

    def _word(self) -> int:
        """Registered probes."""
        fills, backs, main = self.fills, self.backs, self.main
        word = self.partitions.word | self.directory.word
        if main.busy:
            word |= main.busy << self._at_busy
        moves = fills.asks | fills.word << self._at_fills
        if backs.phases:
            moves |= backs.phases << self._at_phases | backs.places << self._at_backs
        if main.word:
            moves |= main.word << self._at_latches
        return word | moves << self._at_asks if moves else word

    def edge(self, cycle: int) -> int:
        """Everything is chosen, then everything changes."""
        partitions, fills, backs, main = self.partitions, self.fills, self.backs, self.main
        word = self._word()
        if backs.loading:
            backs.load(cycle)
        main.choose(cycle)
        fills.choose(cycle)
        backs.choose(cycle, self.entrance.starts)
        partitions.edge()
        fills.edge(cycle)
        backs.edge(cycle)
        main.write_back(cycle)
        self.entrance.edge(cycle)
        main.edge(cycle)
        if self.cache.writes:
            self.cache.edge()
        self.hold = partitions.hold
        return (word | self.probes.edge()) << self.probes.first
