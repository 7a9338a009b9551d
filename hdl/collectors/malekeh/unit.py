"""Control of one caching collector unit: tags, locks, near bits, order of use, and where each source slot reads."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of, decode, encode, select
from warpfile.hdl.beat import beat_layout, dispatch_layout
from warpfile.hdl.collectors.held import dispatched, hold
from warpfile.hdl.collectors.malekeh.recency import Recency
from warpfile.hdl.collectors.malekeh.results import RESULT_EVENTS, ResultLookup
from warpfile.hdl.collectors.malekeh.sources import SOURCE_EVENTS, SourceLookup
from warpfile.hdl.naming import named
from warpfile.hdl.rf.contract import places_layout
from warpfile.spec.schemes.malekeh import LFSR_BITS, MalekehConfig


class CachingUnit(wiring.Component):
    """Control of one caching collector unit; its data are in the lanes (docs/schemes/malekeh.md, section 3).

    Members
    -------
    written, hinted, full : In(ports)       Accepted results with a register; near ones; those that write all lanes.
    warps, registers : In(ArrayLayout)      Of the results, per port.
    lower : In(ports ** 2)                  Order of their banks.
    allocate, own : In(1)                   The unit takes the offered beat; it belongs to the beat's warp.
    vacate : In(1)                         The warp ends, and the unit is its own.
    beat : In(beat_layout(cfg)), places : In(ArrayLayout)   The offered beat and where its sources live.
    grant, fill : In(source_slots), dispatch : In(1)   A bank serves the slot, its data are there, the beat leaves.
    lfsr : In(LFSR_BITS), step : Out(1)     A far register gives way in this cycle.
    busy, owned : Out(1), owner : Out(warp_bits)   It holds a beat; it belongs to a warp, to this one.
    empty, holds_near : Out(1)              No entry has a register; some entry has a near one.
    tags, ranks : Out(ArrayLayout), near_entries, locked : Out(unit_entries)   State of the entries.
    filled, request : Out(source_slots)     Slots whose value is in its entry, and those that ask their bank.
    slot_places : Out(ArrayLayout), ready : Out(1), port : Out(port_bits)   As in the baseline.
    out : Out(dispatch_layout(cfg))         Likewise.
    mine, winner : Out(ports)               Results of the unit's warp, and the one that comes first.
    place, fill_entries : Out(unit_entries), reads : Out(source_slots * unit_entries)   What the lanes do.
    invalidate, lost : Out(unit_entries), SOURCE_EVENTS : Out(source_slots) each
    result_cache_hit, result_cache_empty, result_cache_far, result_cache_near : Out(ports)   Results that enter, and
                                            where.
    result_far, result_outdone, result_partial, result_crowded : Out(ports)   Results that do not enter, by reason.
    """

    def __init__(self, cfg: MalekehConfig) -> None:
        self._cfg = cfg
        slots, entries = cfg.source_slots, cfg.unit_entries
        places = places_layout(cfg, slots)
        super().__init__(
            {
                **{name: In(cfg.write_ports) for name in ("written", "hinted", "full")},
                "warps": In(data.ArrayLayout(cfg.warp_bits, cfg.write_ports)),
                "registers": In(data.ArrayLayout(cfg.register_bits, cfg.write_ports)),
                "lower": In(cfg.write_ports**2),
                **{name: In(1) for name in ("allocate", "own", "vacate", "dispatch")},
                "beat": In(beat_layout(cfg)),
                "places": In(places),
                "grant": In(slots),
                "fill": In(slots),
                "lfsr": In(LFSR_BITS),
                **{name: Out(1) for name in ("step", "busy", "owned", "empty", "holds_near", "ready")},
                "owner": Out(cfg.warp_bits),
                "tags": Out(data.ArrayLayout(cfg.tag_bits, entries), init=[(1 << cfg.tag_bits) - 1] * entries),
                "ranks": Out(data.ArrayLayout(cfg.rank_bits, entries)),
                **{name: Out(slots) for name in ("filled", "request", *SOURCE_EVENTS)},
                **{
                    name: Out(entries)
                    for name in ("near_entries", "locked", "place", "fill_entries", "invalidate", "lost")
                },
                **{
                    name: Out(cfg.write_ports)
                    for name in ("mine", "winner", *(f"result_{event}" for event in RESULT_EVENTS))
                },
                "slot_places": Out(places),
                "port": Out(cfg.port_bits),
                "out": Out(dispatch_layout(cfg)),
                "reads": Out(slots * entries),
            }
        )

    def elaborate(self, platform) -> Module:
        """Entries as they are, as the results leave them, and as the offered beat would."""
        m = Module()
        m.submodules.recency = recency = Recency(self._cfg)
        m.submodules.result_lookup = results = ResultLookup(self._cfg)
        m.submodules.source_lookup = sources = SourceLookup(self._cfg)
        empty = named(m, "empty_entries", Cat(tag.all() for tag in self.tags))
        self._results(m, results, recency, empty)
        self._sources(m, sources, recency)
        self._meet(m, sources, empty)
        self._tags(m, sources)
        self._order(m, sources, recency)
        self._operands(m, sources)
        self._hold(m)
        m.d.comb += [
            self.empty.eq(empty.all()),
            self.holds_near.eq(self.near_entries.any()),
            self.step.eq(results.cache_far.any() | self.miss_far.any()),
        ]
        return m

    def _results(self, m: Module, results: ResultLookup, recency: Recency, empty: Value) -> None:
        """Step 1: the results of the owner, looked up among the entries as they are."""
        same = Cat(warp == self.owner for warp in self.warps)
        m.d.comb += self.mine.eq(self.written & same & self.owned.replicate(self._cfg.write_ports))
        m.d.comb += [getattr(results, name).eq(getattr(self, name)) for name in ("mine", "hinted", "full", "lower")]
        m.d.comb += [
            results.registers.eq(self.registers),
            results.tags.eq(self.tags),
            results.empty.eq(empty),
            results.near.eq(self.near_entries),
            results.locked.eq(self.locked),
            results.start.eq(self.lfsr),
            results.older.eq(recency.older),
        ]
        m.d.comb += [getattr(self, name).eq(getattr(results, name)) for name in ("winner", "place", "invalidate")]
        m.d.comb += [getattr(self, f"result_{event}").eq(getattr(results, event)) for event in RESULT_EVENTS]

    def _sources(self, m: Module, sources: SourceLookup, recency: Recency) -> None:
        """Step 5: the sources of the offered beat; what they find counts only if the unit takes it."""
        m.d.comb += [
            sources.valid.eq(self.beat.source_valid),
            sources.registers.eq(self.beat.sources),
            sources.start.eq(self.lfsr),
            sources.older.eq(recency.older_then),
        ]
        for name in SOURCE_EVENTS:
            seen = getattr(sources, name) & self.allocate.replicate(self._cfg.source_slots)
            m.d.comb += getattr(self, name).eq(seen)

    def _meet(self, m: Module, sources: SourceLookup, empty: Value) -> None:
        """Near bits and locks as the results leave them, as the beat meets them, and next."""
        cfg, count = self._cfg, self._cfg.unit_entries
        foreign = named(m, "foreign", (~self.own).replicate(count))
        near = named(m, "near_then", (self.near_entries & ~self.invalidate) | self.place)
        used = named(m, "used", any_of(sources.uses.word_select(slot, count) for slot in range(cfg.source_slots)))
        hints = self.beat.hints[cfg.hint_at("near_sources") :]
        hinted = any_of(
            sources.uses.word_select(slot, count) & hints[slot].replicate(count) for slot in range(cfg.source_slots)
        )
        m.d.comb += [
            sources.empty.eq(((empty | self.invalidate) & ~self.place) | foreign),
            sources.near.eq(near & ~foreign),
            self.lost.eq(near & foreign & self.allocate.replicate(count)),
        ]
        m.d.sync += [
            self.near_entries.eq(
                Mux(self.allocate, (sources.near & ~used) | hinted, near & ~self.vacate.replicate(count))
            ),
            self.locked.eq(Mux(self.allocate, used, self.locked & ~self.dispatch.replicate(count))),
        ]

    def _tags(self, m: Module, sources: SourceLookup) -> None:
        """Tags as they are, as the results leave them (``then``), as the beat meets them, and next."""
        cfg, count = self._cfg, self._cfg.unit_entries
        foreign, vacated = (bit.replicate(cfg.tag_bits) for bit in (~self.own, self.vacate))
        register = named(m, "placed_register", select(self.winner, list(self.registers)))
        for entry in range(count):
            cleared = self.tags[entry] | self.invalidate[entry].replicate(cfg.tag_bits)
            then = named(m, f"tag{entry}_then", Mux(self.place[entry], register, cleared))
            taken = sources.victims[entry::count]
            source = Mux(taken.any(), select(taken, list(self.beat.sources)), sources.tags[entry])
            m.d.comb += sources.tags[entry].eq(then | foreign)
            m.d.sync += self.tags[entry].eq(Mux(self.allocate, source, then | vacated))

    def _order(self, m: Module, sources: SourceLookup, recency: Recency) -> None:
        m.d.comb += [
            self.ranks.eq(recency.rank),
            recency.result.eq(self.place),
            recency.used.eq(self.beat.source_valid & self.allocate.replicate(len(recency.used))),
            recency.sources.eq(sources.uses & self.allocate.replicate(len(recency.sources))),
        ]

    def _operands(self, m: Module, sources: SourceLookup) -> None:
        """Progress of every source slot, and the entry that it reads."""
        entries = self._cfg.unit_entries
        valid, ready = Signal(self._cfg.source_slots), Signal(self._cfg.source_slots)
        asking = Signal(self._cfg.source_slots)
        with m.If(self.allocate):
            m.d.sync += [valid.eq(self.beat.source_valid), ready.eq(self.hit), asking.eq(self.miss)]
        with m.Else():
            m.d.sync += [ready.eq(ready | self.fill), asking.eq(asking & ~self.grant)]
        filling = []
        for slot in range(self._cfg.source_slots):
            index = Signal(self._cfg.rank_bits, name=f"entry_of_slot{slot}", reset_less=True)
            with m.If(self.allocate):
                m.d.sync += index.eq(encode(sources.uses.word_select(slot, entries), len(index)))
            reads = named(m, f"reads{slot}", decode(index, entries))
            m.d.comb += self.reads.word_select(slot, entries).eq(reads)
            filling.append(reads & self.fill[slot].replicate(entries))
        m.d.comb += [
            self.fill_entries.eq(any_of(filling)),
            self.filled.eq(valid & ready & self.busy.replicate(len(ready))),
            self.request.eq(asking),
            self.ready.eq(self.busy & ~(valid & ~ready).any()),
        ]

    def _hold(self, m: Module) -> None:
        """Owner and beat. Of the beat, what the owner says already is not held again."""
        with m.If(self.allocate):
            m.d.sync += [self.busy.eq(1), self.owned.eq(1)]
        with m.Else():
            m.d.sync += [self.busy.eq(self.busy & ~self.dispatch), self.owned.eq(self.owned & ~self.vacate)]
        fields = {"port": (self.port, self.beat.port), "places": (self.slot_places, self.places)}
        fields |= dispatched(self._cfg, self.out, self.beat) | {"warp": (self.owner, self.beat.warp)}
        hold(m, self.allocate, fields)
        m.d.comb += self.out.warp.eq(self.owner)
