"""Which registers of every cache bank have to be moved (docs/schemes/ltrf.md, section 5)."""

from __future__ import annotations

from warpfile.golden.rf.ltrf.partition import Partition
from warpfile.golden.rf.ltrf.probes import Probes
from warpfile.spec.schemes.ltrf import LtrfConfig

Home = tuple[int, int]  #: main bank and row


class Directory:
    """Per bank of the cache, masks of places: ``outs`` whose register has to be read, ``waits`` whose fill has yet to
    be picked.

    ``some_outs`` and ``some_waits`` are the banks in which there is any. ``back_homes`` and ``fill_homes`` are per bank
    and place. A place ``works`` as long as something of it is under way. ``word`` has the probes.
    """

    def __init__(self, cfg: LtrfConfig, parts: list[Partition], probes: Probes) -> None:
        banks = self._banks = cfg.interval_registers
        self.outs, self.waits = [0] * banks, [0] * banks
        self.some_outs = self.some_waits = 0
        self.back_homes: list[list[Home]] = [[(0, 0)] * cfg.active_warps for _ in range(banks)]
        self.fill_homes: list[list[Home]] = [[(0, 0)] * cfg.active_warps for _ in range(banks)]
        self.word = 0
        self._parts = parts
        # By place and bank: a shift of a long word costs more than a look-up.
        places = range(cfg.active_warps * banks)
        self._out, self._in, self._asked = (
            [1 << probes.at(name) + place for place in places] for name in ("out_valid", "in_valid", "in_asked")
        )

    def back(self, place: int, bank: int, home: Home) -> None:
        """A register has to be written back."""
        bit = self._out[place * self._banks + bank]
        if self.word & bit:
            self._parts[place].works -= 1
        self.word |= bit
        self.outs[bank] |= 1 << place
        self.some_outs |= 1 << bank
        self.back_homes[bank][place] = home

    def fill(self, place: int, bank: int, home: Home) -> None:
        """A register has to be filled."""
        bit = self._in[place * self._banks + bank]
        if self.word & bit:
            self._parts[place].works -= 1
        self.word = (self.word | bit) & ~self._asked[place * self._banks + bank]
        self.waits[bank] |= 1 << place
        self.some_waits |= 1 << bank
        self.fill_homes[bank][place] = home

    def asked(self, place: int, bank: int) -> None:
        """A fill was picked."""
        self.word |= self._asked[place * self._banks + bank]
        self.waits[bank] &= ~(1 << place)
        if not self.waits[bank]:
            self.some_waits &= ~(1 << bank)

    def read(self, place: int, bank: int) -> None:
        """A write-back was read; it is still under way."""
        self.word &= ~self._out[place * self._banks + bank]
        self.outs[bank] &= ~(1 << place)
        if not self.outs[bank]:
            self.some_outs &= ~(1 << bank)

    def saved(self, place: int) -> None:
        """A write-back is in a latch."""
        self._parts[place].works -= 1

    def filled(self, place: int, bank: int) -> None:
        """A fill has ended."""
        bit = self._in[place * self._banks + bank]
        if self.word & bit:
            self._parts[place].works -= 1
        self.word &= ~(bit | self._asked[place * self._banks + bank])
