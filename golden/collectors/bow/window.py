"""One operand window: the last beats of a warp and the operands that they touched (docs/schemes/bow.md)."""

from __future__ import annotations

from warpfile.golden.arbiter import indices
from warpfile.golden.collectors.bow.entries import Entries
from warpfile.golden.entry import Entry
from warpfile.spec.schemes.bow import BowConfig

#: Verdicts of *fits*: it does, a source has to be written to its bank first, there are too few entries.
FITS, NEEDS_EVICTION, NEEDS_ENTRIES = range(3)


class Slot:
    """A beat in the window.

    ``undone`` are destinations whose result has not been accepted and ``reads`` the used sources, as masks of
    registers; ``operands`` are the entries of the used sources and ``missing`` a mask of those that it does not have.
    """

    __slots__ = ("entry", "missing", "number", "operands", "port", "reads", "undone")

    def __init__(self) -> None:
        self.entry: Entry | None = None
        self.port = self.number = self.undone = self.reads = self.missing = 0
        self.operands: list[int] = []


class Window:
    """Slots and entries of one warp.

    ``next`` is the number of the next beat and ``place`` its slot, ``undispatched`` a mask of slots, ``unread`` one of
    registers that undispatched beats have yet to read. ``fits`` decides; the other methods change state, in the order
    of the steps.
    """

    def __init__(self, cfg: BowConfig) -> None:
        self._size = cfg.window
        # Slots from the oldest to the youngest, by the slot of the next beat.
        self._orders = [[(first + k) % cfg.window for k in range(cfg.window)] for first in range(cfg.window)]
        self.entries = Entries(cfg.window_entries)
        self.slots = [Slot() for _ in range(cfg.window)]
        self.clear()

    def clear(self) -> None:
        """The warp ends: nothing is left of it."""
        self.next = self.place = self.undispatched = self.unread = 0
        self.entries.clear()
        for slot in self.slots:
            slot.entry, slot.undone = None, 0

    def producer(self, register: int) -> Slot | None:
        """The beat in the window that the result of a register belongs to; None: it is late."""
        for slot in self.slots:
            if slot.undone >> register & 1:
                return slot
        return None

    def _in_order(self) -> list[int]:
        """Undispatched slots, oldest first."""
        rest = self.undispatched
        return [slot for slot in self._orders[self.place] if rest >> slot & 1]

    def ready(self) -> int:
        """The oldest slot that is ready, -1 for none."""
        ports = 0
        for number in self._in_order():
            slot = self.slots[number]
            port = 1 << slot.port
            if not slot.missing and not ports & port:
                return number
            ports |= port
        return -1

    def lacking(self) -> int:
        """Slots that wait for a source, as a mask."""
        return sum(1 << number for number in indices(self.undispatched) if self.slots[number].missing)

    def wanted(self) -> int:
        """The entry that the window asks a bank for, -1 for none."""
        ungranted = self.entries.ungranted
        if ungranted:
            for number in self._in_order():
                for entry in self.slots[number].operands:
                    if ungranted >> entry & 1:
                        return entry
        return -1

    def fits(self, head: Entry) -> int:
        """Whether the beat finds its sources or places for them, on the entries as they are."""
        if not head.executes or not head.beat.sources:
            return FITS
        entries, misses = self.entries, 0
        stale, where = entries.stale, entries.where
        unwritten = entries.evicting | stale & entries.owed
        for register in head.beat.sources:
            entry = where.get(register, -1)
            if entry < 0:
                misses += 1
            elif unwritten >> entry & 1:
                return NEEDS_EVICTION
            else:
                misses += stale >> entry & 1
        return FITS if misses <= entries.available.bit_count() else NEEDS_ENTRIES

    def enter(self, head: Entry) -> tuple[int, int]:
        """Take a beat that fits: masks of its sources that hit and that miss."""
        entries, beat, number = self.entries, head.beat, self.place
        slot = self.slots[number]
        sources = beat.sources if head.executes else ()
        operands = [entries.where.get(register, -1) for register in sources]
        hits = slot.missing = slot.reads = 0
        for index, entry in enumerate(operands):
            if entry >= 0 and not (entries.stale | entries.evicting) >> entry & 1:
                hits |= 1 << index
                self._use(entry, number)
                slot.missing |= entries.fill & 1 << entry
        entries.evict(entries.stale & entries.owed)
        entries.release(entries.stale)
        for index, register in enumerate(sources):
            slot.reads |= 1 << register
            if not hits >> index & 1:
                operands[index] = self._miss(register, number)
                slot.missing |= 1 << operands[index]
        self._keep_destinations(head)
        slot.entry, slot.port, slot.number, slot.operands = head, head.port, self.next, operands
        slot.undone = head.dests if head.executes else 0
        if head.needs_unit:
            self.undispatched |= 1 << number
            self.unread |= slot.reads
        self.next += 1
        self.place = self.next % self._size
        entries.age(self.next, self._size)
        return hits, (1 << len(sources)) - 1 ^ hits

    def _use(self, entry: int, slot: int) -> None:
        self.entries.last[entry] = self.next
        self.entries.pin(entry, slot)

    def _miss(self, register: int, slot: int) -> int:
        entries = self.entries
        entry = (entries.free & -entries.free).bit_length() - 1
        entries.allocate(entry, register, self.next)
        entries.request(entry)
        entries.pin(entry, slot)
        return entry

    def _keep_destinations(self, head: Entry) -> None:
        entries, beat = self.entries, head.beat
        if head.executes:
            for register in range(beat.dest, beat.dest + beat.dest_count):
                entry = entries.where.get(register, -1)
                if entry >= 0 and (entries.clean | entries.dirty) >> entry & 1:
                    entries.last[entry] = self.next

    def make_room(self, head: Entry) -> int:
        """For a beat that does not fit, evict one entry, or all that must go; the victim, -1 for none."""
        entries, sources, misses = self.entries, 0, 0
        for register in head.beat.sources:
            entry = entries.where.get(register, -1)
            if entry >= 0:
                sources |= 1 << entry
            if entry < 0 or (entries.stale | entries.evicting) >> entry & 1:
                misses += 1
        unwritten = sources & entries.stale & entries.owed
        if unwritten:
            entries.evict(unwritten)
            return -1
        if (entries.available | entries.evicting).bit_count() >= misses:
            return -1
        hits = sources & ~(entries.stale | entries.evicting)
        candidates = (entries.clean | entries.dirty) & ~(entries.pinned | hits | entries.available)
        if not candidates:
            return -1
        victim = entries.oldest(candidates & entries.stale or candidates)
        if entries.clean >> victim & 1:
            entries.release(1 << victim)
        else:
            entries.evict(1 << victim)
        return victim

    def filled(self, entry: int) -> None:
        """The data of an entry arrive."""
        self.entries.filled(entry)
        for slot in self.slots:
            slot.missing &= ~(1 << entry)

    def dispatched(self, number: int) -> None:
        """A beat has left with its operands."""
        self.undispatched ^= 1 << number
        for entry in self.slots[number].operands:
            self.entries.unpin(entry, number)
        self.unread = 0
        for other in self._in_order():
            self.unread |= self.slots[other].reads
