"""Which registers of every cache bank have to be moved (docs/schemes/ltrf.md, section 5)."""

from __future__ import annotations

from warpfile.golden.rf.ltrf.partition import Partition
from warpfile.golden.rf.ltrf.seen import Seen
from warpfile.spec.schemes.ltrf import LtrfConfig

Home = tuple[int, int]  #: main bank and row


class Directory:
    """Per bank of the cache, masks of places: ``outs`` whose register has to be read, ``waits`` whose fill has yet to
    be picked.

    ``some_outs`` and ``some_waits`` are the banks in which there is any. ``back_homes`` and ``fill_homes`` are per bank
    and place. A place ``works`` as long as something of it is under way. ``word`` has the probes.
    """

    def __init__(self, cfg: LtrfConfig, parts: list[Partition], seen: Seen) -> None:
        banks = self._banks = cfg.interval_registers
        self.outs, self.waits = [0] * banks, [0] * banks
        self.some_outs = self.some_waits = 0
        self.back_homes: list[list[Home]] = [[(0, 0)] * cfg.active_warps for _ in range(banks)]
        self.fill_homes: list[list[Home]] = [[(0, 0)] * cfg.active_warps for _ in range(banks)]
        self.word = 0
        self._parts = parts
        self._at_out, self._at_in, self._at_asked = (seen.at(name) for name in ("out_valid", "in_valid", "in_asked"))

    def _bit(self, at: int, place: int, bank: int) -> int:
        return 1 << at + place * self._banks + bank

    def back(self, place: int, bank: int, home: Home) -> None:
        """A register has to be written back."""
        bit = self._bit(self._at_out, place, bank)
        if self.word & bit:
            self._parts[place].works -= 1
        self.word |= bit
        self.outs[bank] |= 1 << place
        self.some_outs |= 1 << bank
        self.back_homes[bank][place] = home

    def fill(self, place: int, bank: int, home: Home) -> None:
        """A register has to be filled."""
        bit = self._bit(self._at_in, place, bank)
        if self.word & bit:
            self._parts[place].works -= 1
        self.word = (self.word | bit) & ~self._bit(self._at_asked, place, bank)
        self.waits[bank] |= 1 << place
        self.some_waits |= 1 << bank
        self.fill_homes[bank][place] = home

    def asked(self, place: int, bank: int) -> None:
        """A fill was picked."""
        self.word |= self._bit(self._at_asked, place, bank)
        self.waits[bank] &= ~(1 << place)
        if not self.waits[bank]:
            self.some_waits &= ~(1 << bank)

    def read(self, place: int, bank: int) -> None:
        """A write-back was read; it is still under way."""
        self.word &= ~self._bit(self._at_out, place, bank)
        self.outs[bank] &= ~(1 << place)
        if not self.outs[bank]:
            self.some_outs &= ~(1 << bank)

    def saved(self, place: int) -> None:
        """A write-back is in a latch."""
        self._parts[place].works -= 1

    def filled(self, place: int, bank: int) -> None:
        """A fill has ended."""
        bit = self._bit(self._at_in, place, bank)
        if self.word & bit:
            self._parts[place].works -= 1
        self.word &= ~(bit | self._bit(self._at_asked, place, bank))
