"""The entries of one operand window (docs/schemes/bow.md, section 2)."""

from __future__ import annotations

from warpfile.golden.arbiter import indices, lowest
from warpfile.golden.rf.renaming import UNMAPPED, Mapped
from warpfile.spec.contract import SLICES


class Entries:
    """State of the entries, as masks with one bit per entry, and the changes that steps 1, 2, 5 and 5b make.

    ``owed`` are DIRTY entries that must be written in the end, ``ungranted`` FILL entries whose bank has not served
    them, ``pinned`` those with a pin. ``where`` finds the entry of a register; there is one at most. ``stale`` is for
    the next beat, and means something as soon as that beat's slot can be reused.

    Over a renamed file: ``unlooked`` are FILL entries that the table has not served, ``mapped`` says where others are,
    ``size`` how many bytes hold every live lane.
    """

    def __init__(self, count: int) -> None:
        self.all = (1 << count) - 1
        self.register = [0] * count
        self.last = [0] * count
        self.copy = [-1] * count
        self.mapped = [UNMAPPED] * count
        self.size = [SLICES] * count
        self._pins = [0] * count
        self._rank = [0] * count
        self._ranks = 0
        self.where: dict[int, int] = {}
        self.clear()

    def clear(self) -> None:
        """All entries become FREE."""
        self.free = self.all
        self.fill = self.ungranted = self.unlooked = self.clean = self.dirty = self.owed = self.evicting = 0
        self.pinned = self.stale = 0
        self.where.clear()

    @property
    def available(self) -> int:
        """What the next beat's misses may take: FREE, stale CLEAN and stale DIRTY entries that are not owed."""
        return self.free | self.stale & ~self.owed

    @property
    def expendable(self) -> int:
        """Stale DIRTY entries that are not owed: the next beat discards them."""
        return self.stale & self.dirty & ~self.owed

    def oldest(self, mask: int) -> int:
        """The entry of the lowest rank in a mask that is not zero."""
        if mask & (mask - 1) == 0:
            return mask.bit_length() - 1
        return min(indices(mask), key=self._rank.__getitem__)

    def obtainable(self) -> int:
        """The entry that a result without one takes, -1 for none."""
        if self.free:
            return lowest(self.free)
        candidates = self.clean & ~self.pinned
        return self.oldest(candidates) if candidates else -1

    def allocate(self, entry: int, register: int, last: int) -> None:
        """Take a FREE entry, in no state yet, as the youngest."""
        bit = 1 << entry
        assert self.free & bit and register not in self.where, f"entry {entry} is taken, or R{register} has one"
        self.free ^= bit
        self.register[entry] = register
        self.last[entry] = last
        self.where[register] = entry
        self._rank[entry] = self._ranks
        self._ranks += 1

    def release(self, mask: int) -> None:
        """Entries become FREE, whatever they are."""
        assert not mask & (self.pinned | self.fill | self.free), "only an entry without a user becomes free"
        for entry in indices(mask):
            del self.where[self.register[entry]]
        self._leave(mask)
        self.free |= mask

    def _leave(self, mask: int) -> None:
        keep = ~mask
        self.clean &= keep
        self.dirty &= keep
        self.owed &= keep
        self.evicting &= keep
        self.stale &= keep

    def evict(self, mask: int) -> None:
        """DIRTY entries become EVICTING."""
        assert not mask & ~self.dirty, "only a dirty entry has something to write"
        self._leave(mask)
        self.evicting |= mask

    def store(self, entry: int, dirty: bool, owed: bool, stale: bool) -> None:
        """An entry takes a result; it is CLEAN unless ``dirty``."""
        bit = 1 << entry
        assert not bit & (self.pinned | self.fill), f"a result meets R{self.register[entry]}, which is still read"
        self._leave(bit)
        if dirty:
            self.dirty |= bit
            self.owed |= bit if owed else 0
        else:
            self.clean |= bit
        self.stale |= bit if stale else 0

    def request(self, entry: int) -> None:
        """An allocated entry becomes FILL."""
        self.fill |= 1 << entry
        self.ungranted |= 1 << entry
        self.unlooked |= 1 << entry

    def looked_up(self, entry: int, found: Mapped) -> None:
        """The table says where a FILL entry is; what is nowhere will be 0."""
        self.unlooked ^= 1 << entry
        self.mapped[entry] = found
        self.size[entry] = max(1, found.mask.bit_count())

    def resize(self, register: int, size: int, full: bool) -> None:
        """An entry took a result of ``size`` bytes, in all live lanes or in some."""
        entry = self.where[register]
        self.size[entry] = size if full else max(size, self.size[entry])

    def granted(self, entry: int, copy: int) -> None:
        """A bank serves a FILL entry, which waits for the data from now on."""
        assert self.ungranted >> entry & 1, f"entry {entry} is granted twice"
        self.ungranted ^= 1 << entry
        self.unlooked &= ~(1 << entry)
        self.copy[entry] = copy

    def filled(self, entry: int) -> None:
        """FILL becomes CLEAN."""
        bit = 1 << entry
        assert self.fill & bit, f"entry {entry} waits for no data"
        self.fill ^= bit
        self.clean |= bit

    def pin(self, entry: int, slot: int) -> None:
        """A slot has yet to read an entry."""
        self._pins[entry] |= 1 << slot
        self.pinned |= 1 << entry

    def unpin(self, entry: int, slot: int) -> None:
        """It has."""
        self._pins[entry] &= ~(1 << slot)
        if not self._pins[entry]:
            self.pinned &= ~(1 << entry)

    def age(self, beat: int, window: int) -> None:
        """``beat`` is the next one to enter: find out what is stale for it."""
        stale = 0
        for entry in indices(self.fill | self.clean | self.dirty):
            if beat - self.last[entry] >= window:
                stale |= 1 << entry
        self.stale = stale
