"""Register file with a cache that PREFETCHes fill, interval by interval (docs/schemes/ltrf.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mypy_extensions import mypyc_attr

from warpfile.golden.completion import Completion
from warpfile.golden.rf.banks import Access, Banks
from warpfile.golden.rf.contract import Place
from warpfile.golden.rf.engine import EnginePort
from warpfile.golden.rf.location import Location
from warpfile.golden.rf.ltrf.channels import Channels
from warpfile.golden.rf.ltrf.main import MainBanks
from warpfile.golden.rf.ltrf.partitions import Partitions
from warpfile.golden.rf.ltrf.results import ResultEntrance
from warpfile.golden.rf.ltrf.seen import Seen
from warpfile.golden.rf.ltrf.transfers import Transfers
from warpfile.golden.scheduler.places import Places
from warpfile.spec.beat import Beat
from warpfile.spec.ctas import Launch
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.ltrf import LtrfConfig
from warpfile.spec.stimulus import Result


@mypyc_attr(allow_interpreted_subclasses=True)
class PrefetchedFile:
    """Register file (:class:`golden.rf.contract.LateFile`) with nothing near: units read the banks of the cache.

    It takes the operands of pseudo-instructions.
    """

    launch_ready = True
    drives_itself = True

    def __init__(self, cfg: LtrfConfig, layout: ProbeLayout, places: Places | None) -> None:
        assert places is not None, "only active warps have a cache"
        self.completion = Completion()
        self.engines: Mapping[str, EnginePort] = {}
        self.seen = Seen(cfg, layout)
        self.counters = self.seen.counters
        self.location = Location(cfg)
        self.cache, self.main = Banks(cfg.cache), MainBanks(cfg)
        self.partitions = Partitions(cfg, places, self.seen)
        self.channels = Channels(cfg, self.cache, self.main, self.seen)
        inside = self.location, self.partitions, places
        self.transfers = Transfers(cfg, self.channels, self.main, *inside, self.seen)
        self.entrance = ResultEntrance(cfg, self.cache, self.main, *inside, self.completion, self.seen)
        self.release = self.partitions.release
        self.issued = self.partitions.issued
        self.hold = self.partitions.hold
        self._places = places
        self._at_phases, self._at_busy = self.seen.at("channel_phase"), self.seen.at("main_busy")

    def operand(self, operand: int) -> None:
        """See the contract."""
        self.partitions.operand = operand

    def note(self, beat: Beat) -> int:
        """Nothing is near."""
        return 0

    def unwritten(self, slots: int, banks: Sequence[int], rows: Sequence[int]) -> int:
        """A result is in its row when it is complete."""
        return 0

    def deferred(self, warp: int, sources: Sequence[int], lanes: int) -> bool:
        """No look-up is put off."""
        return False

    def near(self, copies: Sequence[int]) -> None:
        """Nothing is near."""

    def near_data(self, copies: Sequence[int], slots: Sequence[int], note: int) -> list[int]:
        """Nothing is near."""
        return []

    def accept(self, cycle: int, results: Sequence[Result | None], valid: int, store: int) -> int:
        """See the contract. Channels take the write ports that results leave, or that they have lost too often."""
        channels, accepted = self.channels, 0
        if channels.urgent:
            channels.first(cycle)
        if valid:
            accepted = self.entrance.enter(cycle, results, valid, store)
        if channels.storing:
            channels.store(cycle)
        return accepted

    def read(self, cycle: int, asking: Sequence[int], rows: Sequence[int], order: Sequence[int]) -> list[Access]:
        """See the contract."""
        grants = self.cache.read(cycle, asking, rows, order)
        self.counters["cache_reads"] += len(grants)
        return grants

    def look_up(self, warp: int, sources: Sequence[int]) -> list[int]:
        """See the contract. A source that is not there sets the error flag."""
        self.counters["look_ups"] += 1
        part = self.partitions.parts[self._places.place[warp]]
        for slot, register in enumerate(sources):
            self.seen.looked_up(slot, part.bank[register])
            if not part.cached >> register & 1:
                self.seen.fails = True
        return [-1] * len(sources)

    def place(self, warp: int, register: int) -> Place:
        """Bank and row of the cache."""
        place = self._places.place[warp]
        return self.partitions.parts[place].bank[register], place

    def launched(self, launch: Launch) -> None:
        """See the contract."""
        self.location.launched(launch.warp, launch.base)
        self.partitions.launched(launch.warp)
        self.entrance.launched(launch.warp)

    def edge(self, cycle: int) -> int:
        """Places and channels go on, then rows change."""
        partitions, channels, main = self.partitions, self.channels, self.main
        word = partitions.word | channels.word << self._at_phases | main.busy << self._at_busy
        if channels.loading:
            channels.load(cycle)
        self.transfers.choose(self.entrance.starts)
        partitions.edge()
        if channels.busy:
            channels.edge(cycle)
            partitions.free(channels.freed)
        self.transfers.grant(cycle)
        self.entrance.edge(cycle)
        main.edge(cycle)
        if self.cache.writes:
            self.cache.edge()
        self.hold = partitions.hold
        return (word | self.seen.edge()) << self.seen.first
