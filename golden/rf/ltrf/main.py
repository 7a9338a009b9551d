"""The main register file: banks with latches towards the crossbar (docs/schemes/ltrf.md, sections 5 and 6)."""

from __future__ import annotations

from warpfile.golden.arbiter import indices
from warpfile.golden.copies import merged
from warpfile.golden.rf.ltrf.probes import Probes
from warpfile.spec.schemes.ltrf import LtrfConfig
from warpfile.spec.stimulus import Result


class MainBanks:
    """A row holds a copy (``golden.copies``). ``array`` and ``output``: the first cycle in which the counter of a bank
    is 0; ``busy`` are the banks in which that of the array is not.

    Masks: ``taken`` latches are not free, ``full`` ones wait to be written, ``turn`` is of those that were granted a
    write last, ``parked`` the bank of the parked result in work. Without ``latches`` what is written is in its row at
    once, and the array is kept that long.
    """

    def __init__(self, cfg: LtrfConfig, probes: Probes) -> None:
        self.rows = [[-1] * cfg.rows for _ in range(cfg.banks)]
        self.array, self.output = [0] * cfg.banks, [0] * cfg.banks
        self.busy = self.taken = self.full = self.turn = self.parked = 0
        self.word = 0  # probe of the latches
        self._beats, self._latches = cfg.crossbar_beats, bool(cfg.latches)
        # How long an access keeps the array from the next one, beside the beats.
        self._access = 0 if cfg.main_pipelined else cfg.bank_cycles - 1
        self._free: dict[int, int] = {}  # last busy cycles: banks
        # What is in a latch: the row, and either a copy of all lanes or the value before and a result of some.
        self._copies = [(0, 0)] * cfg.banks
        self._results: list[Result | None] = [None] * cfg.banks
        self._probes = probes
        self._writes = 0

    def _occupy(self, bank: int, cycle: int, cycles: int) -> None:
        """The counter of the array is ``cycles`` from the next cycle on."""
        self.array[bank] = cycle + 1 + cycles
        if cycles:
            self.busy |= 1 << bank
            last = cycle + cycles
            self._free[last] = self._free.get(last, 0) | 1 << bank

    def fill(self, cycle: int, bank: int, row: int) -> int:
        """A fill is granted; returns what it reads."""
        self._occupy(bank, cycle, self._access + (0 if self._latches else self._beats))
        self.output[bank] = cycle + self._beats
        self.turn &= ~(1 << bank)
        return self.rows[bank][row]

    def begin(self, cycle: int, bank: int) -> None:
        """A write-back or a parked result is granted."""
        self.turn |= 1 << bank
        self.taken |= 1 << bank
        self.word |= 1 << 2 * bank
        if not self._latches:
            self._occupy(bank, cycle, self._beats + self._access)

    def latch(self, home: tuple[int, int], copy: int, result: Result | None = None) -> None:
        """The last beat passes: a copy of all lanes, or a result that changes the value ``copy`` in some."""
        bank, row = home
        self._copies[bank], self._results[bank] = (row, copy), result
        if self._latches:
            self.full |= 1 << bank
            self.word ^= 3 << 2 * bank
        else:
            self._store(bank)

    def _store(self, bank: int) -> None:
        row, copy = self._copies[bank]
        result = self._results[bank]
        if result is None:
            self.rows[bank][row] = copy
        else:
            self.store(bank, row, copy, result)
        self.full &= ~(1 << bank)
        self.taken &= ~(1 << bank)
        self.word &= ~(3 << 2 * bank)

    def store(self, bank: int, row: int, before: int, result: Result) -> None:
        """The lanes of a result, which changes the register from the value ``before``."""
        rows = self.rows[bank]
        rows[row] = merged(rows[row], before, result.row, result.mask)

    def choose(self, cycle: int) -> None:
        """Latches that are written in this cycle."""
        self._writes = 0
        for bank in indices(self.full):
            if self.array[bank] <= cycle:
                self._writes |= 1 << bank

    def write_back(self, cycle: int) -> None:
        """They are written."""
        if self._writes:
            self._probes.main_write.show(self._writes)
            for bank in indices(self._writes):
                self._store(bank)
                self._occupy(bank, cycle, self._access)

    def edge(self, cycle: int) -> None:
        """The last busy cycle of some banks ends."""
        if cycle in self._free:
            self.busy &= ~self._free.pop(cycle)
