"""Which transfer is granted (docs/schemes/ltrf.md, section 5)."""

from __future__ import annotations

from typing import NamedTuple

from warpfile.golden.arbiter import first_from, indices
from warpfile.golden.rf.location import Location
from warpfile.golden.rf.ltrf.channels import Channels
from warpfile.golden.rf.ltrf.main import MainBanks
from warpfile.golden.rf.ltrf.partitions import Partitions
from warpfile.golden.rf.ltrf.seen import Seen
from warpfile.golden.scheduler.places import Places
from warpfile.spec.schemes.ltrf import MOVING, RELEASING, LtrfConfig


class Transfer(NamedTuple):
    """Between a bank of the cache, in the row of a place, and bank and row of the main file; ``back``: to there."""

    place: int
    bank: int
    home: tuple[int, int]
    back: bool


class Transfers:
    """One grant per cycle, to the places in turn.

    ``choose`` over registered state, before it changes; ``grant`` is the clock edge of the channels.
    """

    def __init__(
        self,
        cfg: LtrfConfig,
        channels: Channels,
        main: MainBanks,
        location: Location,
        partitions: Partitions,
        places: Places,
        seen: Seen,
    ) -> None:
        self._channels, self._main, self._location = channels, main, location
        self._partitions, self._places, self._seen = partitions, places, seen
        self._pointer, self._count = 0, cfg.active_warps
        self._granted: Transfer | None = None

    def choose(self, starting: int) -> None:
        """The first place at or after the pointer whose candidate fits; ``starting`` is a main bank that does not.

        Places whose candidate is gone have their next one.
        """
        where, parts = self._partitions.where, self._partitions.parts
        channels, banks, fitting, idle = self._channels.busy, self._main.busy | starting, 0, 0
        places = where[MOVING] | where[RELEASING]
        for place in indices(places):
            part, bit = parts[place], 1 << place
            if part.candidate < 0:
                idle |= bit
            elif channels >> part.bank[part.candidate] & 1 or banks >> part.home[0] & 1:
                self._seen.show("unfit", bit, "transfer_waits")
            else:
                fitting |= bit
        if fitting:
            place = first_from(fitting, self._pointer)
            self._pointer = (place + 1) % self._count
            self._take(place)
            idle |= 1 << place
        for place in indices(idle):
            self._nominate(place)

    def _take(self, place: int) -> None:
        part = self._partitions.parts[place]
        register = part.candidate
        back = self._partitions.where[RELEASING] >> place & 1 != 0 or not part.working >> register & 1
        self._granted = Transfer(place, part.bank[register], part.home, back)
        part.works += 1
        self._seen.transfer(place, register, back)

    def _nominate(self, place: int) -> None:
        part = self._partitions.parts[place]
        part.nominate()
        if part.candidate >= 0:
            part.home = self._location.place(self._places.warp[place], part.candidate)

    def grant(self, cycle: int) -> None:
        """The chosen transfer begins."""
        if self._granted is not None:
            place, bank, home, back = self._granted
            self._granted = None
            if back:
                self._channels.back(bank, place, home)
            else:
                self._channels.fill(cycle, bank, place, home)
