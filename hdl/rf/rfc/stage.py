"""The operand stage with a register cache for every active warp (docs/schemes/rfc.md)."""

from amaranth import Cat, Module, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import Out

from warpfile.hdl.arbiter import Ages, oldest_one, select
from warpfile.hdl.collectors.contract import stage_members
from warpfile.hdl.collectors.units.stage import OperandStage
from warpfile.hdl.collectors.units.unit import CollectorLane
from warpfile.hdl.naming import named
from warpfile.hdl.rf.rfc.directory import LINE_OUTPUTS, CacheDirectory
from warpfile.hdl.rf.rfc.lane import CachedOperandLane, CacheLane
from warpfile.hdl.rf.rfc.location import CacheLocation
from warpfile.hdl.rf.rfc.queued_banks import WRITERS, QueuedRegisterFile
from warpfile.hdl.rf.rfc.unit import CachedUnit
from warpfile.hdl.rf.rfc.writes import FROM_DIRECTORY, RESULT_FIELDS, RESULT_OUTPUTS, TO_DIRECTORY, CacheWrites
from warpfile.hdl.stamp import stamp
from warpfile.spec.schemes.rfc import RfcConfig, cache_probes
from warpfile.spec.trace import Kind


class CacheStage(OperandStage):
    """The baseline's stage with a cache between the execution ports and the banks.

    Ports: :func:`stage_members` and the scheme's own probes. It holds and prefers no warp and refuses nothing that
    had ``room``. It lets go of a place once the cache has nothing of the place's warp.
    """

    def __init__(self, cfg: RfcConfig) -> None:
        self._cfg = cfg
        probes = {probe.name: Out(probe.width) for probe in cache_probes(cfg)}
        wiring.Component.__init__(self, {**stage_members(cfg), **probes})

    def elaborate(self, platform) -> Module:
        """Units, location, cache, banks, and the steps of a cycle."""
        m = Module()
        m.submodules.location = location = CacheLocation(self._cfg)
        m.submodules.register_file = banks = QueuedRegisterFile(self._cfg)
        m.submodules.directory = cache = CacheDirectory(self._cfg)
        m.submodules.writes = writes = CacheWrites(self._cfg)
        units = [self._unit(m, number) for number in range(self._cfg.collectors)]
        older = self._ages(m)
        leaving = self._dispatch(m, units, older)
        self._allocate(m, units, location, leaving)
        self._results(m, writes)
        self._send(m, writes, cache, location, banks)
        self._read_cache(m, units, cache, older)
        self._check(m, units, cache, older)
        self._read(m, units, banks, older)
        self._complete(m)
        self._lanes(m, banks, cache, writes)
        self._watch(m, units)
        self._keep_places(m, cache)
        return m

    def _unit(self, m: Module, number: int) -> wiring.PureInterface:
        return stamp(m, f"unit{number}", "cached_unit", lambda: CachedUnit(self._cfg))

    def _ages(self, m: Module) -> Value:
        """Order of allocation; checks and cache reads always go by it."""
        m.submodules.ages = ages = Ages(self._cfg.collectors)
        m.d.comb += ages.arrive.eq(self.allocate)
        return ages.older

    def _results(self, m: Module, writes: CacheWrites) -> None:
        """Step 1, at the write-back ports; a result without a register is always taken."""
        for port in range(self._cfg.ports):
            result, fields = self.result[port], writes.results[port]
            m.d.comb += [fields[name].eq(result.payload[name]) for name in RESULT_FIELDS]
            m.d.comb += [
                writes.valid[port].eq(result.valid & result.payload.writes),
                result.ready.eq(writes.accept[port] | ~result.payload.writes),
            ]
        m.d.comb += [getattr(self, name).eq(getattr(writes, name)) for name in (*RESULT_OUTPUTS, "evict", "evict_dead")]

    def _send(
        self, m: Module, writes: CacheWrites, cache: CacheDirectory, location: CacheLocation, banks: QueuedRegisterFile
    ) -> None:
        """Steps 1 and 3, inside: lines, places of registers, queues."""
        m.d.comb += [getattr(writes, name).eq(getattr(cache, name)) for name in FROM_DIRECTORY]
        m.d.comb += [getattr(cache, name).eq(getattr(writes, name)) for name in TO_DIRECTORY]
        registers = (writes.sent_register, writes.long_register, cache.flush_register)
        warps = (writes.short_warp, writes.long_warp, cache.flush_warp)
        for name, warp, register in zip(WRITERS, warps, registers, strict=True):
            place = getattr(location, f"{name}_place")
            m.d.comb += [
                getattr(location, f"{name}_warp").eq(warp),
                getattr(location, f"{name}_register").eq(register),
                getattr(writes, f"{name}_place").eq(place),
                banks.push_places[WRITERS.index(name)].eq(place),
            ]
        m.d.comb += [
            writes.full.eq(banks.full),
            writes.reads.eq(cache.reads),
            banks.push.eq(writes.push),
            banks.push_sources.eq(writes.push_sources),
        ]

    def _read_cache(self, m: Module, units: list, cache: CacheDirectory, older: Value) -> None:
        """Step 2: the oldest unit that has hits to read."""
        waiting = named(m, "with_hits", Cat(unit.unread.any() for unit in units))
        beats = [Cat(unit.out.warp, unit.unread, unit.kills, unit.hastens, unit.lines.as_value()) for unit in units]
        reader = (cache.read_warp, cache.reads, cache.kills, cache.hastens, cache.read_entries.as_value())
        m.d.comb += [self.cache_read.eq(oldest_one(waiting, older)), Cat(*reader).eq(select(self.cache_read, beats))]
        for number, unit in enumerate(units):
            m.d.comb += unit.read.eq(self.cache_read[number])

    def _check(self, m: Module, units: list, cache: CacheDirectory, older: Value) -> None:
        """Step 4: the oldest unit whose sources have not been looked up."""
        waiting = named(m, "unchecked", Cat(unit.occupied & unit.unchecked for unit in units))
        beats = [Cat(unit.out.warp, unit.uncollected, unit.registers.as_value()) for unit in units]
        checked = (cache.check_warp, cache.check_valid, cache.check_registers.as_value())
        m.d.comb += [
            self.check.eq(oldest_one(waiting, older)),
            Cat(*checked).eq(select(self.check, beats)),
            self.hit.eq(cache.hits),
            self.miss.eq(cache.check_valid & ~cache.hits),
        ]
        for number, unit in enumerate(units):
            m.d.comb += [unit.check.eq(self.check[number]), unit.hits.eq(cache.hits), unit.entries.eq(cache.entries)]

    def _read(self, m: Module, units: list, banks: QueuedRegisterFile, older: Value) -> None:
        """Steps 5 and 6."""
        super()._read(m, units, banks, older)
        m.d.comb += [
            self.interlock.eq(Cat(unit.interlock for unit in units)),
            self.queued.eq(banks.counts),
            self.bank_write.eq(banks.write),
        ]
        for number, unit in enumerate(units):
            m.d.comb += unit.queued.eq(banks.queued.word_select(number, self._cfg.source_slots))

    def _complete(self, m: Module) -> None:
        """A result is in place once it is accepted: whoever reads it finds it in the cache or waits for the queue."""
        for port in range(self._cfg.ports):
            result, fields = self.result[port], ("writes", "warp", "register", "tokens")
            m.d.comb += [
                self.completed[port].eq(result.valid & result.ready),
                self.completion[port].eq(Cat(result.payload[name] for name in fields)),
            ]

    def _lanes(self, m: Module, banks: QueuedRegisterFile, cache: CacheDirectory, writes: CacheWrites) -> None:
        cfg, ports = self._cfg, range(self._cfg.ports)
        chosen = named(m, "chosen_units", Cat(self.chosen[port] for port in ports))
        reads = [bit & reading for reading in self.cache_read for bit in cache.reads]
        take, lines = named(m, "take", Cat(*reads)), named(m, "line_reads", cache.line_reads.as_value())
        for port in ports:
            m.d.comb += [banks.results[port].eq(self.result_data[port]), banks.masks[port].eq(self._mask(port))]
        for number in range(cfg.lanes):
            lane = self._operand_lane(m, number)
            m.d.comb += [
                lane.inputs.eq(banks.fill_data[number]),
                lane.fill.eq(banks.fill),
                lane.chosen.eq(chosen),
            ]
            if cfg.cache_entries:
                store = stamp(m, f"cache_lane{number}", "cache_lane", lambda: CacheLane(cfg))
                m.d.comb += [
                    store.results.eq(Cat(self.result_data[port].word_select(number, 32) for port in ports)),
                    store.masks.eq(Cat(self._mask(port)[number] for port in ports)),
                    store.writer.eq(writes.writer),
                    store.line.eq(cache.written),
                    store.lines.eq(lines),
                    banks.reads[number].eq(store.reads),
                    lane.reads.eq(store.reads),
                    lane.take.eq(take),
                ]
            for port in ports:
                for slot in range(cfg.source_slots):
                    word = self.operands[port][slot].word_select(number, 32)
                    m.d.comb += word.eq(lane.operands.word_select(port * cfg.source_slots + slot, 32))

    def _operand_lane(self, m: Module, number: int) -> wiring.PureInterface:
        """Without lines the baseline's lane will do."""
        kind, name = (
            (CachedOperandLane, "cached_operand_lane") if self._cfg.cache_entries else (CollectorLane, "collector_lane")
        )
        return stamp(m, f"operand_lane{number}", name, lambda: kind(self._cfg))

    def _mask(self, port: int) -> Value:
        return self.result[port].payload.mask

    def _keep_places(self, m: Module, cache: CacheDirectory) -> None:
        """Places of the scheduler, and what is observed of their lines."""
        exits = self.offer_valid & (self.offer.kind == Kind.EXIT.value)
        m.d.comb += [
            cache.places.eq(self.places),
            cache.release.eq(self.release),
            self.released.eq(cache.released),
            cache.exits.eq(self.offer_warp & exits.replicate(self._cfg.warps)),
            *(getattr(self, name).eq(getattr(cache, name)) for name in (*LINE_OUTPUTS, "line_register", "head")),
        ]
