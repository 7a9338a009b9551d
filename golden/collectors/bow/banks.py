"""Evictions and reads: the windows' way to the banks and back (docs/schemes/bow.md, steps 1b, 2 and 6)."""

from __future__ import annotations

from collections import deque

from warpfile.golden.arbiter import first_from, indices
from warpfile.golden.collectors.bow.events import Events
from warpfile.golden.collectors.bow.view import WindowView
from warpfile.golden.collectors.bow.window import Window
from warpfile.golden.rf.banks import Banks
from warpfile.golden.rf.location import Location
from warpfile.spec.schemes.bow import BowConfig


class WindowBanks:
    """Bank ports as windows use them, after the results of the cycle have claimed theirs.

    ``taken`` are the entries that banks take in this cycle, by window.
    """

    def __init__(self, cfg: BowConfig, location: Location, windows: list[Window], view: WindowView) -> None:
        self.banks = Banks(cfg, location)
        self.taken: dict[int, int] = {}
        self._location = location
        self._windows = windows
        self._view = view
        self._cycles = cfg.bank_cycles
        self._slots = cfg.source_slots
        self._pointer = [0] * cfg.banks
        self._arrivals: deque[tuple[int, int, int]] = deque()

    def row(self, warp: int, register: int) -> int:
        """The copy that a register's bank row holds."""
        bank, row = self._location.place(warp, register)
        return self.banks.rows[bank][row]

    def set_row(self, warp: int, register: int, copy: int) -> None:
        """The bank row of a register holds that copy from the next cycle on."""
        bank, row = self._location.place(warp, register)
        self.banks.rows[bank][row] = copy

    def evict(self, cycle: int, events: Events) -> None:
        """Step 1b: every bank that has its write port left takes the entry of one window."""
        asking: dict[int, int] = {}
        for warp in indices(self._view.evicting):
            register = self._windows[warp].entries.register[self._view.evict_entry[warp]]
            bank = self._location.place(warp, register)[0]
            asking[bank] = asking.get(bank, 0) | 1 << warp
        for bank, windows in asking.items():
            if self.banks.claim(cycle, bank):
                warp = first_from(windows, self._pointer[bank])
                self._pointer[bank] = (warp + 1) % len(self._windows)
                self.taken[warp] = self._view.evict_entry[warp]
                events.note("evicted", warp, "evictions", "window_reads", "bank_writes")

    def read(self, cycle: int, events: Events) -> None:
        """Step 6: a row is read as it is at the beginning of the cycle."""
        view = self._view
        grants = self.banks.grant(cycle, view.requests, ())
        events.counters["bank_conflicts"] += view.asking.bit_count() - len(grants)
        for index in grants:
            warp = index // self._slots
            entry, entries = view.wanted[warp], self._windows[warp].entries
            entries.granted(entry, self.row(warp, entries.register[entry]))
            self._arrivals.append((cycle + self._cycles, warp, entry))
            view.requests_changed |= 1 << warp
            events.note("grant", warp, "bank_reads", "window_writes")

    def write_taken(self) -> None:
        """Rows of the entries that banks take, as they are at the beginning of the cycle."""
        for warp, entry in self.taken.items():
            entries = self._windows[warp].entries
            self.set_row(warp, entries.register[entry], entries.copy[entry])

    def free_taken(self) -> None:
        """The end of the cycle: what was taken is FREE, unless a result or the warp's end has decided otherwise."""
        for warp, entry in self.taken.items():
            entries = self._windows[warp].entries
            if entries.evicting >> entry & 1:
                entries.release(1 << entry)
            self._view.entries_changed |= 1 << warp
        self.taken.clear()

    def arrive(self, cycle: int) -> None:
        """Step 2: data of earlier grants."""
        arrivals = self._arrivals
        while arrivals and arrivals[0][0] == cycle:
            _, warp, entry = arrivals.popleft()
            self._windows[warp].filled(entry)
            self._view.slots_changed |= 1 << warp
            self._view.entries_changed |= 1 << warp
