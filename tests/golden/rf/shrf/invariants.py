"""A second reading of the hierarchy (docs/schemes/shrf.md, section 5), from probes, results and beats alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.golden.invariants import NEVER, Watcher, bits, require, takes_unit
from tests.golden.scheduler.two_level.invariants import PlaceWatcher
from warpfile.golden.arbiter import indices
from warpfile.spec.beat import Beat
from warpfile.spec.schemes.shrf import ShrfConfig
from warpfile.spec.stimulus import Result, Stimulus

Entry = tuple[int, int]  #: place, and entry of the place


@dataclass
class ShrfWatcher(PlaceWatcher):
    """Also follows entries: those that are to be ``written``, ``unread`` near slots of every unit with their entries,
    slots that ``bring``, and what is ``incoming`` by cycle. ``order`` has the units, oldest first.
    """

    written: set[Entry] = field(default_factory=set)
    unread: dict[int, dict[int, Entry]] = field(default_factory=dict)
    bring: dict[int, dict[int, Entry]] = field(default_factory=dict)
    incoming: dict[int, Entry] = field(default_factory=dict)
    order: list[int] = field(default_factory=list)
    completing: dict[int, set[int]] = field(default_factory=dict)
    to_banks: int = 0

    @property
    def shrf(self) -> ShrfConfig:
        """The configuration of the scheme."""
        assert isinstance(self.cfg, ShrfConfig)
        return self.cfg

    def _leaving(self, loads: set[int], stops: set[int], starved: set[int], active: int) -> tuple[set[int], ...]:
        return super()._leaving(loads, stops, set(), active)

    def _check_choice(self, f: dict[str, int], places: dict[int, int]) -> None:
        super()._check_choice(f | {"clear": f["clear"] & ~f["entry_hold"]}, places)

    def _place(self, warp: int) -> int:
        return next(place for place, (holder, _) in self.held.items() if holder == warp)

    def _named(self, beat: Beat) -> tuple[dict[int, int], dict[int, int], int]:
        """Entries of the place that a beat reads and brings, by slot, and that of its result (-1: none)."""
        cfg, near, brings = self.shrf, dict[int, int](), dict[int, int]()
        width, at = (cfg.orf_entries + (cfg.lrf != "none")).bit_length(), cfg.hint_at("source_entry")
        for slot in range(len(beat.sources)):
            value = beat.hints >> at + slot * width & (1 << width) - 1
            if value > cfg.orf_entries:
                near[slot] = cfg.orf_entries + (slot if cfg.lrf == "split" else 0)
            elif value and beat.hints >> cfg.hint_at("bring") + slot & 1:
                brings[slot] = value - 1
            elif value:
                near[slot] = value - 1
        return near, brings, self._of_result(beat.hints)

    def _of_result(self, hints: int) -> int:
        width = self.shrf.place_entries.bit_length()
        return (hints >> self.shrf.hint_at("result_entry") & (1 << width) - 1) - 1

    def _check_banks(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        self._check_entries(f)
        arriving = self.incoming.pop(self.cycle, None)
        orf = self.shrf.orf_entries
        shown = 0 if arriving is None else 1 << arriving[0] * orf + arriving[1]
        require(f.get("bring", 0) == shown, "what a bank reads for an entry is written when it arrives")
        self._check_results(stimulus, f, arriving is not None)
        self._check_near(f)
        self._check_asking(f)
        for index in indices(f["grant"]):
            unit, slot = divmod(index, self.cfg.source_slots)
            warp, beat = self.units[unit]
            self.granted[unit].add(slot)
            self.reads += 1
            self._access(self._bank(warp, beat.sources[slot]), "read")
            if slot in self.bring[unit]:
                self.incoming[self.cycle + self.cfg.bank_cycles] = self.bring[unit].pop(slot)
        if arriving is not None:
            self.written.discard(arriving)

    def _check_entries(self, f: dict[str, int]) -> None:
        size = self.shrf.place_entries
        shown = sum(1 << p * size + e for p, e in self.written)
        require(f["to_be_written"] == shown, "to_be_written follows the beats under way")
        held = 0
        for place, (warp, _) in self.held.items():
            buffer = self.buffers.get(warp)
            if buffer and buffer[0].mask:
                near, brings, result = self._named(buffer[0])
                uses = {(place, entry) for entry in (*near.values(), *brings.values(), result) if entry >= 0}
                held |= bool(uses & self.written) << warp
        require(f["entry_hold"] == held, "a head beat waits for entries that it uses")

    def _check_near(self, f: dict[str, int]) -> None:
        unit = next((unit for unit in self.order if self.unread[unit]), None)
        require(f["near_read"] == (0 if unit is None else 1 << unit), "the oldest unit reads what it has near")
        levels = {"orf_read": set[int](), "lrf_read": set[int]()}
        if unit is not None:
            for slot, (_, entry) in self.unread[unit].items():
                levels["orf_read" if entry < self.shrf.orf_entries else "lrf_read"].add(slot)
            self.granted[unit] |= self.unread[unit].keys()
            self.hits += len(self.unread[unit])
            self.unread[unit] = {}
        for probe, slots in levels.items():
            require(f[probe] == sum(1 << slot for slot in slots), f"{probe} shows the slots")

    def _check_asking(self, f: dict[str, int]) -> None:
        expected, brought, count = 0, False, self.cfg.source_slots
        for unit in self.order:
            _, beat = self.units[unit]
            near = self._named(beat)[0]
            far = [slot for slot in range(len(beat.sources)) if slot not in near and slot not in self.granted[unit]]
            for slot in far[:1] if self.cfg.collect == "lowest" else far:
                if slot not in self.bring[unit] or not brought:
                    expected |= 1 << unit * count + slot
                brought |= slot in self.bring[unit]
        require(f["request"] == expected, "far slots ask, one of those that bring")
        require(not f["grant"] & ~expected, "only what asks is granted")

    def _check_results(self, stimulus: Stimulus, f: dict[str, int], filling: bool) -> None:
        chosen, accepted = set[object](), 0
        shown = dict.fromkeys(("bank_write", "orf_write", "lrf_write"), 0)
        for port, result in sorted(enumerate(stimulus.results), reverse=True):
            if result is None:
                continue
            targets = list(self._targets(result)) if result.writes else []
            asked = {resource for _, resource in targets}
            free = not (filling and "orf" in asked) and not asked & chosen
            chosen |= asked
            bank = self._bank(result.warp, result.register)
            if not free or ("bank_write" in dict(targets) and not self._is_free(bank, "write", self.cfg.bank_cycles)):
                continue
            accepted |= 1 << port
            for probe, _ in targets:
                shown[probe] |= 1 << port
            self._take(port, result, dict(targets))
        require(f["write"] == accepted, "a result is accepted when all that it asks chooses it")
        for probe, ports in shown.items():
            require(f[probe] == ports, f"{probe} shows where results go")

    def _targets(self, result: Result) -> Iterator[tuple[str, object]]:
        """Probe and resource of everything that gets the result."""
        entry = self._of_result(result.hints)
        if not result.hints >> self.shrf.hint_at("mrf_skipped") & 1:
            yield "bank_write", ("bank", self._bank(result.warp, result.register))
        if entry >= 0:
            orf = entry < self.shrf.orf_entries
            yield ("orf_write", "orf") if orf else ("lrf_write", ("lrf", entry))

    def _take(self, port: int, result: Result, targets: dict[str, object]) -> None:
        near = len(targets) > ("bank_write" in targets)
        if "bank_write" in targets:
            self._access(self._bank(result.warp, result.register), "write")
            self.to_banks += 1
        self.writes += result.writes
        if near:
            self.written.discard((self._place(result.warp), self._of_result(result.hints)))
        last = self.cycle + (1 if near else self.cfg.bank_cycles) - 1
        taken = self.completing.setdefault(port, set())
        while last in taken:
            last += 1
        taken.add(last)
        for key in bits(result.warp, 1 << result.register if result.writes else 0, result.tokens):
            require(self.pending[key] == NEVER, "a result is pending until it completes")
            self.pending[key] = last + 1

    def _follow_allocation(self, f: dict[str, int], warp: int, beat: Beat) -> None:
        super()._follow_allocation(f, warp, beat)
        unit, place = f["allocate"].bit_length() - 1, self._place(warp)
        near, brings, result = self._named(beat)
        require(takes_unit(beat), "only beats with a unit have entries")
        self.order = [other for other in self.order if other in self.units and other != unit] + [unit]
        self.unread[unit] = {slot: (place, entry) for slot, entry in near.items()}
        self.bring[unit] = {slot: (place, entry) for slot, entry in brings.items()}
        self.written |= {(place, entry) for entry in (*brings.values(), result) if entry >= 0}

    def _follow_dispatch(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        super()._follow_dispatch(stimulus, f)
        self.order = [unit for unit in self.order if unit in self.units]

    def check_end(self, counters: dict[str, int]) -> None:
        """Check the sums of a whole run."""
        require(counters["bank_writes"] == self.to_banks, "bank_writes counts what goes to banks")
        require(counters["orf_reads"] + counters["lrf_reads"] == self.hits, "near reads are counted by level")
        super().check_end(counters | {"bank_writes": self.writes})


@dataclass
class SlotWatcher(ShrfWatcher):
    """The same under a scheduler without places: every warp slot holds the place of its number, for good."""

    def __post_init__(self) -> None:
        self.held = {warp: (warp, "active") for warp in range(self.cfg.warps)}

    def check(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        """Check one cycle, then follow it."""
        free = f["clear"] & ~f["waiting"] & f["room"] & ~f["entry_hold"]
        require(bool(f["issue"]) == bool(free), "some warp that no entry holds issues")
        require(not f["issue"] or bool(free >> f["issue_warp"] & 1), "no warp issues that an entry holds")
        Watcher.check(self, stimulus, f)
