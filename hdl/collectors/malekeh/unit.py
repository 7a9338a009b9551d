"""Control of one caching collector unit: tags, locks, near bits, order of use, and where each source slot reads."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of, decode, encode, select
from warpfile.hdl.beat import beat_layout, dispatch_layout
from warpfile.hdl.collectors.held import dispatched, hold, hold_places
from warpfile.hdl.collectors.malekeh.recency import Recency
from warpfile.hdl.collectors.malekeh.results import RESULT_EVENTS, ResultLookup
from warpfile.hdl.collectors.malekeh.sources import SOURCE_EVENTS, SourceLookup
from warpfile.hdl.naming import named
from warpfile.hdl.rf.layouts import offered_layout, places_layout
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
    beat : In(beat_layout(cfg)), places : In(ArrayLayout)   The offered beat and where its sources live, by
                                            :func:`hdl.rf.layouts.offered_layout`.
    next_valid, next_hints : In(source_slots), next_sources : In(ArrayLayout)   Sources of the owner's head beat, and
                                            which are near. It is the offered beat if that belongs to the owner.
    grant, fill : In(source_slots), dispatch : In(1)   A bank serves the slot, its data are there, the beat leaves.
    lfsr : In(LFSR_BITS), step : Out(1)     A far register gives way in this cycle.
    busy, owned : Out(1), owner : Out(warp_bits)   It holds a beat; it belongs to a warp, to this one.
    empty, holds_near : Out(1)              No entry has a register; some entry has a near one.
    tags : Out(ArrayLayout), near_entries, locked : Out(unit_entries), older : Out(unit_entries ** 2)   State of the
                                            entries; the tag of an empty one is all ones; their order of use as in
                                            :class:`Recency`.
    filled, request : Out(source_slots)     Slots whose value is in its entry, and those that ask their bank.
    slot_places : Out(ArrayLayout), ready : Out(1), port : Out(port_bits)   As in the baseline.
    out : Out(dispatch_layout(cfg))         Likewise.
    mine, winner : Out(ports)               Results of the unit's warp, and the one that comes first.
    place, fill_entries : Out(unit_entries), reads : Out(source_slots * unit_entries)   What the lanes do.
    invalidate, lost : Out(unit_entries), SOURCE_EVENTS : Out(source_slots) each
    result_cache_hit, result_cache_empty, result_cache_far, result_cache_near : Out(ports)   Results that enter, and
                                            where.
    result_far, result_outdone, result_met, result_partial, result_crowded : Out(ports)   Results that do not enter, by
                                            reason.
    """

    def __init__(self, cfg: MalekehConfig) -> None:
        self._cfg = cfg
        slots, entries = cfg.source_slots, cfg.unit_entries
        super().__init__(
            {
                **{name: In(cfg.write_ports) for name in ("written", "hinted", "full")},
                "warps": In(data.ArrayLayout(cfg.warp_bits, cfg.write_ports)),
                "registers": In(data.ArrayLayout(cfg.register_bits, cfg.write_ports)),
                "lower": In(cfg.write_ports**2),
                **{name: In(1) for name in ("allocate", "own", "vacate", "dispatch")},
                "beat": In(beat_layout(cfg)),
                "places": In(data.ArrayLayout(offered_layout(cfg), slots)),
                **{name: In(slots) for name in ("next_valid", "next_hints")},
                "next_sources": In(data.ArrayLayout(cfg.register_bits, slots)),
                "grant": In(slots),
                "fill": In(slots),
                "lfsr": In(LFSR_BITS),
                **{name: Out(1) for name in ("step", "busy", "owned", "empty", "holds_near", "ready")},
                "owner": Out(cfg.warp_bits),
                "tags": Out(data.ArrayLayout(cfg.tag_bits, entries)),
                "older": Out(entries**2),
                **{name: Out(slots) for name in ("filled", "request", *SOURCE_EVENTS)},
                **{
                    name: Out(entries)
                    for name in ("near_entries", "locked", "place", "fill_entries", "invalidate", "lost")
                },
                **{
                    name: Out(cfg.write_ports)
                    for name in ("mine", "winner", *(f"result_{event}" for event in RESULT_EVENTS))
                },
                "slot_places": Out(places_layout(cfg, slots)),
                "port": Out(cfg.port_bits),
                "out": Out(dispatch_layout(cfg)),
                "reads": Out(slots * entries),
            }
        )

    def elaborate(self, platform) -> Module:
        """Entries as they are, as the results would leave them, and as a beat would."""
        m = Module()
        m.submodules.recency = recency = Recency(self._cfg)
        m.submodules.result_lookup = results = ResultLookup(self._cfg)
        m.submodules.source_lookup = sources = SourceLookup(self._cfg)
        used = Signal(self._cfg.unit_entries, name="used")
        registers = [Signal(self._cfg.register_bits, name=f"tag{e}", reset_less=True) for e in range(len(used))]
        before = {"empty": ~used, "near": self.near_entries, "start": self.lfsr, "older": recency.older}
        for lookup in (results, sources):
            m.d.comb += [getattr(lookup, name).eq(value) for name, value in before.items()]
            m.d.comb += lookup.tags.eq(Cat(registers))
        self._results(m, results)
        self._sources(m, sources)
        self._marks(m, results, sources)
        self._tags(m, used, registers, results, sources)
        self._order(m, results, sources, recency)
        self._operands(m, sources)
        self._hold(m)
        m.d.comb += [
            self.empty.eq(~used.any()),
            self.holds_near.eq(self.near_entries.any()),
            self.step.eq(results.cache_far.any() | (self.allocate & self.own & sources.replaces_far)),
        ]
        return m

    @property
    def _fresh(self) -> Value:
        """Entries that another warp's beat takes: all are empty then, and its sources leave no slot out."""
        return Cat(self.beat.source_valid, Const(0, self._cfg.unit_entries - self._cfg.source_slots))

    def _results(self, m: Module, results: ResultLookup) -> None:
        """Step 1: the results of the owner. None enters a unit that takes a beat."""
        entries = self._cfg.unit_entries
        same = Cat(warp == self.owner for warp in self.warps)
        m.d.comb += self.mine.eq(self.written & same & self.owned.replicate(self._cfg.write_ports))
        m.d.comb += [getattr(results, name).eq(getattr(self, name)) for name in ("mine", "hinted", "full", "lower")]
        m.d.comb += [
            results.registers.eq(self.registers),
            results.locked.eq(self.locked),
            results.allocate.eq(self.allocate),
            self.winner.eq(results.winner),
            self.place.eq(results.place & (~self.allocate).replicate(entries)),
            self.invalidate.eq(results.stale & ~self.place),
        ]
        m.d.comb += [getattr(self, f"result_{event}").eq(getattr(results, event)) for event in RESULT_EVENTS]

    def _sources(self, m: Module, sources: SourceLookup) -> None:
        """Step 5 for the owner's next beat, whether it comes or not; the beat of another warp finds nothing."""
        slots = self._cfg.source_slots
        m.d.comb += [
            sources.valid.eq(self.next_valid),
            sources.hints.eq(self.next_hints),
            sources.registers.eq(self.next_sources),
        ]
        fresh = {name: Const(0, slots) for name in SOURCE_EVENTS}
        fresh |= dict.fromkeys(("miss", "miss_empty"), self.beat.source_valid)
        for name in SOURCE_EVENTS:
            seen = Mux(self.own, getattr(sources, name), fresh[name])
            m.d.comb += getattr(self, name).eq(seen & self.allocate.replicate(slots))

    def _marks(self, m: Module, results: ResultLookup, sources: SourceLookup) -> None:
        """Near bits and locks, with a beat and without one."""
        count = self._cfg.unit_entries
        hints = self.beat.hints[self._cfg.hint_at("near_sources") :][: self._cfg.source_slots]
        kept = named(m, "near_kept", self.near_entries & ~results.stale)
        met = Mux(self.own, (kept & ~sources.used) | sources.hinted, self._fresh & hints)
        alone = (kept | results.place) & ~self.vacate.replicate(count)
        m.d.comb += self.lost.eq(self.near_entries & (self.allocate & ~self.own).replicate(count))
        m.d.sync += [
            self.near_entries.eq(Mux(self.allocate, met, alone)),
            self.locked.eq(
                Mux(
                    self.allocate,
                    Mux(self.own, sources.used, self._fresh),
                    self.locked & ~self.dispatch.replicate(count),
                )
            ),
        ]

    def _tags(self, m: Module, used: Signal, tags: list[Signal], results: ResultLookup, sources: SourceLookup) -> None:
        """Which entries have a register, and which one, with a beat and without one."""
        kept, none = named(m, "used_kept", used & ~results.stale), Const(0, len(used))
        alone = Mux(self.vacate, none, kept | results.place)
        m.d.sync += used.eq(Mux(self.allocate, Mux(self.own, kept | sources.taken, self._fresh), alone))
        written = named(m, "written_register", select(self.winner, list(self.registers)))
        for entry, tag in enumerate(tags):
            own = Mux(sources.taken[entry], sources.taken_tags[entry], tag)
            other = self.beat.sources[entry] if entry < self._cfg.source_slots else tag
            placed = Mux(results.place[entry], written, tag)
            m.d.sync += tag.eq(Mux(self.allocate, Mux(self.own, own, other), placed))
            none_here = (~used[entry]).replicate(self._cfg.tag_bits)
            m.d.comb += self.tags[entry].eq(tag | none_here)

    def _order(self, m: Module, results: ResultLookup, sources: SourceLookup, recency: Recency) -> None:
        m.d.comb += [
            self.older.eq(recency.older),
            recency.result.eq(results.place),
            recency.allocate.eq(self.allocate),
            recency.own.eq(self.own),
            recency.used.eq(sources.used),
            recency.earlier.eq(sources.earlier),
            recency.fresh.eq(self._fresh),
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
                found = encode(sources.uses.word_select(slot, entries), len(index))
                m.d.sync += index.eq(Mux(self.own, found, slot))
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
        fields = {"port": (self.port, self.beat.port)}
        fields |= dispatched(self._cfg, self.out, self.beat) | {"warp": (self.owner, self.beat.warp)}
        hold(m, self._cfg, "beat", self.allocate, fields)
        hold_places(m, self._cfg, self.allocate, self.places, self.slot_places)
        m.d.comb += self.out.warp.eq(self.owner)
