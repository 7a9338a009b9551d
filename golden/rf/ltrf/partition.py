"""What one place has of the cache: which registers, in which banks (docs/schemes/ltrf.md, sections 3 and 4)."""

from __future__ import annotations

from warpfile.golden.arbiter import lowest
from warpfile.spec.schemes.ltrf import LtrfConfig


class Partition:
    """Masks over registers: ``working`` (V), ``cached``, ``pending``, ``incoming``, ``live`` and ``dirty``.

    ``bank`` is each register's, and keeps what it was. ``occupied`` is a mask of banks; ``free`` has the others in
    their order, the first in its lowest bits, zero beyond the last. ``candidate`` is the register whose transfer is
    next, -1 for none, and ``home`` its main bank and row. ``works`` counts channels that work for the place.
    """

    def __init__(self, cfg: LtrfConfig) -> None:
        self._banks, self._bits = cfg.interval_registers, cfg.cache_bank_bits
        self._mask = (1 << self._bits) - 1
        self._liveness, self._dirty = bool(cfg.liveness), cfg.moved_back == "dirty"
        self.bank = [0] * cfg.register_names
        self.working = self.cached = self.pending = self.incoming = self.live = self.dirty = 0
        self.occupied = self.works = 0
        self.candidate, self.home = -1, (0, 0)
        self.free = sum(bank << bank * self._bits for bank in range(self._banks))

    def kept(self, registers: int) -> int:
        """Of the registers those whose value in the cache is needed and is not in the main banks."""
        if self._dirty:
            registers &= self.dirty
        return self.needed(registers)

    def needed(self, registers: int) -> int:
        """Of the registers those whose value is needed."""
        return registers & self.live if self._liveness else registers

    def give(self, bank: int) -> None:
        """A bank goes to the end of the free ones."""
        at = self._banks - self.occupied.bit_count()
        self.occupied &= ~(1 << bank)
        if at < self._banks - self.occupied.bit_count():  # always, as long as there were enough banks
            self.free |= bank << at * self._bits

    def step_out(self) -> int:
        """The lowest register that is not in the interval leaves its bank; returns it."""
        register = lowest(self.cached & ~self.working)
        self.cached ^= 1 << register
        self.give(self.bank[register])
        self.pending |= self.kept(1 << register)
        return register

    def step_in(self) -> int:
        """The lowest register of the interval that has no bank takes the first free one; returns it."""
        register = lowest(self.working & ~self.cached)
        bit, bank = 1 << register, self.free & self._mask
        self.free >>= self._bits
        self.bank[register] = bank
        self.occupied |= 1 << bank
        self.cached |= bit
        self.dirty &= ~bit
        self.pending |= self.needed(bit)
        return register

    @property
    def full(self) -> bool:
        """Whether no bank is free."""
        return self.occupied.bit_count() == self._banks

    def nominate(self) -> None:
        """The lowest pending write-back, if there is none the lowest pending fill, is the next candidate."""
        backs = self.pending & ~self.working
        self.candidate = lowest(backs or self.pending) if self.pending else -1
        if self.candidate >= 0:
            self.pending ^= 1 << self.candidate

    @property
    def moves(self) -> bool:
        """Whether some transfer has not ended."""
        return self.pending != 0 or self.candidate >= 0 or self.works != 0

    def release(self) -> None:
        """Everything that has to be saved is pending."""
        self.pending = self.kept(self.working) & ~self.incoming

    def clear(self) -> None:
        """Nothing is cached, pending or incoming; banks stay occupied until they are given back."""
        self.cached = self.pending = self.incoming = 0
        self.candidate = -1
