"""Write-backs: every cache bank reads a row, every main bank latches one (docs/schemes/ltrf.md, section 5)."""

from __future__ import annotations

from typing import Final

from warpfile.golden.arbiter import first_from, indices
from warpfile.golden.rf.banks import Banks
from warpfile.golden.rf.ltrf.directory import Directory, Home
from warpfile.golden.rf.ltrf.fills import Fills
from warpfile.golden.rf.ltrf.main import MainBanks
from warpfile.golden.rf.ltrf.probes import Probes
from warpfile.spec.schemes.ltrf import BACK_ASK, BACK_BEATS, BACK_IDLE, BACK_LOAD, LtrfConfig

_URGENT: Final = 8  #: lost cycles after which a channel goes before the units


class WriteBacks:
    """Masks over the banks of the cache: ``loading`` (the channel asks to read its row), ``asking`` (it asks its main
    bank), ``beating``, and ``urgent`` (it goes before the units). ``phases`` and ``places`` have the probes.
    """

    def __init__(
        self,
        cfg: LtrfConfig,
        cache: Banks,
        main: MainBanks,
        directory: Directory,
        fills: Fills,
        probes: Probes,
    ) -> None:
        banks = self._banks = cfg.interval_registers
        self.loading = self.asking = self.beating = self.urgent = 0
        self.phases = self.places = 0
        self._cache, self._main, self._directory, self._fills, self._probes = cache, main, directory, fills, probes
        self._duplex, self._latches = bool(cfg.duplex), bool(cfg.latches)
        self._beats, self._count = cfg.crossbar_beats, cfg.active_warps
        self._place_bits = max(1, (cfg.active_warps - 1).bit_length())
        self._phase, self._place, self._lost = [BACK_IDLE] * banks, [0] * banks, [0] * banks
        self._home: list[Home] = [(0, 0)] * banks
        self._copy = [0] * banks  # the staging register
        self._pointers, self._main_pointers = [0] * banks, [0] * cfg.banks
        self._served = 0
        self._picks: list[tuple[int, int]] = []
        self._grants: list[int] = []
        self._ends: dict[int, list[int]] = {}  # cycles of last beats

    def first(self, cycle: int) -> None:
        """Those go that lost often enough."""
        self._read(cycle, self.urgent)

    def load(self, cycle: int) -> None:
        """Read ports that no unit took."""
        self._read(cycle, self.loading & ~self.urgent)

    def _read(self, cycle: int, banks: int) -> None:
        for bank in indices(banks):
            if self._cache.claim_read(cycle, bank):
                self._copy[bank] = self._cache.rows[bank][self._place[bank]]
                self._served |= 1 << bank
                self._probes.channel_read.show(1 << bank)

    def choose(self, cycle: int, starting: int) -> None:
        """Grants and picks over registered state; ``starting`` is the main bank of a parked result."""
        if self.asking:
            self._choose_grants(cycle, starting)
        idle = self._directory.some_outs & ~(self.loading | self.asking | self.beating)
        for bank in indices(idle):
            self._picks.append((bank, first_from(self._directory.outs[bank], self._pointers[bank])))

    def _choose_grants(self, cycle: int, starting: int) -> None:
        main, fills = self._main, self._fills
        closed = main.taken | starting
        if main.turn and fills.asks:
            closed |= main.turn & fills.mains
        if not self._latches:
            closed |= fills.fitting(cycle)
        wanted: dict[int, int] = {}
        for bank in indices(self.asking):
            home = self._home[bank][0]
            if closed >> home & 1 or not (self._latches or main.array[home] <= cycle):
                continue
            if self._duplex or not (fills.granted >> bank & 1 or fills.until[bank] >= cycle):
                wanted[home] = wanted.get(home, 0) | 1 << bank
        granted = 0
        for home, banks in wanted.items():
            bank = first_from(banks, self._main_pointers[home])
            granted |= 1 << bank
            self._grants.append(bank)
        if granted != self.asking:
            self._probes.unfit.show((self.asking & ~granted) << self._banks)
        self._probes.back_grant.show(granted)

    def edge(self, cycle: int) -> None:
        """What was chosen begins; what has its last cycle ends."""
        self._probes.main_beat.show(self.beating << self._banks)
        if self.loading:
            self._end_loads()
        if self._grants:
            self._grant(cycle)
        if self._picks:
            self._pick()
        if cycle in self._ends:
            for bank in self._ends.pop(cycle):
                self._end(bank)

    def _end_loads(self) -> None:
        for bank in indices(self.loading & ~self._served):
            self._lost[bank] += 1
            if self._lost[bank] >= _URGENT:
                self.urgent |= 1 << bank
        for bank in indices(self._served):
            self._directory.read(self._place[bank], bank)
            self._enter(bank, BACK_ASK)
        self.loading &= ~self._served
        self.urgent &= ~self._served
        self.asking |= self._served
        self._served = 0

    def _enter(self, bank: int, phase: int) -> None:
        self.phases ^= (self._phase[bank] ^ phase) << 2 * bank
        self._phase[bank] = phase

    def _grant(self, cycle: int) -> None:
        for bank in self._grants:
            home = self._home[bank][0]
            self._main_pointers[home] = (bank + 1) % self._banks
            self._main.begin(cycle, home)
            self._enter(bank, BACK_BEATS)
            self.asking ^= 1 << bank
            self.beating |= 1 << bank
            self._ends.setdefault(cycle + self._beats, []).append(bank)
            if not self._duplex:
                self._fills.free[bank] = max(self._fills.free[bank], cycle + self._beats)
        self._grants = []

    def _pick(self) -> None:
        picked = 0
        for bank, place in self._picks:
            self._pointers[bank] = (place + 1) % self._count
            self._place[bank], self._home[bank] = place, self._directory.back_homes[bank][place]
            self._lost[bank] = 0
            self.places |= place << bank * self._place_bits
            self._enter(bank, BACK_LOAD)
            picked |= 1 << bank
        self.loading |= picked
        self._probes.back_pick.show(picked)
        self._picks = []

    def _end(self, bank: int) -> None:
        """The row is in the latch."""
        self._enter(bank, BACK_IDLE)
        self.beating ^= 1 << bank
        self.places &= ~(self._place[bank] << bank * self._place_bits)
        self._main.latch(self._home[bank], self._copy[bank])
        self._directory.saved(self._place[bank])
