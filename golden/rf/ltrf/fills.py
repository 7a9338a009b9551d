"""Fills: every cache bank picks a place, every main bank a cache bank (docs/schemes/ltrf.md, section 5)."""

from __future__ import annotations

from warpfile.golden.arbiter import first_from, indices
from warpfile.golden.rf.banks import Banks, Write
from warpfile.golden.rf.ltrf.directory import Directory
from warpfile.golden.rf.ltrf.main import MainBanks
from warpfile.golden.rf.ltrf.probes import Probes
from warpfile.spec.schemes.ltrf import LtrfConfig


class Fills:
    """Masks over the banks of the cache: ``asks`` (the request is valid), ``storing`` (its row is written now).

    ``free``: by cache bank, the first cycle in which its counter is 0; without duplex write-backs put it off, too, and
    ``until`` is the last cycle in which fills keep its write-backs from being granted. ``granted`` are this cycle's.
    """

    def __init__(self, cfg: LtrfConfig, cache: Banks, main: MainBanks, directory: Directory, probes: Probes) -> None:
        banks = cfg.interval_registers
        self.asks = self.storing = self.granted = 0
        self.free, self.until = [0] * banks, [-1] * banks
        self.word = 0  # probe of the places
        self._cache, self._main, self._directory, self._probes = cache, main, directory, probes
        self._cycles, self._beats, self._places = cfg.bank_cycles, cfg.crossbar_beats, cfg.active_warps
        self._place_bits = max(1, (cfg.active_warps - 1).bit_length())
        self._place, self._home = [0] * banks, [(0, 0)] * banks
        self._pointers, self._main_pointers = [0] * banks, [0] * cfg.banks
        self._beating = 0
        self._picks: list[tuple[int, int]] = []
        self._grants: list[int] = []
        self._starts: dict[int, int] = {}  # cycles before the first beat: cache banks
        self._ends: dict[int, list[tuple[int, int, int]]] = {}  # cycles of last beats: cache bank, place, copy
        self._stores: list[tuple[int, int, int]] = []

    def fits(self, cycle: int, bank: int) -> bool:
        """Whether the request of a cache bank may be granted."""
        main, home = self._main, self._home[bank][0]
        if (main.full | main.parked) >> home & 1:
            return False
        return self.free[bank] <= cycle and main.array[home] <= cycle and main.output[home] <= cycle

    @property
    def mains(self) -> int:
        """Main banks that requests have."""
        found = 0
        for bank in indices(self.asks):
            found |= 1 << self._home[bank][0]
        return found

    def fitting(self, cycle: int) -> int:
        """Main banks that a request fits."""
        found = 0
        for bank in indices(self.asks):
            if self.fits(cycle, bank):
                found |= 1 << self._home[bank][0]
        return found

    def store(self, cycle: int) -> None:
        """Rows are written; nothing was at the write ports before."""
        self._probes.channel_write.show(self.storing)
        for bank, place, copy in self._stores:
            taken = self._cache.claim(cycle, bank)
            assert taken, "a fill has the write port"
            self._cache.write(bank, Write(place, copy))

    def choose(self, cycle: int) -> None:
        """Grants and picks over registered state."""
        if self.asks:
            self._choose_grants(cycle)
        idle = self._directory.some_waits & ~self.asks
        if idle:
            self._choose_picks(cycle, idle)

    def _choose_grants(self, cycle: int) -> None:
        wanted: dict[int, int] = {}
        for bank in indices(self.asks):
            if self.fits(cycle, bank):
                home = self._home[bank][0]
                wanted[home] = wanted.get(home, 0) | 1 << bank
        for home, banks in wanted.items():
            bank = first_from(banks, self._main_pointers[home])
            self.granted |= 1 << bank
            self._grants.append(bank)
        if self.granted != self.asks:
            self._probes.unfit.show(self.asks & ~self.granted)
        self._probes.fill_grant.show(self.granted)

    def _choose_picks(self, cycle: int, idle: int) -> None:
        directory, main = self._directory, self._main
        for bank in indices(idle):
            fitting = 0
            homes = directory.fill_homes[bank]
            for place in indices(directory.waits[bank] & ~directory.outs[bank]):
                home = homes[place][0]
                if main.array[home] <= cycle + 1 and main.output[home] <= cycle + 1:
                    fitting |= 1 << place
            if fitting:
                self._picks.append((bank, first_from(fitting, self._pointers[bank])))

    def edge(self, cycle: int) -> None:
        """What was chosen begins; what has its last cycle ends."""
        self._probes.main_beat.show(self._beating)
        if self._stores:
            self._end_stores()
        if self._grants:
            self._grant(cycle)
        if self._picks:
            self._pick()
        self._time(cycle)

    def _end_stores(self) -> None:
        for bank, place, _ in self._stores:
            self._directory.filled(place, bank)
        self._stores = []
        self.storing = 0

    def _grant(self, cycle: int) -> None:
        count, last = len(self.free), cycle + self._cycles + self._beats
        for bank in self._grants:
            home, row = self._home[bank]
            self._main_pointers[home] = (bank + 1) % count
            self.asks ^= 1 << bank
            self.word &= ~(self._place[bank] << bank * self._place_bits)
            copy = self._main.fill(cycle, home, row)
            self.free[bank], self.until[bank] = cycle + self._beats, last - 1
            start = cycle + self._cycles
            self._starts[start] = self._starts.get(start, 0) | 1 << bank
            self._ends.setdefault(last, []).append((bank, self._place[bank], copy))
        self._grants = []
        self.granted = 0

    def _pick(self) -> None:
        picked = 0
        for bank, place in self._picks:
            self._pointers[bank] = (place + 1) % self._places
            self._place[bank], self._home[bank] = place, self._directory.fill_homes[bank][place]
            self.word |= place << bank * self._place_bits
            picked |= 1 << bank
            self._directory.asked(place, bank)
        self.asks |= picked
        self._probes.fill_pick.show(picked)
        self._picks = []

    def _time(self, cycle: int) -> None:
        """Beats end and begin, and rows are to be written in the next cycle."""
        if cycle in self._ends:
            self._stores = self._ends.pop(cycle)
            for bank, _, _ in self._stores:
                self.storing |= 1 << bank
            self._beating &= ~self.storing
        if cycle in self._starts:
            self._beating |= self._starts.pop(cycle)
