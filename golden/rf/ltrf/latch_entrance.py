"""Results of which the parked ones go through the latch of their main bank (docs/schemes/ltrf.md, section 14)."""

from __future__ import annotations

from warpfile.golden.rf.banks import Banks
from warpfile.golden.rf.location import Location
from warpfile.golden.rf.ltrf.fills import Fills
from warpfile.golden.rf.ltrf.latches import LatchedBanks
from warpfile.golden.rf.ltrf.partitions import Partitions
from warpfile.golden.rf.ltrf.results import ResultEntrance
from warpfile.golden.rf.ltrf.seen import Seen
from warpfile.golden.scheduler.places import Places
from warpfile.spec.schemes.ltrf import LtrfConfig
from warpfile.spec.stimulus import Result


class LatchEntrance(ResultEntrance):
    """``fills`` matter to a main bank without latches only."""

    def __init__(
        self,
        cfg: LtrfConfig,
        storage: tuple[Banks, LatchedBanks],
        location: Location,
        partitions: Partitions,
        places: Places,
        fills: Fills,
        seen: Seen,
    ) -> None:
        cache, self._banks = storage
        super().__init__(cfg, cache, self._banks, location, partitions, places, seen)
        self._beat = 1 << 2 * cfg.interval_registers
        self._fills, self._latches = fills, bool(cfg.latches)
        self._last_beat: tuple[int, Result] | None = None

    def _fits(self, cycle: int, bank: int) -> bool:
        if self._banks.taken >> bank & 1:
            return False
        return self._latches or (self._banks.array[bank] <= cycle and not self._fills.fitting(cycle) >> bank & 1)

    def _put(self, before: int, result: Result) -> None:
        self._last_beat = before, result

    def edge(self, cycle: int) -> None:
        """Latches are taken, and are full."""
        if self._last_beat is not None:
            self._banks.latch(self._home, *self._last_beat)
            self._last_beat, self._banks.parked = None, 0
        if self.starts:
            self._banks.begin(cycle, self._home[0])
            self._banks.parked, self.starts = self.starts, 0
