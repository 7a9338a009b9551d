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
        # Fills that have not ended, and those of them that were picked: the same as two probes in short numbers.
        self._ins, self._asked = [0] * banks, [0] * banks
        self._parts = parts
        # By place and bank, the bit of each probe.
        places = range(cfg.active_warps * banks)
        self._at_out, self._at_in, self._at_asked = (
            [1 << probes.at(name) + place for place in places] for name in ("out_valid", "in_valid", "in_asked")
        )

    def back(self, place: int, bank: int, home: Home) -> None:
        """A register has to be written back."""
        bit = 1 << place
        if self.outs[bank] & bit:
            self._parts[place].works -= 1
        else:
            self.word ^= self._at_out[place * self._banks + bank]
        self.outs[bank] |= bit
        self.some_outs |= 1 << bank
        self.back_homes[bank][place] = home

    def fill(self, place: int, bank: int, home: Home) -> None:
        """A register has to be filled."""
        bit, index = 1 << place, place * self._banks + bank
        if self._ins[bank] & bit:
            self._parts[place].works -= 1
        else:
            self._ins[bank] |= bit
            self.word ^= self._at_in[index]
        if self._asked[bank] & bit:
            self._asked[bank] ^= bit
            self.word ^= self._at_asked[index]
        self.waits[bank] |= bit
        self.some_waits |= 1 << bank
        self.fill_homes[bank][place] = home

    def asked(self, place: int, bank: int) -> None:
        """A fill was picked."""
        bit = 1 << place
        if not self._asked[bank] & bit:
            self._asked[bank] |= bit
            self.word ^= self._at_asked[place * self._banks + bank]
        self.waits[bank] &= ~bit
        if not self.waits[bank]:
            self.some_waits &= ~(1 << bank)

    def read(self, place: int, bank: int) -> None:
        """A write-back was read; it is still under way."""
        bit = 1 << place
        if self.outs[bank] & bit:
            self.outs[bank] ^= bit
            self.word ^= self._at_out[place * self._banks + bank]
        if not self.outs[bank]:
            self.some_outs &= ~(1 << bank)

    def saved(self, place: int) -> None:
        """A write-back is in a latch."""
        self._parts[place].works -= 1

    def filled(self, place: int, bank: int) -> None:
        """A fill has ended."""
        bit, index, ended = 1 << place, place * self._banks + bank, 0
        if self._ins[bank] & bit:
            self._parts[place].works -= 1
            self._ins[bank] ^= bit
            ended = self._at_in[index]
        if self._asked[bank] & bit:
            self._asked[bank] ^= bit
            ended |= self._at_asked[index]
        self.word ^= ended
