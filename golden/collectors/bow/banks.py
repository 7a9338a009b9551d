"""Evictions and reads: the windows' way to the banks and back (docs/schemes/bow.md, steps 1b, 2 and 6)."""

from __future__ import annotations

from warpfile.golden.arbiter import indices
from warpfile.golden.collectors.bow.events import Events
from warpfile.golden.collectors.bow.status import WindowStatus
from warpfile.golden.collectors.bow.window import Window
from warpfile.golden.rf.banks import Write
from warpfile.golden.rf.contract import RegisterFile
from warpfile.golden.rf.engine import Ask


class WindowBanks:
    """The register file as windows use it, after the results of the cycle have taken their ports.

    ``taken`` are the entries that banks take in this cycle, by window.
    """

    def __init__(self, file: RegisterFile, windows: list[Window], status: WindowStatus) -> None:
        self.taken: dict[int, int] = {}
        self._file = file
        self._windows = windows
        self._status = status
        self._arrivals: dict[int, list[tuple[int, int]]] = {}

    def present(self) -> None:
        """Every window asks for itself."""

    def evict(self, cycle: int, events: Events) -> None:
        """Step 1b: every bank that has its write port left takes the entry of one window, as it is now."""
        asks: dict[int, Ask] = {}
        for warp in indices(self._status.evicting):
            entries, entry = self._windows[warp].entries, self._status.evict_entry[warp]
            bank, row = self._file.place(warp, entries.register[entry])
            asks[warp] = Ask(bank, row, Write(row, entries.copy[entry]))
        for warp, _ in self._file.engines["evictions"].grant(cycle, asks):
            self.taken[warp] = self._status.evict_entry[warp]
            events.note("evicted", warp, "evictions", "window_reads")

    def read(self, cycle: int, events: Events) -> None:
        """Step 6: a row is read as it is at the beginning of the cycle."""
        requests = self._status.requests
        grants = self._file.read(cycle, requests.of_bank, requests.rows, [])
        events.counters["bank_conflicts"] += requests.asking.bit_count() - len(grants)
        for warp, copy, arrival in grants:
            self._grant(arrival, warp, self._granted(warp, copy))
            events.note("grant", warp, "bank_reads", "window_writes")

    def _granted(self, warp: int, copy: int) -> int:
        """What an access brings."""
        return copy

    def _grant(self, arrival: int, warp: int, copy: int) -> None:
        """The entry that a window asks for is there in the cycle behind ``arrival``."""
        entry = self._status.wanted[warp]
        self._windows[warp].entries.granted(entry, copy)
        self._arrivals.setdefault(arrival, []).append((warp, entry))
        self._status.requests_changed |= 1 << warp

    def free_taken(self) -> None:
        """The end of the cycle: what was taken is FREE, unless a result or the warp's end has decided otherwise."""
        for warp, entry in self.taken.items():
            entries = self._windows[warp].entries
            if entries.evicting >> entry & 1:
                entries.release(1 << entry)
            self._status.entries_changed |= 1 << warp
        self.taken.clear()

    def arrive(self, cycle: int) -> None:
        """Step 2: data of earlier grants."""
        for warp, entry in self._arrivals.pop(cycle, ()):
            self._windows[warp].filled(entry)
            self._status.slots_changed |= 1 << warp
            self._status.entries_changed |= 1 << warp
