"""What becomes of a result (docs/schemes/ltrf.md, section 6)."""

from __future__ import annotations

from warpfile.golden.completion import Completion
from warpfile.golden.copies import ALL_LANES, Latest
from warpfile.golden.rf.banks import Banks, Write
from warpfile.golden.rf.location import Location
from warpfile.golden.rf.ltrf.fills import Fills
from warpfile.golden.rf.ltrf.main import MainBanks
from warpfile.golden.rf.ltrf.partitions import Partitions
from warpfile.golden.rf.ltrf.probes import Probes
from warpfile.golden.scheduler.places import Places
from warpfile.spec.schemes.ltrf import LtrfConfig
from warpfile.spec.stimulus import Result


class ResultEntrance:
    """Puts results into the cache, and those of warps without a place into the main banks.

    ``starts`` is the main bank, as a mask, in which a parked result starts in this cycle. ``fills`` matter to a main
    bank without latches only.
    """

    def __init__(
        self,
        cfg: LtrfConfig,
        storage: tuple[Banks, MainBanks],
        location: Location,
        partitions: Partitions,
        places: Places,
        fills: Fills,
        probes: Probes,
    ) -> None:
        self._cache, self._main = storage
        self._location, self._partitions = location, partitions
        self._places, self._fills, self._probes = places, fills, probes
        self._latches = bool(cfg.latches)
        self.completion = Completion()
        self._latest = Latest(cfg)
        self._beats = cfg.crossbar_beats
        self._beat = 1 << 2 * cfg.interval_registers  # in the probe of those who use the crossbar
        self.starts = 0
        self.parked = -1  # port of the parked result in work
        self._last = -1  # cycle of its last beat
        self._home = (0, 0)
        self._last_beat: tuple[int, Result] | None = None  # the value before it, and the result

    def launched(self, warp: int) -> None:
        """Nothing is written yet."""
        self._latest.launched(warp)

    def enter(self, cycle: int, results: list[Result | None], valid: int, store: int) -> int:
        """Of the ``valid`` write-back ports, those that are accepted, the highest first."""
        accepted = valid & ~store
        begins = -1
        for port in range(len(results) - 1, -1, -1):
            result = results[port]
            if result is None or not valid >> port & 1:
                continue
            if not store >> port & 1:
                self.completion.add(cycle, result)
                continue
            place = self._places.place[result.warp]
            if place >= 0:
                if self._partitions.takes >> place & 1 and self._write(cycle, port, place, result):
                    accepted |= 1 << port
            elif self.parked < 0 and begins < 0 and self._begin(cycle, port, result):
                begins = port
        if self.parked >= 0:
            accepted |= self._beat_of(cycle, results[self.parked])
        if begins >= 0:
            self.parked, self._last = begins, cycle + self._beats
        return accepted

    def _write(self, cycle: int, port: int, place: int, result: Result) -> bool:
        """Into the cache, if the bank's write port is free."""
        part, register = self._partitions.parts[place], result.register
        bank, bit = part.bank[register], 1 << register
        if not self._cache.claim(cycle, bank):
            return False
        lanes = result.mask if result.mask != ALL_LANES else 0
        self._cache.write(bank, Write(place, result.row, self._latest.change(result), lanes))
        if not part.cached & bit:
            self._probes.fails = True
        part.incoming &= ~bit
        part.dirty |= bit
        self._accepted(cycle, result)
        self._probes.cache_write.show(1 << port)
        return True

    def _accepted(self, cycle: int, result: Result) -> None:
        self.completion.add(cycle, result)
        self._probes.counts.bank_writes += 1

    def _begin(self, cycle: int, port: int, result: Result) -> bool:
        """A result is parked, if the latch of its main bank is free."""
        home = self._location.place(result.warp, result.register)
        if not self._fits(cycle, home[0]):
            return False
        self._home, self.starts = home, 1 << home[0]
        self._probes.parked.show(1 << port)
        return True

    def _fits(self, cycle: int, bank: int) -> bool:
        """Whether the latch of a main bank takes a parked result."""
        main = self._main
        if main.taken >> bank & 1:
            return False
        return self._latches or (main.array[bank] <= cycle and not self._fills.fitting(cycle) >> bank & 1)

    def _beat_of(self, cycle: int, result: Result | None) -> int:
        """A beat of the parked result; returns its port if it is the last one."""
        assert result is not None, f"the parked result has left port {self.parked}"
        self._probes.main_beat.show(self._beat)
        if cycle < self._last:
            return 0
        self._last_beat = self._latest.change(result), result
        self._accepted(cycle, result)
        port, self.parked = self.parked, -1
        return 1 << port

    def edge(self, cycle: int) -> None:
        """Latches are taken, and are full."""
        main = self._main
        if self._last_beat is not None:
            main.latch(self._home, *self._last_beat)
            self._last_beat, main.parked = None, 0
        if self.starts:
            main.begin(cycle, self._home[0])
            main.parked, self.starts = self.starts, 0
