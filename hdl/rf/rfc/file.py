"""The register file with a cache for every active warp (docs/schemes/rfc.md)."""

from amaranth import Cat, Module, Value
from amaranth.lib import wiring

from warpfile.hdl.naming import named
from warpfile.hdl.probe import with_probes
from warpfile.hdl.rf.completion import complete
from warpfile.hdl.rf.contract import file_members
from warpfile.hdl.rf.read_side import join_reads
from warpfile.hdl.rf.rfc.directory import LINE_OUTPUTS, CacheDirectory
from warpfile.hdl.rf.rfc.lane import CacheLane
from warpfile.hdl.rf.rfc.location import FULL, LOOK_UPS, CacheLocation
from warpfile.hdl.rf.rfc.queued_banks import QueuedBanks
from warpfile.hdl.rf.rfc.writes import (
    FROM_DIRECTORY,
    RESULT_FIELDS,
    RESULT_OUTPUTS,
    TO_DIRECTORY,
    TO_QUEUES,
    CacheWrites,
)
from warpfile.hdl.stamp import stamp
from warpfile.spec.schemes.rfc import RfcConfig, cache_probes


class CachedFile(wiring.Component):
    """Banks behind a cache, which takes results, and behind a queue each, which takes all others.

    Ports: :func:`file_members` and the scheme's own probes. Sources are looked up after their beat was taken. A result
    is in place once it is accepted: its reader finds it in the cache or waits for the queue. It takes every
    launch, holds no warp, and lets go of a place once the cache has nothing of the place's warp.
    """

    def __init__(self, cfg: RfcConfig) -> None:
        self._cfg = cfg
        super().__init__(with_probes(file_members(cfg), cache_probes(cfg)))

    def elaborate(self, platform) -> Module:
        """Location, cache, banks, and the steps of a cycle."""
        m = Module()
        m.submodules.location = location = CacheLocation(self._cfg)
        m.submodules.banks = banks = QueuedBanks(self._cfg)
        m.submodules.directory = cache = CacheDirectory(self._cfg)
        m.submodules.writes = writes = CacheWrites(self._cfg)
        m.d.comb += self.launch_ready.eq(1)
        self._results(m, writes)
        self._send(m, writes, cache, location, banks)
        self._check(m, cache, location)
        self._read(m, banks)
        complete(m, self._cfg, self, cycles=1)
        if self._cfg.cache_entries:
            self._read_near(m, cache)
        self._lanes(m, banks, cache, writes)
        self._keep_places(m, cache)
        return m

    def _results(self, m: Module, writes: CacheWrites) -> None:
        """Step 1, at the write-back ports."""
        m.d.comb += [writes.valid.eq(self.result_store), self.result_accept.eq(writes.accept)]
        for result, fields in zip(self.results, writes.results, strict=True):
            m.d.comb += [fields[name].eq(result[name]) for name in RESULT_FIELDS]
        m.d.comb += [getattr(self, name).eq(getattr(writes, name)) for name in (*RESULT_OUTPUTS, "evict", "evict_dead")]

    def _send(
        self, m: Module, writes: CacheWrites, cache: CacheDirectory, location: CacheLocation, banks: QueuedBanks
    ) -> None:
        """Steps 1 and 3, inside: lines, places of registers, queues."""
        m.d.comb += [getattr(writes, name).eq(getattr(cache, name)) for name in FROM_DIRECTORY]
        m.d.comb += [getattr(cache, name).eq(getattr(writes, name)) for name in TO_DIRECTORY]
        registers = (writes.short_register, cache.victim_register, writes.long_register, cache.flush_register)
        for name, register in zip(LOOK_UPS, registers, strict=True):
            m.d.comb += [
                getattr(location, f"{name}_register").eq(register),
                getattr(writes, f"{name}_place").eq(getattr(location, f"{name}_place")),
            ]
        m.d.comb += [
            location.places.eq(self.places),
            location.short_owner.eq(cache.short_owner),
            location.flush_owner.eq(cache.flush_owner),
            location.long_warp.eq(writes.long_warp),
            location.victims.eq(cache.victims),
            *(full.eq(banks.full) for full in (location.full, writes.full)),
            *(getattr(writes, name).eq(getattr(location, name)) for name in FULL),
            writes.reads.eq(cache.reads),
            *(getattr(banks, name).eq(getattr(writes, name)) for name in TO_QUEUES),
        ]

    def _read_near(self, m: Module, cache: CacheDirectory) -> None:
        """Step 2; with the read of a copy its unit returns the hints of the sources."""
        slots, hints = self._cfg.source_slots, self.offer.hints
        dead, early = (self._cfg.hint_at(name) for name in ("dead", "evict_first"))
        kills = hints[dead : dead + slots] & self.offer.converged.replicate(slots)
        m.d.comb += [
            self.note.eq(Cat(kills, hints[early : early + slots])),
            cache.read_warp.eq(self.near_warp),
            cache.reads.eq(self.near_slots),
            cache.read_entries.eq(self.near_refs),
            Cat(cache.kills, cache.hastens).eq(self.near_note),
        ]

    def _check(self, m: Module, cache: CacheDirectory, location: CacheLocation) -> None:
        """Step 4."""
        m.d.comb += [
            location.launch_valid.eq(self.launch_valid),
            location.launch.eq(self.launch),
            location.check_warp.eq(self.check_warp),
            location.check_registers.eq(self.check_registers),
            self.check_places.eq(location.check_places),
            cache.check_warp.eq(self.check_warp),
            cache.check_valid.eq(self.check_valid),
            cache.check_registers.eq(self.check_registers),
        ]
        if self._cfg.cache_entries:
            m.d.comb += [self.check_near.eq(cache.hits), self.check_refs.eq(cache.entries)]
        if self._cfg.keeps_lanes:
            m.d.comb += [self.check_ready.eq(~cache.defer), self.defer.eq(cache.defer), self.recall.eq(cache.recall)]

    def _read(self, m: Module, banks: QueuedBanks) -> None:
        """Steps 5 and 6."""
        join_reads(m, self, banks)
        m.d.comb += [
            self.unwritten.eq(banks.queued),
            self.queued.eq(banks.counts),
            self.bank_write.eq(banks.write),
            *(cycles.eq(self._cfg.bank_cycles) for cycles in self.cycles),
        ]

    def _lanes(self, m: Module, banks: QueuedBanks, cache: CacheDirectory, writes: CacheWrites) -> None:
        cfg, near, stores = self._cfg, 32 * self._cfg.source_slots, []
        lines = named(m, "line_reads", cache.line_reads.as_value())
        masks: list[Value] = [result.mask for result in self.results]
        m.d.comb += [banks.results.eq(self.result_data), banks.masks.eq(Cat(*masks))]
        for number in range(cfg.lanes if cfg.cache_entries else 0):
            store = stamp(m, f"cache_lane{number}", "cache_lane", lambda: CacheLane(cfg))
            m.d.comb += [
                store.results.eq(Cat(word.word_select(number, 32) for word in self.result_data)),
                store.masks.eq(Cat(mask[number] for mask in masks)),
                store.writer.eq(writes.writer),
                store.line.eq(cache.written),
                store.lines.eq(lines),
                banks.reads[number].eq(store.reads),
                self.near_data[number].eq(store.reads[:near]),
            ]
            stores.append(store)
        if cfg.keeps_lanes:
            self._know_lanes(m, banks, cache, writes, stores)

    def _know_lanes(
        self, m: Module, banks: QueuedBanks, cache: CacheDirectory, writes: CacheWrites, stores: list
    ) -> None:
        """Lanes of the lines: written with their words, asked by the unit that looks up, observed."""
        cfg = self._cfg
        whole = named(m, "whole", (writes.writer & Cat(result.full for result in self.results)).any())
        for number, store in enumerate(stores):
            m.d.comb += [store.whole.eq(whole), store.fresh.eq(writes.take), banks.saves[number].eq(store.saves)]
        lanes = [named(m, f"lanes{line}", Cat(store.present[line] for store in stores)) for line in range(cfg.lines)]
        m.d.comb += cache.lacks.eq(Cat((self.check_mask & ~present).any() for present in lanes))
        for line, present in enumerate(lanes):
            shown = present & cache.held[line].replicate(cfg.lanes)
            m.d.comb += self.line_lanes.word_select(line, cfg.lanes).eq(shown)

    def _keep_places(self, m: Module, cache: CacheDirectory) -> None:
        """Places of the scheduler, and what is observed of their lines."""
        m.d.comb += [
            cache.places.eq(self.places),
            cache.release.eq(self.release),
            self.released.eq(cache.released),
            cache.exits.eq(self.exits),
            *(getattr(self, name).eq(getattr(cache, name)) for name in (*LINE_OUTPUTS, "line_register", "head")),
        ]
