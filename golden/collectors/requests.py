"""What the source slots of all units ask the banks for (docs/machine.md, section 5)."""

from __future__ import annotations

from warpfile.golden.rf.contract import Place
from warpfile.spec.config import Config


class Requests:
    """Slots are numbered unit * ``asks.slots`` + slot.

    ``asking`` is a mask of slots, ``of_bank`` has the same per bank; ``banks`` and ``rows`` are where each slot reads.
    """

    def __init__(self, cfg: Config) -> None:
        slots = cfg.asks.units * cfg.asks.slots
        self.asking = 0
        self.of_bank = [0] * (cfg.read_banks * (1 + cfg.gives.twins))
        self.banks = [0] * slots
        self.rows = [0] * slots

    def locate(self, index: int, place: Place) -> None:
        """Where a slot reads."""
        self.banks[index], self.rows[index] = place

    def ask(self, index: int) -> None:
        """A slot that does not ask asks from now on."""
        self.of_bank[self.banks[index]] |= 1 << index
        self.asking |= 1 << index

    def add(self, index: int, place: Place) -> None:
        """Both in one."""
        bank, self.rows[index] = place
        self.banks[index] = bank
        self.of_bank[bank] |= 1 << index
        self.asking |= 1 << index

    def end(self, index: int) -> None:
        """It does not any more."""
        self.of_bank[self.banks[index]] ^= 1 << index
        self.asking ^= 1 << index
