"""Files whose transfers are less bound than those of the hardware: studies of a cause, without RTL.

What their probes show of transfers is not meant for anybody; counters and values are.
"""

from __future__ import annotations

from warpfile.golden.arbiter import indices
from warpfile.golden.rf.ltrf.file import PrefetchedFile
from warpfile.golden.rf.ltrf.partition import Partition
from warpfile.golden.rf.ltrf.transfers import Transfer, Transfers
from warpfile.golden.scheduler.places import Places
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.ltrf import MOVING, RELEASING, LtrfConfig


class StaggeredFile(PrefetchedFile):
    """The free banks of the places begin with different banks at first, not all with bank 0."""

    def __init__(self, cfg: LtrfConfig, layout: ProbeLayout, places: Places | None) -> None:
        super().__init__(cfg, layout, places)
        banks, bits = cfg.interval_registers, cfg.cache_bank_bits
        for place, part in enumerate(self.partitions.parts):
            first = place * banks // cfg.active_warps
            part.free = sum((first + at) % banks << at * bits for at in range(banks))


class FreeTransfers(Transfers):
    """``several``: all places whose candidate fits start in a cycle. ``passing``: a place's candidate that does not fit
    gives way to the lowest pending register that does, write-backs before fills all the same."""

    several = False
    passing = False
    _all: list[Transfer]

    def choose(self, starting: int) -> None:
        """See :class:`Transfers`."""
        where = self._partitions.where
        channels, banks = self._channels.busy, self._main.busy | starting
        places, pointer, self._all = where[MOVING] | where[RELEASING], self._pointer, []
        for place in sorted(indices(places), key=lambda place: (place - pointer) % self._count):
            part = self._partitions.parts[place]
            if part.candidate < 0:
                self._nominate(place)
            elif self._fits(place, part, channels, banks) and (self.several or not self._all):
                self._pointer = (place + 1) % self._count
                channels |= 1 << part.bank[part.candidate]
                banks |= 1 << part.home[0]
                self._start(place)

    def _start(self, place: int) -> None:
        self._take(place)
        if self._granted is not None:
            self._all.append(self._granted)
        self._nominate(place)

    def _fits(self, place: int, part: Partition, channels: int, banks: int) -> bool:
        """Whether the candidate does, which may be another one now."""
        for register in (part.candidate, *self._others(place, part)):
            home = self._location.place(self._places.warp[place], register)
            if not (channels >> part.bank[register] & 1 or banks >> home[0] & 1):
                part.pending = (part.pending | 1 << part.candidate) & ~(1 << register)
                part.candidate, part.home = register, home
                return True
        self._seen.count("transfer_waits")
        return False

    def _others(self, place: int, part: Partition) -> list[int]:
        """What may start in place of the candidate, the lowest first."""
        if not self.passing:
            return []
        every = part.pending | 1 << part.candidate
        backs = every if self._partitions.where[RELEASING] >> place & 1 else every & ~part.working
        return list(indices((backs or every) & part.pending))

    def grant(self, cycle: int) -> None:
        """See :class:`Transfers`."""
        for transfer in self._all:
            self._granted = transfer
            super().grant(cycle)
        self._all = []


class SeveralFile(PrefetchedFile):
    """Several transfers start in a cycle, one of each place."""

    several = True
    passing = False

    def __init__(self, cfg: LtrfConfig, layout: ProbeLayout, places: Places | None) -> None:
        super().__init__(cfg, layout, places)
        assert places is not None, "only active warps have a cache"
        inside = self.location, self.partitions, places
        transfers = FreeTransfers(cfg, self.channels, self.main, *inside, self.seen)
        transfers.several, transfers.passing = self.several, self.passing
        self.transfers = transfers


class PassingFile(SeveralFile):
    """One transfer starts in a cycle, and of a place any register that fits."""

    several = False
    passing = True


class FreeFile(SeveralFile):
    """Several transfers start in a cycle, and of a place any register that fits."""

    passing = True
