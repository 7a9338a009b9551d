"""Register file in which every bank moves registers by itself (docs/schemes/ltrf.md, section 14)."""

from __future__ import annotations

from collections.abc import Sequence

from mypy_extensions import mypyc_attr

from warpfile.golden.rf.banks import Banks
from warpfile.golden.rf.location import Location
from warpfile.golden.rf.ltrf.backs import Backs
from warpfile.golden.rf.ltrf.bank_partitions import BankPartitions
from warpfile.golden.rf.ltrf.file import PrefetchedFile
from warpfile.golden.rf.ltrf.fills import Fills
from warpfile.golden.rf.ltrf.interval_file import IntervalFile
from warpfile.golden.rf.ltrf.latch_entrance import LatchEntrance
from warpfile.golden.rf.ltrf.latches import LatchedBanks
from warpfile.golden.rf.ltrf.seen import Seen
from warpfile.golden.scheduler.places import Places
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.ltrf import LtrfConfig
from warpfile.spec.stimulus import Result


@mypyc_attr(allow_interpreted_subclasses=True)
class BankFile(IntervalFile):
    """``engine`` = ``banks``."""

    def __init__(self, cfg: LtrfConfig, layout: ProbeLayout, places: Places | None) -> None:
        assert places is not None, "only active warps have a cache"
        seen, location, cache = Seen(cfg, layout), Location(cfg), Banks(cfg.cache)
        self.latched = main = LatchedBanks(cfg, seen)
        partitions = BankPartitions(cfg, places, location, seen)
        self.directory = partitions.directory
        self.fills = Fills(cfg, cache, main, self.directory, seen)
        self.backs = Backs(cfg, cache, main, self.directory, self.fills, seen)
        entrance = LatchEntrance(cfg, (cache, main), location, partitions, places, self.fills, seen)
        super().__init__(places, seen, location, (cache, main), partitions, entrance)
        names = ("fill_asks", "fill_place", "back_phase", "back_place", "latch_state", "main_busy")
        self._at = [seen.at(name) for name in names]

    def accept(self, cycle: int, results: Sequence[Result | None], valid: int, store: int) -> int:
        """See the contract. Fills take their write ports, and write-backs those read ports that they lost too often."""
        if self.fills.storing:
            self.fills.store(cycle)
        if self.backs.urgent:
            self.backs.first(cycle)
        return self.entrance.enter(cycle, results, valid, store) if valid else 0

    def _word(self) -> int:
        """Registered probes."""
        fills, backs, main, at = self.fills, self.backs, self.latched, self._at
        word = self.partitions.word | self.directory.word | main.word << at[4] | main.busy << at[5]
        word |= fills.asks << at[0] | fills.word << at[1]
        return word | backs.phases << at[2] | backs.places << at[3]

    def edge(self, cycle: int) -> int:
        """Everything is chosen, then everything changes."""
        partitions, fills, backs, main = self.partitions, self.fills, self.backs, self.latched
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
        return (word | self.seen.edge()) << self.seen.first


def prefetched_file(cfg: LtrfConfig, layout: ProbeLayout, places: Places | None) -> IntervalFile:
    """The register file with the engine that the configuration names."""
    return (BankFile if cfg.by_banks else PrefetchedFile)(cfg, layout, places)
