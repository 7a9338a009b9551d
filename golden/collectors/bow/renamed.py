"""Operand windows over a file with a renaming table (docs/schemes/corf.md, section 17)."""

from __future__ import annotations

from typing import cast

from warpfile.golden.arbiter import first_from, indices
from warpfile.golden.collectors.bow.banks import WindowBanks
from warpfile.golden.collectors.bow.entries import Entries
from warpfile.golden.collectors.bow.events import Events
from warpfile.golden.collectors.bow.status import WindowStatus
from warpfile.golden.collectors.bow.window import Window
from warpfile.golden.rf.contract import EvictingFile, Eviction, RegisterFile
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.bow import BowConfig


class RenamedStatus(WindowStatus):
    """Also: ``looking`` windows want to know where the entry ``sought`` is; those ``nowhere`` wait for the entry
    ``wanted``, which has no place."""

    def __init__(
        self, cfg: BowConfig, layout: ProbeLayout, windows: list[Window], file: RegisterFile, events: Events
    ) -> None:
        super().__init__(cfg, layout, windows, file, events)
        self.looking = self.nowhere = 0
        self.sought = [-1] * cfg.warps
        self._sizes = [0] * cfg.warps
        first = layout.offset["entry_size"] if cfg.sizes_entries else -1
        self._at_sizes = [first + 3 * cfg.window_entries * warp for warp in range(cfg.warps)] if first >= 0 else []

    @property
    def asking(self) -> int:
        """Windows that ask a bank or the table, or wait for what is nowhere."""
        return self.requests.asking | self.looking | self.nowhere

    def _look_at_entries(self, warp: int, entries: Entries) -> None:
        super()._look_at_entries(warp, entries)
        if self._at_sizes:
            word, at = 0, self._at_sizes[warp]
            for entry in indices(entries.clean | entries.dirty | entries.evicting):
                word |= entries.size[entry] << at + 3 * entry
            self._word ^= self._sizes[warp] ^ word
            self._sizes[warp] = word

    def _look_at_requests(self, warp: int, window: Window) -> None:
        """The lowest rank goes first at the table, and of what is located at the bank."""
        bit, entries = 1 << warp, window.entries
        if self.requests.asking & bit:
            self.requests.end(warp)
        self.looking &= ~bit
        self.nowhere &= ~bit
        if entries.unlooked:
            self.looking |= bit
            self.sought[warp] = entries.oldest(entries.unlooked)
        located = entries.ungranted & ~entries.unlooked
        if located:
            entry = self.wanted[warp] = entries.oldest(located)
            mapped = entries.mapped[entry]
            if mapped.mask:
                self.requests.add(warp, (mapped.bank, mapped.row))
            else:
                self.nowhere |= bit


class RenamedBanks(WindowBanks):
    """The way of windows that know of a register its name alone."""

    def __init__(self, file: RegisterFile, windows: list[Window], status: RenamedStatus) -> None:
        super().__init__(file, windows, status)
        self._table = cast(EvictingFile, file)
        self._looking = status
        self._pointer = 0
        self._presented = -1

    def present(self) -> None:
        """Step 1b: one window presents its eviction, on registered state."""
        self._presented = warp = first_from(self._status.evicting, self._pointer)
        entries, entry = self._windows[warp].entries, self._status.evict_entry[warp]
        eviction = Eviction(warp, entries.register[entry], entries.size[entry], entries.copy[entry])
        self._table.evicts(eviction)

    def evict(self, cycle: int, events: Events) -> None:
        """The file may have taken it."""
        if self._table.evicted:
            warp = self._presented
            self.taken[warp] = self._status.evict_entry[warp]
            self._pointer = (warp + 1) % len(self._windows)
            events.note("evicted", warp, "evictions", "window_reads")

    def read(self, cycle: int, events: Events) -> None:
        """Step 6: reads of banks, zeros, new questions."""
        if self._status.requests.asking:
            super().read(cycle, events)
        for warp in indices(self._looking.nowhere):
            register = self._windows[warp].entries.register[self._status.wanted[warp]]
            self._grant(cycle + 1, warp, self._table.unmapped(warp, register))
            events.note("zero", warp, "unmapped_reads", "window_writes")
        for warp in indices(self._looking.looking):
            self._look_up(warp, events)

    def _granted(self, warp: int, copy: int) -> int:
        """What the row holds for the entry that asked; the access itself brings no copy."""
        entries, entry = self._windows[warp].entries, self._status.wanted[warp]
        return self._table.unpacked(entries.mapped[entry], warp, entries.register[entry])

    def _look_up(self, warp: int, events: Events) -> None:
        entries, entry = self._windows[warp].entries, self._looking.sought[warp]
        found = self._table.look_up(warp, entries.register[entry])
        if found is None:
            events.note("look_up_wait", warp, "look_up_waits")
            return
        events.note("look_up", warp, "look_ups")
        entries.looked_up(entry, found)
        self._status.requests_changed |= 1 << warp
