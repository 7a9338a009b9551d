"""Channels between main banks and cache: one transfer each (docs/schemes/ltrf.md, section 5)."""

from __future__ import annotations

from typing import Final

from warpfile.golden.arbiter import indices
from warpfile.golden.rf.banks import Banks, Write
from warpfile.golden.rf.ltrf.main import MainBanks
from warpfile.golden.rf.ltrf.seen import Seen
from warpfile.spec.schemes.ltrf import BEATS, IDLE, LATCH, LOAD, MAIN, STORE, LtrfConfig

_URGENT: Final = 8  #: lost cycles after which a channel goes before all others


class Channels:
    """Masks over the banks of the cache: ``busy`` (the channel is not idle), ``loading`` and ``storing`` (it asks to
    read or write its row), ``beating``. ``urgent``: it goes first. ``word`` has the probe of all phases.

    In a cycle ``first``, then the results, ``store``, then the units' reads, ``load``; the rest is the clock edge.
    ``place`` is whom each works for, ``freed`` has those of the channels that became idle at this edge.
    """

    def __init__(self, cfg: LtrfConfig, cache: Banks, main: MainBanks, seen: Seen) -> None:
        banks = cfg.interval_registers
        self.busy = self.loading = self.storing = self.beating = self.urgent = 0
        self.word = 0
        self.place = [0] * banks
        self.freed: list[int] = []
        self._cache, self._main, self._seen = cache, main, seen
        self._cycles, self._beats = cfg.bank_cycles, cfg.crossbar_beats
        self._phase = [IDLE] * banks
        self._back = 0
        self._lost = [0] * banks
        self._copy = [0] * banks  # the staging register
        self._target = [(0, 0)] * banks
        self._due: dict[int, int] = {}
        self._served = 0

    def fill(self, cycle: int, bank: int, place: int, source: tuple[int, int]) -> None:
        """A fill is granted."""
        main, row = source
        self._begin(bank, place, MAIN)
        self._copy[bank] = self._main.rows[main][row]
        self._main.reserve(main)
        self._main.until(main, cycle + self._main.access + self._beats)
        self._wait(bank, cycle + self._cycles)

    def back(self, bank: int, place: int, target: tuple[int, int]) -> None:
        """A write-back is granted."""
        self._begin(bank, place, LOAD)
        self._back |= 1 << bank
        self._target[bank] = target
        self._main.reserve(target[0])

    def _begin(self, bank: int, place: int, phase: int) -> None:
        self.busy |= 1 << bank
        self.place[bank] = place
        self._enter(bank, phase)

    def _enter(self, bank: int, phase: int) -> None:
        bit = 1 << bank
        self.word ^= (self._phase[bank] ^ phase) << 3 * bank
        self._phase[bank] = phase
        self._lost[bank] = 0
        self.loading = self.loading | bit if phase == LOAD else self.loading & ~bit
        self.storing = self.storing | bit if phase == STORE else self.storing & ~bit
        self.beating = self.beating | bit if phase == BEATS else self.beating & ~bit
        self.urgent &= ~bit

    def _wait(self, bank: int, last: int) -> None:
        """The last cycle of the phase."""
        self._due[last] = self._due.get(last, 0) | 1 << bank

    def first(self, cycle: int) -> None:
        """Those go that lost often enough."""
        self._write(cycle, self.storing & self.urgent)
        self._read(cycle, self.loading & self.urgent)

    def store(self, cycle: int) -> None:
        """Write ports that no result took."""
        self._write(cycle, self.storing & ~self.urgent)

    def load(self, cycle: int) -> None:
        """Read ports that no unit took."""
        self._read(cycle, self.loading & ~self.urgent)

    def _write(self, cycle: int, banks: int) -> None:
        for bank in indices(banks):
            if self._cache.claim(cycle, bank):
                self._cache.write(bank, Write(self.place[bank], self._copy[bank]))
                self._served |= 1 << bank
                self._seen.show("channel_write", 1 << bank, "cache_writes")

    def _read(self, cycle: int, banks: int) -> None:
        for bank in indices(banks):
            if self._cache.claim_read(cycle, bank):
                self._copy[bank] = self._cache.rows[bank][self.place[bank]]
                self._served |= 1 << bank
                self._seen.show("channel_read", 1 << bank, "cache_reads")

    def edge(self, cycle: int) -> None:
        """Phases end."""
        self.freed.clear()
        if self.beating:
            self._seen.show("main_beat", self.beating, "crossbar_beats_used")
        if self.loading or self.storing:
            self._count_lost((self.loading | self.storing) & ~self._served)
            for bank in indices(self._served):
                if self._back >> bank & 1:
                    self._enter(bank, LATCH)
                    self._wait(bank, cycle + 1)
                    last = cycle + 1 + self._beats + self._main.access
                    self._main.until(self._target[bank][0], last)
                else:
                    self._end(bank)
            self._served = 0
        if self._due:
            for bank in indices(self._due.pop(cycle, 0)):
                self._next(cycle, bank)

    def _count_lost(self, banks: int) -> None:
        for bank in indices(banks):
            self._lost[bank] += 1
            if self._lost[bank] >= _URGENT:
                self.urgent |= 1 << bank

    def _next(self, cycle: int, bank: int) -> None:
        """A phase of known length is over."""
        phase, back = self._phase[bank], self._back >> bank & 1
        if phase == LATCH or (phase == MAIN and not back):
            self._enter(bank, BEATS)
            self._wait(bank, cycle + self._beats)
        elif phase == MAIN:
            self._end(bank)
        elif back:
            self._main.write(*self._target[bank], self._copy[bank])
            self._enter(bank, MAIN)
            self._wait(bank, cycle + self._cycles)
        else:
            self._enter(bank, STORE)

    def _end(self, bank: int) -> None:
        bit = 1 << bank
        self._enter(bank, IDLE)
        self.busy &= ~bit
        self._back &= ~bit
        self.freed.append(self.place[bank])
