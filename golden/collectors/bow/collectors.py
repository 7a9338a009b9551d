"""Operand windows instead of collector units (docs/schemes/bow.md)."""

from __future__ import annotations

from typing import cast

from mypy_extensions import mypyc_attr

from warpfile.golden.arbiter import first_from, indices
from warpfile.golden.collectors.bow.banks import WindowBanks
from warpfile.golden.collectors.bow.events import Events
from warpfile.golden.collectors.bow.renamed import RenamedBanks, RenamedStatus
from warpfile.golden.collectors.bow.results import Ruling, Values, rule
from warpfile.golden.collectors.bow.status import WindowStatus
from warpfile.golden.collectors.bow.window import FITS, Window
from warpfile.golden.collectors.contract import Collectors, Heads, Offer
from warpfile.golden.copies import row_in_lanes
from warpfile.golden.entry import Entry
from warpfile.golden.rf.contract import EvictingFile, RegisterFile
from warpfile.spec.cta_dispatcher import Launch
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.bow import BowConfig
from warpfile.spec.stimulus import Result


@mypyc_attr(allow_interpreted_subclasses=True)
class Windows(Collectors):
    """Collectors (:class:`golden.collectors.contract.Collectors`) that own results and keep them in windows.

    They prefer no warp. A beat that has room is refused where this cycle's results take its entries.
    """

    def __init__(self, cfg: BowConfig, layout: ProbeLayout, file: RegisterFile) -> None:
        self.prefer = self.changed = 0
        self.events = Events(cfg, layout)
        self.windows = [Window(cfg) for _ in range(cfg.warps)]
        self.status, self.banks = self._ways(cfg, layout, file)
        self.values = Values(cfg)
        self._sizing = cast(EvictingFile, file) if cfg.asks.evicts else None
        self._writes = cfg.window_writes
        self._entries = cfg.window_entries
        self._pointer = [0] * cfg.ports
        self._offered = [(-1, -1)] * cfg.ports
        self._rulings: dict[int, Ruling] = {}
        self._dispatched: list[tuple[int, int]] = []
        self._met = self._entered = 0
        self._at_unit = [layout.offset[f"dispatch_unit{port}"] for port in range(cfg.ports)]

    def _ways(self, cfg: BowConfig, layout: ProbeLayout, file: RegisterFile) -> tuple[WindowStatus, WindowBanks]:
        """What the windows ask for, and how they get it."""
        if cfg.gives.renamed:
            renamed = RenamedStatus(cfg, layout, self.windows, file, self.events)
            return renamed, RenamedBanks(file, self.windows, renamed)
        status = WindowStatus(cfg, layout, self.windows, file, self.events)
        return status, WindowBanks(file, self.windows, status)

    @property
    def counters(self) -> dict[str, int]:
        """See the contract."""
        self.status.count_occupancy()
        return self.events.counters

    def unread(self, warp: int) -> int:
        """Used sources of undispatched beats: a slot only points at its entries."""
        return self.windows[warp].unread

    def collecting(self, warp: int) -> bool:
        """See the contract."""
        return self.windows[warp].undispatched != 0

    def room(self, heads: Heads, ready: int) -> int:
        """Step 4. The probes of registered state are taken here."""
        self._met = self._entered = 0
        self.status.refresh(heads)
        self.status.observe()
        return self.status.room

    def offer(self) -> list[Offer]:
        """Step 3: every window offers one slot, every port takes that of one window."""
        if self.status.evicting:
            self.banks.present()
        offers: list[Offer] = []
        for port, ready in enumerate(self.status.ready):
            if ready:
                warp = first_from(ready, self._pointer[port])
                number = self.status.ready_slot[warp]
                entry = self.windows[warp].slots[number].entry
                assert entry is not None, f"window {warp} offers slot {number}, which is empty"
                self._offered[port] = warp, number
                self.events.word |= warp << self._at_unit[port]
                offers.append((port, warp, entry))
        return offers

    def rule(self, results: list[Result | None]) -> tuple[int, int]:
        """Step 1. One result of every window is considered, that of the highest port."""
        valid = store = considered = 0
        self._rulings.clear()
        for port in range(len(results) - 1, -1, -1):
            result = results[port]
            if result is None:
                continue
            if result.writes:
                if considered >> result.warp & 1:
                    continue
                considered |= 1 << result.warp
                self._rulings[port] = ruling = rule(self.windows[result.warp], result, self._writes)
                store |= ruling.bank << port
            valid |= 1 << port
        return valid, store

    def read(self, cycle: int) -> None:
        """Steps 1b and 6."""
        if self.status.evicting:
            self.banks.evict(cycle, self.events)
        if self.status.asking:
            self.banks.read(cycle, self.events)

    def settle(self, results: list[Result | None], accepted: int) -> None:
        """Accepted results change their windows."""
        for port, ruling in self._rulings.items():
            if accepted >> port & 1:
                result = results[port]
                assert result is not None, f"port {port} has no result"
                self._settle(port, result, ruling)

    def _settle(self, port: int, result: Result, ruling: Ruling) -> None:
        warp, taken = result.warp, self.banks.taken
        window = self.windows[warp]
        entry = window.entries.where.get(result.register, -1)
        saved = False
        if entry >= 0:
            is_taken = taken.get(warp, -1) == entry
            if is_taken:
                del taken[warp]
            saved = bool((window.entries.dirty | (0 if is_taken else window.entries.evicting)) >> entry & 1)
        self.values.settle(window, result, ruling, self._writes == "through")
        if self._sizing is not None and ruling.stored:
            window.entries.resize(result.register, self._sizing.result_size(result), result.full)
        self._met |= 1 << warp
        self.status.entries_changed |= 1 << warp
        self._note_result(port, ruling, saved)

    def _note_result(self, port: int, ruling: Ruling, saved: bool) -> None:
        note, late = self.events.note, ruling.slot is None
        note("accepted", port, "results", f"class_{ruling.write_class}")
        self.events.show(f"class{port}", ruling.write_class)
        if ruling.stored:
            note("store", port, "window_writes")
        if ruling.bank:
            note("bank_write", port)
        if ruling.dropped:
            note("drop", port, "dropped_results", "bypassed_writes")
        if saved:
            note("saved", port, "saved_writes", "bypassed_writes")
        if late:
            note("late", port, "late_results", *(["late_bank_writes"] if ruling.bank else []))

    def dispatch(self, port: int) -> list[int]:
        """See the contract. The slot and its pins stay as they are until the clock edge."""
        warp, number = self._offered[port]
        window = self.windows[warp]
        self._pointer[port] = (warp + 1) % len(self.windows)
        self._dispatched.append((warp, number))
        slot, copies = window.slots[number], window.entries.copy
        assert slot.entry is not None and not slot.missing, f"window {warp} dispatches a beat without its operands"
        lanes = slot.entry.beat.mask
        return [row_in_lanes(copies[entry], lanes) for entry in slot.operands]

    def accept(self, warp: int, entry: Entry) -> bool:
        """Step 5."""
        window, bit, events = self.windows[warp], 1 << warp, self.events
        if self._met & bit and window.fits(entry) != FITS:
            events.note("refused", 0, "refusals")
            return False
        self._entered = bit
        self.status.entered(bit)
        self.changed |= bit
        if entry.exits:
            window.clear()
            self.status.exited(warp)
            events.counters["sources_0"] += 1
            return True
        for number in indices(window.entries.expendable):
            events.note("discard", warp * self._entries + number, "discards", "bypassed_writes")
        hits, misses = window.enter(entry)
        events.show("hit", hits)
        events.show("miss", misses)
        sources = (hits | misses).bit_count()
        events.counters["bypassed_reads"] += hits.bit_count()
        events.counters["window_reads"] += sources
        events.counters[f"sources_{sources}"] += 1
        return True

    def another(self, warp: int, entry: Entry) -> bool:
        """See :class:`golden.dual_issue.RoomForTwo`."""
        window = self.windows[warp]
        return not window.undispatched >> window.place & 1 and window.fits(entry) == FITS

    def launched(self, launch: Launch) -> None:
        """See the contract."""
        self.values.launched(launch.warp)
        self.status.launched(launch.warp)

    def edge(self, cycle: int) -> int:
        """Steps 5b, 1b, 2 and 3, in this order: who makes room sees entries and pins as step 1 left them."""
        stalled = self.status.stalled(self._met) & ~self._entered
        if stalled:
            for warp in indices(stalled):
                self._make_room(warp)
        if self.banks.taken:
            self.banks.free_taken()
        self.banks.arrive(cycle)
        for warp, number in self._dispatched:
            self.windows[warp].dispatched(number)
            self.status.slots_changed |= 1 << warp
            self.changed |= 1 << warp
        self._dispatched.clear()
        return self.events.word

    def _make_room(self, warp: int) -> None:
        """Step 5b."""
        window, head = self.windows[warp], self.status.heads.buffers[warp][0]
        if window.fits(head) == FITS:
            return
        transients = window.entries.dirty & ~window.entries.owed
        victim = window.make_room(head)
        self.status.entries_changed |= 1 << warp
        if victim >= 0:
            self.events.note("victim", warp * self._entries + victim, "victims")
            if transients >> victim & 1:
                self.events.note("victim_transient", warp, "victims_transient")
