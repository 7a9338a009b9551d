"""Collector units that forward results and keep operands (docs/schemes/sticky.md)."""

from __future__ import annotations

from mypy_extensions import mypyc_attr

from warpfile.golden.arbiter import indices, lowest, ones
from warpfile.golden.collectors.contract import ForwardingCollectors, Heads, Offer
from warpfile.golden.collectors.gathering import GatheringUnits
from warpfile.golden.collectors.pool import CollectorUnits
from warpfile.golden.collectors.sticky.coming import ComingResults
from warpfile.golden.collectors.sticky.keeping import KeptOperands
from warpfile.golden.entry import Entry
from warpfile.golden.rf.contract import RegisterFile
from warpfile.spec.config import Config
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.sticky import SUMS, StickyConfig
from warpfile.spec.stimulus import Result


class StickyPool(CollectorUnits):
    """Units whose slots ask when they are told to; ``copies`` are in the operand registers, in all lanes."""

    def __init__(self, cfg: Config, file: RegisterFile) -> None:
        super().__init__(cfg, file, presented=True)
        self.copies = [-1] * len(self.values)

    def fetched(self, number: int, slot: int, copy: int, arrival: int) -> None:
        """See the units of the baseline. The copy stays when the beat is gone."""
        self.copies[number * self._slots + slot] = copy
        super().fetched(number, slot, copy, arrival)


@mypyc_attr(allow_interpreted_subclasses=True)
class StickyUnits(GatheringUnits, ForwardingCollectors):
    """The baseline's units, but for sources that their slot has kept or whose result is coming."""

    def __init__(self, cfg: StickyConfig, layout: ProbeLayout, file: RegisterFile) -> None:
        self.pool = StickyPool(cfg, file)
        super().__init__(cfg, layout, file)
        self._near, self._slots = cfg.near_slots, cfg.source_slots
        self._keeps, self._forwards = cfg.keeps_operands, cfg.forwards
        self.kept = KeptOperands(cfg)
        self.results = ComingResults(cfg, self.kept)
        self._sums = dict.fromkeys((*SUMS, "hit_beats"), 0)
        self._own = self._now = 0
        self._offsets = layout.offset

    def make_units(self, cfg: Config, file: RegisterFile) -> CollectorUnits:
        """See the baseline."""
        return self.pool

    @property
    def counters(self) -> dict[str, int]:
        """See the contract."""
        return super().counters | self._sums

    def coming(self, warp: int, head: Entry) -> int:
        """See the contract."""
        coming = self.results.registers[warp]
        if not coming:
            return 0
        near = 0
        for register in head.beat.sources[: self._near]:
            near |= 1 << register
        return coming & near

    def room(self, heads: Heads, ready: int) -> int:
        """As in the baseline; where operands are kept, a unit that dispatches is as free as others."""
        if not self._keeps:
            return super().room(heads, ready)
        self._free = self.pool.free
        if self._retakes:
            self._free |= self.pool.leaving(ready)
        return heads.buffered if self._free else heads.buffered & heads.unitless

    def offer(self) -> list[Offer]:
        """See the contract."""
        offers = super().offer()
        self._own = 0
        if self._keeps and self.kept.kept:
            names, warps = self.kept.shown()
            self._own |= self.kept.kept << self._offsets["kept"]
            self._own |= names << self._offsets["kept_name"] | warps << self._offsets["kept_warp"]
        if self.results.warps:
            self._own |= self.results.warps << self._offsets["coming"]
        if self.results.awaiting:
            self._show("await_cycles", self.results.awaiting)
        return offers

    def _show(self, counter: str, mask: int) -> None:
        """Events of a probe, and their counter."""
        self._own |= mask << self._offsets[SUMS[counter]]
        self._sums[counter] += ones(mask)

    def settle(self, results: list[Result | None], accepted: int) -> None:
        """What port 0 accepts goes to the slots that wait for it."""
        result = results[0]
        if not self._forwards or not accepted & 1 or result is None:
            return
        taking = self.results.accepted(result)
        if taking:
            self._show("forwards", taking)
        for slot in indices(taking):
            self.pool.fetched(slot // self._near, slot % self._near, result.row, self._now)

    def dispatch(self, port: int) -> list[int]:
        """See the contract."""
        unit = self.pool.units[self._offered[port]]
        assert unit.entry is not None, f"port {port} takes a beat that is not offered"
        if self._forwards and self.results.marks(unit.warp, unit.entry):
            self._own |= 1 << self._offsets["marks"] + port
        return super().dispatch(port)

    def accept(self, warp: int, entry: Entry) -> bool:
        """Every beat with room is accepted. What it writes is kept no more."""
        overwritten = self.kept.overwritten(warp, entry)
        if entry.needs_unit:
            self._take(warp, entry, overwritten)
        else:
            self.kept.drop(overwritten)
            if entry.exits:
                self.kept.exits(warp)
        if overwritten:
            self._show("overwrites", overwritten)
        return True

    def _take(self, warp: int, entry: Entry, overwritten: int) -> None:
        if self._keeps:
            number, hits = self.kept.choose(self._free, warp, entry)
        else:
            number, hits = lowest(self._free), 0
        expects, late = self.results.sources(warp, entry)
        assert not hits & (expects | late), f"unit {number} keeps a register that is coming"
        self.kept.drop(overwritten)
        self.kept.take(number, warp, entry)
        self.pool.allocate(number, warp, entry)
        base, place = number * self._slots, self._file.place
        for slot, register in enumerate(entry.beat.sources):
            if hits >> slot & 1:
                self.pool.fetched(number, slot, self.pool.copies[base + slot], self._now)
            elif not expects >> slot & 1:
                self.pool.present(number, slot, place(warp, register))
        self.results.expect(number, expects)
        self._word |= 1 << self._at_allocate + number
        for counter, mask in (("source_hits", hits), ("source_awaits", expects), ("source_lates", late)):
            if mask:
                self._show(counter, mask)
        self._sums["hit_beats"] += hits != 0
        if entry.beat.sources:
            self._show("sources", (1 << len(entry.beat.sources)) - 1)

    def edge(self, cycle: int) -> int:
        """See the contract."""
        word = super().edge(cycle) | self._own
        self.changed |= self.results.edge()
        self._now = cycle + 1
        return word
