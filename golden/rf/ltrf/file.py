"""Register file with a cache that PREFETCHes fill, one grant in a cycle (docs/schemes/ltrf.md, sections 3 to 6)."""

from __future__ import annotations

from collections.abc import Sequence

from mypy_extensions import mypyc_attr

from warpfile.golden.rf.banks import Banks
from warpfile.golden.rf.location import Location
from warpfile.golden.rf.ltrf.channels import Channels
from warpfile.golden.rf.ltrf.interval_file import IntervalFile
from warpfile.golden.rf.ltrf.main import MainBanks
from warpfile.golden.rf.ltrf.partitions import Partitions
from warpfile.golden.rf.ltrf.results import ResultEntrance
from warpfile.golden.rf.ltrf.seen import Seen
from warpfile.golden.rf.ltrf.transfers import Transfers
from warpfile.golden.scheduler.places import Places
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.ltrf import LtrfConfig
from warpfile.spec.stimulus import Result


@mypyc_attr(allow_interpreted_subclasses=True)
class PrefetchedFile(IntervalFile):
    """``engine`` = ``serial``."""

    def __init__(self, cfg: LtrfConfig, layout: ProbeLayout, places: Places | None) -> None:
        assert places is not None, "only active warps have a cache"
        seen, location, cache, main = Seen(cfg, layout), Location(cfg), Banks(cfg.cache), MainBanks(cfg)
        partitions = Partitions(cfg, places, seen)
        inside = location, partitions, places
        self.channels = Channels(cfg, cache, main, seen)
        self.transfers = Transfers(cfg, self.channels, main, *inside, seen)
        entrance = ResultEntrance(cfg, cache, main, *inside, seen)
        super().__init__(places, seen, location, (cache, main), partitions, entrance)
        self._at_phases, self._at_busy = seen.at("channel_phase"), seen.at("main_busy")

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
