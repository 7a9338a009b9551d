"""Probes and counters of the read window (docs/schemes/modern.md, section 12)."""

from __future__ import annotations

from warpfile.golden.arbiter import indices
from warpfile.golden.collectors.read_window.planning import Plan
from warpfile.golden.collectors.read_window.reuse import ReuseCache
from warpfile.spec.config import index_bits
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.modern import ReadWindowConfig
from warpfile.spec.schemes.ported import BANKS

_COUNTERS = (
    "freezes",
    "fixed_sources",
    "fixed_reads",
    "variable_reads",
    "bank_reads",
    "bank_conflicts",
    "rfc_hits",
    "duplicates",
    "forwards",
    "unit_waits",
    "queue_waits",
)


class Probes:
    """Observation of the current cycle (``word``) and the sums since the beginning (``counters``)."""

    def __init__(self, cfg: ReadWindowConfig, layout: ProbeLayout) -> None:
        self._at = layout.offset
        self._reuses = cfg.reuses
        self._timer_bits = index_bits(cfg.read_window + 1)
        self._warp_bits, self._tag_bits = cfg.warp_bits, cfg.warp_bits + cfg.register_bits
        self.word = 0
        names = [*_COUNTERS, *(("stall_cycles", "barrier_waits") if cfg.codes else ())]
        self.counters = dict.fromkeys([*names, *(("rfc_allocations", "rfc_kills") if cfg.reuses else ())], 0)

    def show(self, probe: str, value: int) -> None:
        """Bits of a probe."""
        self.word |= value << self._at[probe]

    def count(self, probe: str, value: int, counter: str) -> None:
        """Bits of a probe, each an event of a counter."""
        if value:
            self.word |= value << self._at[probe]
            self.counters[counter] += value.bit_count()

    def cache(self, cache: ReuseCache) -> None:
        """State of the entries."""
        if not self._reuses:
            return
        tags = timers = 0
        for entry in indices(cache.valid):
            tag = cache.warp[entry] | cache.register[entry] << self._warp_bits
            tags |= tag << entry * self._tag_bits
            timers |= cache.timer[entry] << entry * self._timer_bits
        self.show("entries", cache.valid)
        self.show("tags", tags)
        self.show("timers", timers)

    def plan(self, plan: Plan, marks: int) -> None:
        """What Allocate decides."""
        for bank in range(BANKS):
            self.show("need", plan.need[bank] << 2 * bank)
        if not plan.fits:
            self.count("freeze", 1, "freezes")
            return
        self.count("sources", plan.sources, "fixed_sources")
        self.count("hit", plan.hit, "rfc_hits")
        if self._reuses:
            self.count("kept", marks, "rfc_allocations")
        reads = plan.wanted.bit_count()
        self.counters["fixed_reads"] += reads
        self.counters["bank_reads"] += reads
        self.counters["duplicates"] += (plan.sources ^ plan.hit).bit_count() - reads

    def fetched(self, granted: int, waiting: int) -> None:
        """Reads of queue heads."""
        self.count("fetch", granted, "variable_reads")
        self.counters["bank_reads"] += granted.bit_count()
        self.count("fetch_wait", waiting, "bank_conflicts")
