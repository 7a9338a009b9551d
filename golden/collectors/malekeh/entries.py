"""Entries of one caching collector unit: which registers it keeps (docs/schemes/malekeh.md, sections 2, 3 and 5)."""

from __future__ import annotations

from warpfile.golden.arbiter import indices
from warpfile.golden.copies import POISON
from warpfile.spec.schemes.malekeh import MalekehConfig

#: What an entry holds until the data of its register arrive.
NO_DATA = POISON

#: Exclusive-or of the LFSR's feedback.
_FEEDBACK = 0xB8


def shifted(lfsr: int) -> int:
    """The state of the LFSR after this one."""
    return lfsr >> 1 ^ _FEEDBACK if lfsr & 1 else lfsr >> 1


class Entries:
    """Tags, near and lock bits, order of use and LFSR of one unit.

    Masks are over entries: ``used`` have a register, ``near`` and ``locked`` are subsets of it. ``where`` finds the
    entry of a register, ``values`` has the copy (``golden.copies``) in each entry, ``order`` the least recently
    used entry first. ``kind`` and ``replaceable`` decide, ``edge`` ends a cycle; other methods change state at once.
    """

    def __init__(self, cfg: MalekehConfig, lfsr: int) -> None:
        self._count = cfg.unit_entries
        self._all = (1 << self._count) - 1
        self._tag_bits = cfg.tag_bits
        self._no_register = (1 << cfg.tag_bits) - 1
        self._far_replaced = False
        self.where: dict[int, int] = {}
        self.registers = [self._no_register] * self._count
        self.values = [NO_DATA] * self._count
        self.used = self.near = self.locked = 0
        self.order = list(range(self._count))
        self.lfsr = lfsr
        self.tags = (1 << self._count * cfg.tag_bits) - 1  #: ``registers`` side by side, entry 0 lowest

    def kind(self, entry: int) -> str:
        """What replacing this entry replaces: ``empty``, ``far`` or ``near``."""
        if self.near >> entry & 1:
            return "near"
        return "far" if self.used >> entry & 1 else "empty"

    def replaceable(self) -> list[int]:
        """Entries that are not locked, in the order in which they are replaced."""
        candidates = self._all & ~self.locked
        found = list(indices(candidates & ~self.used))
        far, near = candidates & self.used & ~self.near, candidates & self.near
        if far:
            start = self.lfsr & self._count - 1
            found += indices(far >> start << start)
            found += indices(far & (1 << start) - 1)
        if near:
            found += [entry for entry in self.order if near >> entry & 1]
        return found

    def _set_register(self, entry: int, register: int) -> None:
        self.tags ^= (self.registers[entry] ^ register) << entry * self._tag_bits
        self.registers[entry] = register

    def replace(self, entry: int, register: int) -> None:
        """Give an entry to another register, far and not locked; its data come later."""
        bit = 1 << entry
        assert not self.locked & bit, f"entry {entry} is replaced while it is locked"
        assert register not in self.where, f"R{register} is entered twice"
        if self.used & bit:
            del self.where[self.registers[entry]]
            self._far_replaced |= not self.near & bit
        self._set_register(entry, register)
        self.where[register] = entry
        self.values[entry] = NO_DATA
        self.used |= bit
        self.near &= ~bit

    def drop(self, entry: int) -> None:
        """Empty one entry; its place in the order of use stays."""
        bit = 1 << entry
        assert not self.locked & bit, f"entry {entry} is dropped while it is locked"
        del self.where[self.registers[entry]]
        self._set_register(entry, self._no_register)
        self.values[entry] = NO_DATA
        self.used &= ~bit
        self.near &= ~bit

    def clear(self) -> None:
        """Empty all entries; the order of use stays."""
        for entry in indices(self.used):
            self.drop(entry)

    def mark(self, entry: int, near: int) -> None:
        """Set the near bit and make the entry the most recently used one."""
        bit = 1 << entry
        self.near = self.near | bit if near else self.near & ~bit
        if self.order[-1] != entry:
            self.order.remove(entry)
            self.order.append(entry)

    def edge(self) -> None:
        """The LFSR steps if a far register was replaced in this cycle."""
        if self._far_replaced:
            self._far_replaced = False
            self.lfsr = shifted(self.lfsr)
