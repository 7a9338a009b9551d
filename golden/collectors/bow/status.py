"""Registered status of all windows and their requests (docs/schemes/bow.md, steps 1b, 3, 4 and 6)."""

from __future__ import annotations

from warpfile.golden.arbiter import indices
from warpfile.golden.collectors.bow.entries import Entries
from warpfile.golden.collectors.bow.events import Events
from warpfile.golden.collectors.bow.window import NEEDS_ENTRIES, NEEDS_EVICTION, Window
from warpfile.golden.collectors.contract import Heads
from warpfile.golden.collectors.requests import Requests
from warpfile.golden.rf.contract import RegisterFile
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.bow import BowConfig


class WindowStatus:
    """Status of all windows, updated where something changed. Masks have one bit per window.

    A change of slots (or their contents), of entries or of bank requests is marked in ``slots_changed``,
    ``entries_changed`` and ``requests_changed``.

    ``room``, and ``ready`` per port (``ready_slot``: the slot offered); ``evicting`` windows present the entry
    ``evict_entry``; ``asking`` ones want the entry ``wanted`` from a bank, which ``requests`` ask for.
    """

    heads: Heads

    def __init__(
        self, cfg: BowConfig, layout: ProbeLayout, windows: list[Window], file: RegisterFile, events: Events
    ) -> None:
        count = cfg.warps
        self._windows = windows
        self._place = file.place
        self.slots_changed = self.entries_changed = self.requests_changed = 0
        self.room = self.evicting = 0
        self.ready = [0] * cfg.ports
        self.ready_slot = [-1] * count
        self.evict_entry = [-1] * count
        self.wanted = [-1] * count
        self.requests = Requests(cfg)
        self._buffered = self._running = self._blocked = 0
        self._reusable = (1 << count) - 1
        self._needs_eviction = self._needs_entries = 0
        self._events = events
        self._cycles = 0  # observed so far
        self._since: dict[int, int] = {}  # of resident warps: cycles at which their occupancy was counted last
        self._occupancies = [f"occupancy_{number}" for number in range(cfg.window_entries + 1)]
        self._occupancy = [self._occupancies[0]] * count
        self._undispatched = self._incomplete = 0  # beats, and those that lack an operand
        self._beats = [0] * count
        self._lacking = [0] * count
        self._ready_port = [0] * count
        self._words = [0] * count
        self._word = 0
        at = layout.offset
        self._at_request, self._at_evict = at["request"], at["evict"]
        self._at_slots = [at["undispatched"] + warp * cfg.window for warp in range(count)]
        self._at_lacking = [at["lacking"] + warp * cfg.window for warp in range(count)]
        self._at_entries = [
            [at[name] + warp * cfg.window_entries for name in ("held", "filling", "dirty", "owed", "evicting")]
            for warp in range(count)
        ]

    @property
    def asking(self) -> int:
        """Windows that ask for what they miss."""
        return self.requests.asking

    def refresh(self, heads: Heads) -> None:
        """A new cycle: look again at what the last one changed."""
        windows, slots, entries = self._windows, self.slots_changed, self.entries_changed
        changed = slots | entries | heads.buffered & ~self._buffered
        self.heads, self._buffered = heads, heads.buffered
        requests = self.requests_changed
        for warp in indices(changed | requests):
            window = windows[warp]
            if slots >> warp & 1:
                self._look_at_slots(warp, window)
            if entries >> warp & 1:
                self._look_at_entries(warp, window.entries)
            if requests >> warp & 1:
                self._look_at_requests(warp, window)
            if changed >> warp & 1:
                self._look_at_head(warp, window)
        self.slots_changed = self.entries_changed = self.requests_changed = 0
        self._running = heads.clear & ~heads.waiting
        self.room = heads.buffered & self._reusable & ~(self._needs_eviction | self._needs_entries)

    def entered(self, bit: int) -> None:
        """A beat, or the end of its warp, has changed everything of a window."""
        self.slots_changed |= bit
        self.entries_changed |= bit
        self.requests_changed |= bit

    def stalled(self, met: int) -> int:
        """Windows whose clear head beat may lack room now; ``met`` have taken a result since."""
        return self._running & self._reusable & (self._needs_eviction | self._needs_entries | met)

    def observe(self) -> None:
        """Probes and counters of registered state."""
        events, counters = self._events, self._events.counters
        running, waiting = self._running, self._running & self._reusable
        events.word = self._word | self.requests.asking << self._at_request | self.evicting << self._at_evict
        if running & ~self._reusable:
            events.stall("stall_slot", running & ~self._reusable)
        if waiting & self._needs_eviction:
            events.stall("stall_evict", waiting & self._needs_eviction)
        if waiting & self._needs_entries:
            events.stall("stall_entry", waiting & self._needs_entries)
        if self._blocked:
            events.show("blocked", self._blocked)
            counters["stall_write_after_read"] += self._blocked.bit_count()
        counters["unit_cycles"] += self._undispatched
        counters["operand_waits"] += self._incomplete
        self._cycles += 1

    def launched(self, warp: int) -> None:
        """A warp is resident from the next cycle; its window is empty."""
        self._since[warp] = self._cycles

    def exited(self, warp: int) -> None:
        """It is not any more; this cycle still counts."""
        self._count_occupancy(warp)
        del self._since[warp]

    def count_occupancy(self) -> None:
        """Bring the counters of held entries up to date: they move only when a window's number changes."""
        for warp in self._since:
            self._count_occupancy(warp)

    def _count_occupancy(self, warp: int) -> None:
        self._events.counters[self._occupancy[warp]] += self._cycles - self._since[warp]
        self._since[warp] = self._cycles

    def _look_at_slots(self, warp: int, window: Window) -> None:
        bit, undispatched, before = 1 << warp, window.undispatched, self._beats[warp]
        if undispatched != before:
            self._word ^= (undispatched ^ before) << self._at_slots[warp]
            self._undispatched += undispatched.bit_count() - before.bit_count()
            self._beats[warp] = undispatched
        lacking, before = window.lacking(), self._lacking[warp]
        if lacking != before:
            self._word ^= (lacking ^ before) << self._at_lacking[warp]
            self._incomplete += lacking.bit_count() - before.bit_count()
            self._lacking[warp] = lacking
        self._reusable = self._reusable & ~bit if undispatched >> window.place & 1 else self._reusable | bit
        if self.ready_slot[warp] >= 0:
            self.ready[self._ready_port[warp]] ^= bit
        number = self.ready_slot[warp] = window.ready() if undispatched else -1
        if number >= 0:
            port = self._ready_port[warp] = window.slots[number].port
            self.ready[port] |= bit

    def _look_at_entries(self, warp: int, entries: Entries) -> None:
        bit, at = 1 << warp, self._at_entries[warp]
        held = entries.all ^ entries.free
        word = held << at[0] | entries.fill << at[1]
        occupancy = self._occupancies[held.bit_count()]
        if occupancy is not self._occupancy[warp]:
            if warp in self._since:
                self._count_occupancy(warp)
            self._occupancy[warp] = occupancy
        if entries.dirty:
            word |= entries.dirty << at[2] | entries.owed << at[3]
        if entries.evicting:
            word |= entries.evicting << at[4]
            self.evict_entry[warp] = entries.oldest(entries.evicting)
            self.evicting |= bit
        else:
            self.evicting &= ~bit
        self._word ^= self._words[warp] ^ word
        self._words[warp] = word

    def _look_at_requests(self, warp: int, window: Window) -> None:
        entries = window.entries
        if self.requests.asking >> warp & 1:
            self.requests.end(warp)
        if entries.ungranted:
            wanted = self.wanted[warp] = window.wanted()
            self.requests.add(warp, self._place(warp, entries.register[wanted]))

    def _look_at_head(self, warp: int, window: Window) -> None:
        bit = 1 << warp
        self._blocked &= ~bit
        self._needs_eviction &= ~bit
        self._needs_entries &= ~bit
        if self._buffered & bit:
            head = self.heads.buffers[warp][0]
            if head.dests & window.unread:
                self._blocked |= bit
            verdict = window.fits(head)
            if verdict == NEEDS_EVICTION:
                self._needs_eviction |= bit
            elif verdict == NEEDS_ENTRIES:
                self._needs_entries |= bit
