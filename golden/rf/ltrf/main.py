"""The main register file: banks that a transfer or a parked result has for itself (docs/schemes/ltrf.md, section 5)."""

from __future__ import annotations

from warpfile.golden.copies import merged
from warpfile.spec.schemes.ltrf import LtrfConfig
from warpfile.spec.stimulus import Result


class MainBanks:
    """``busy`` are the banks that are reserved or have cycles left. A row holds a copy (``golden.copies``).

    All methods are clock edges; nobody reads a bank in whose row somebody writes.
    """

    def __init__(self, cfg: LtrfConfig) -> None:
        self.rows = [[-1] * cfg.rows for _ in range(cfg.banks)]
        self.busy = 0
        # How long a bank is kept by an access that takes the crossbar first or last, beside the beats.
        self.access = 0 if cfg.main_pipelined else cfg.bank_cycles
        self._free: dict[int, int] = {}

    def reserve(self, bank: int) -> None:
        """From the next cycle on."""
        self.busy |= 1 << bank

    def until(self, bank: int, cycle: int) -> None:
        """The last cycle in which a bank is busy."""
        self._free[cycle] = self._free.get(cycle, 0) | 1 << bank

    def write(self, bank: int, row: int, copy: int) -> None:
        """A whole register."""
        self.rows[bank][row] = copy

    def store(self, bank: int, row: int, before: int, result: Result) -> None:
        """The lanes of a result, which changes the register from the value ``before``."""
        rows = self.rows[bank]
        rows[row] = merged(rows[row], before, result.row, result.mask)

    def edge(self, cycle: int) -> None:
        """The last cycle of some accesses ends."""
        if self._free:
            self.busy &= ~self._free.pop(cycle, 0)
