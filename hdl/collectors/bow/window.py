"""Operand window of one warp: its control; the operands are in the lanes (:class:`WindowLane`)."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring

from warpfile.hdl.arbiter import decode, encode, highest_one, oldest_one, select
from warpfile.hdl.collectors.bow.entries import WindowEntries
from warpfile.hdl.collectors.bow.fit import SourceFit
from warpfile.hdl.collectors.bow.fit_after import FitAfter
from warpfile.hdl.collectors.bow.places import EntryPlaces
from warpfile.hdl.collectors.bow.plan import BeatPlan, plan_layout
from warpfile.hdl.collectors.bow.ports import hinted, window_members, writes_back
from warpfile.hdl.collectors.bow.ranks import EntryRanks
from warpfile.hdl.collectors.bow.result import ResultChoice
from warpfile.hdl.collectors.bow.slots import WindowSlots
from warpfile.hdl.collectors.write_after_read import WriteAfterRead
from warpfile.hdl.naming import named
from warpfile.hdl.scoreboard import group_mask
from warpfile.hdl.slices import mask_size, way_out
from warpfile.spec.contract import SLICES
from warpfile.spec.schemes.bow import BowConfig, WriteClass
from warpfile.spec.trace import Kind


class Window(wiring.Component):
    """What one warp's window decides in a cycle (docs/schemes/bow.md, section 3). Ports: :func:`window_members`.

    A clear head beat has no source or destination in common with the result of the same cycle, because that one's
    register is still pending. So of the entries of its sources a result can only take one away, for itself.
    """

    def __init__(self, cfg: BowConfig) -> None:
        self._cfg = cfg
        super().__init__(window_members(cfg))

    def elaborate(self, platform) -> Module:
        """The parts, in the order of the page's steps."""
        m = Module()
        m.submodules.tags = entries = WindowEntries(self._cfg)
        m.submodules.slots = slots = WindowSlots(self._cfg)
        m.submodules.ranks = ranks = EntryRanks(self._cfg)
        m.submodules.choice = choice = ResultChoice(self._cfg)
        self._result(m, choice, entries, slots, ranks)
        self._banks(m, entries, slots, ranks)
        self._dispatch(m, entries, slots)
        plans = self._fit(m, choice, entries, slots, ranks)
        plan = Signal(plan_layout(self._cfg))
        m.d.comb += plan.eq(Mux(self.accepted, plans["then"].as_value(), plans["now"].as_value()))
        self._enter(m, entries, slots, ranks, plan)
        self._make_room(m, entries, plan)
        self._watch(m, entries, slots)
        return m

    def _result(
        self, m: Module, choice: ResultChoice, entries: WindowEntries, slots: WindowSlots, ranks: EntryRanks
    ) -> None:
        cfg, size = self._cfg, self._cfg.window_entries
        considered, go = self.considered, self.accepted
        register = named(m, "result_register", select(considered, list(self.registers)))
        classes = list(self.classes) if hinted(cfg) else [Const(WriteClass.BOTH, 2)] * cfg.write_ports
        names = [
            named(m, f"named_by_result{port}", Cat(entry == name for entry in entries.registers))
            for port, name in enumerate(self.registers)
        ]
        same = named(m, "named_by_result", select(considered, names))
        m.d.comb += [
            considered.eq(highest_one(self.results)),
            choice.considered.eq(considered),
            choice.full.eq(self.full),
            choice.write_class.eq(Cat(classes)),
            *(getattr(choice, name).eq(getattr(slots, name)) for name in ("late", "outdated")),
            choice.named.eq(Cat(names)),
            choice.entries.eq(entries.now),
            choice.pinned.eq(entries.pinned),
            choice.older.eq(ranks.older),
            entries.then.eq(Mux(go, choice.then.as_value(), entries.now.as_value())),
            entries.stored.eq(choice.stored & go.replicate(size)),
            entries.merged.eq(choice.merged & go.replicate(size)),
            entries.result_register.eq(register),
            entries.result_age.eq(slots.result_age),
            ranks.had.eq(choice.had),
            ranks.accepted.eq(go),
            slots.registers.eq(self.registers),
            slots.considered.eq(considered),
            slots.accepted.eq(go),
            self.bank_request.eq(choice.bank_request),
            self.written.eq(choice.stored | choice.merged),
        ]
        unwritten = entries.now.dirty | (entries.now.evicting & ~entries.evicted)
        flags = {
            "store": self.written.any(),
            "late": (considered & slots.late).any(),
            "saved": (same & unwritten).any(),
        }
        flags |= {"bank_write": choice.bank_request.any(), "drop": choice.dropped}
        m.d.comb += [getattr(self.events, name).eq(go & flag) for name, flag in flags.items()]
        m.d.comb += self.events.write_class.eq(select(considered, classes) & go.replicate(2))

    def _banks(self, m: Module, entries: WindowEntries, slots: WindowSlots, ranks: EntryRanks) -> None:
        """One entry asks, one is offered, and data of earlier grants arrive.

        Entries ask in the order in which they were taken: that is by the age of their first reader, then by slot.
        """
        asking = named(m, "next_asking", oldest_one(entries.asking, ranks.older))
        index = self._arriving(m, encode(asking, self._cfg.entry_bits))
        granted, fill = self.grant, self.fill
        if self._cfg.gives.renamed:
            granted, fill = self._locate(m, entries, ranks, asking)
        else:
            m.d.comb += self.request.eq(asking.any())
            m.d.comb += self.request_register.eq(select(asking, list(entries.registers)))
        m.d.comb += [
            self.filled.eq(decode(index, len(asking)) & fill.replicate(len(asking))),
            entries.granted.eq(asking & granted.replicate(len(asking))),
            entries.filled.eq(self.filled),
            slots.filled.eq(fill),
            slots.filled_index.eq(index),
        ]
        if writes_back(self._cfg):
            leaving = named(m, "next_evicting", oldest_one(entries.now.evicting, ranks.older))
            m.d.comb += [
                self.evict.eq(leaving.any()),
                self.evict_register.eq(select(leaving, list(entries.registers))),
                self.evicting.eq(leaving),
                entries.evicted.eq(leaving & self.evicted.replicate(len(leaving))),
            ]
        if self._cfg.sizes_entries:
            m.d.comb += self.evict_size.eq(decode(select(leaving, list(entries.sizes)), SLICES))

    def _locate(self, m: Module, entries: WindowEntries, ranks: EntryRanks, turn: Value) -> tuple[Value, Value]:
        """Over a renamed file. Returns whether the entry that has its turn is granted, and whether one is filled."""
        m.submodules.places = places = EntryPlaces(self._cfg)
        slices = places.slices
        m.d.comb += [
            places.unlooked.eq(entries.unlooked),
            places.older.eq(ranks.older),
            self.locate.eq(entries.unlooked.any()),
            self.locate_register.eq(select(places.asking, list(entries.registers))),
            places.looked_up.eq(self.looked_up),
            entries.looked_up.eq(places.asking & self.looked_up.replicate(len(places.asking))),
            places.place.eq(self.located),
            places.mask.eq(self.located_mask),
            places.turn.eq(turn),
            *(getattr(self, name).eq(getattr(places, name)) for name in ("request", "request_place", "zero")),
            places.fill.eq(self.fill),
            self.way.eq(way_out(slices) if self._cfg.gives.slices else slices.any()),
        ]
        if self._cfg.sizes_entries:
            sizes = self.events.entry_size
            m.d.comb += [
                entries.fill_size.eq(encode(mask_size(slices), 2)),
                entries.result_size.eq(encode(select(self.considered, list(self.sizes)), 2)),
            ]
            valued = entries.now.clean | entries.now.dirty | entries.now.evicting
            for number, size in enumerate(entries.sizes):
                m.d.comb += sizes.word_select(number, 3).eq((size + 1) & valued[number].replicate(3))
        return self.grant | places.zero, places.arrives

    def _arriving(self, m: Module, index: Value) -> Value:
        """Entry whose data arrive. It enters, when it is granted, as far from the end as its access takes cycles."""
        arriving = index
        for left in reversed(range(self._cfg.gives.cycles)):
            stage = Signal(self._cfg.entry_bits, name=f"arriving{left}", reset_less=True)
            if arriving is not index:
                arriving = Mux(self.grant & (self.cycles == left + 1), index, arriving)
            m.d.sync += stage.eq(arriving)
            arriving = stage
        return arriving

    def _dispatch(self, m: Module, entries: WindowEntries, slots: WindowSlots) -> None:
        size = self._cfg.window_entries
        m.d.comb += [
            slots.index.eq(self.index),
            slots.dispatch.eq(self.dispatch),
            *(getattr(self, name).eq(getattr(slots, name)) for name in ("ready", "port", "out", "read")),
            entries.read.eq(_columns(slots.read, size) & self.dispatch.replicate(size)),
        ]

    def _fit(
        self, m: Module, choice: ResultChoice, entries: WindowEntries, slots: WindowSlots, ranks: EntryRanks
    ) -> dict[str, data.View]:
        """Plans for the entries as they are, and as the result would leave them."""
        cfg, head = self._cfg, self.head
        m.submodules.fit_now, m.submodules.fit_then = now, then = SourceFit(cfg), FitAfter(cfg)
        same = named(
            m,
            "named_by_source",
            Cat(entry == head.sources[n] for n in range(cfg.source_slots) for entry in entries.registers),
        )
        m.d.comb += [
            slots.used.eq(head.source_valid & head.executes.replicate(cfg.source_slots)),
            now.used.eq(slots.used),
            now.entries.eq(entries.now),
            now.named.eq(same),
            then.now.eq(entries.now),
            then.then.eq(choice.then),
            *(getattr(then, name).eq(getattr(now, name)) for name in ("fit", "fewer", "more")),
            then.candidate.eq(choice.candidate),
            then.had.eq(choice.had.any()),
            self.fits.eq(now.fit.fits),
            self.fits_after.eq(then.after.fits),
            self.room.eq(self.buffered & slots.reusable & now.fit.fits),
            self.events.stall_slot.eq(self.running & ~slots.reusable),
            self.events.stall_evict.eq(self.running & slots.reusable & now.leaving),
            self.events.stall_entry.eq(self.running & slots.reusable & ~now.leaving & ~now.fit.fits),
        ]
        known = {"then": (choice.then, then.after, ranks.older_then), "now": (entries.now, now.fit, ranks.older)}
        return {name: self._plan(m, name, entries, slots, now.urgent, *seen) for name, seen in known.items()}

    def _plan(
        self,
        m: Module,
        name: str,
        entries: WindowEntries,
        slots: WindowSlots,
        urgent: Value,
        seen: data.View,
        fit: data.View,
        older: Value,
    ) -> data.View:
        m.submodules[f"plan_{name}"] = part = BeatPlan(self._cfg)
        m.d.comb += [
            part.entries.eq(seen),
            part.fit.eq(fit),
            part.older.eq(older),
            part.waits.eq(self.running & slots.reusable),
            part.pinned.eq(entries.pinned),
            part.late.eq(urgent),
        ]
        return part.plan

    def _enter(self, m: Module, entries: WindowEntries, slots: WindowSlots, ranks: EntryRanks, plan: data.View) -> None:
        cfg, head, size = self._cfg, self.head, self._cfg.window_entries
        fit, taken, enter, ends = plan.fit, plan.taken, Signal(), head.kind == Kind.EXIT.value
        entering = enter.replicate(size)
        ready = ~entries.now.filling | self.filled
        found = [fit.hit.word_select(n, size) for n in range(cfg.source_slots)]
        group = named(m, "dest_mask", group_mask(head) & head.executes.replicate(4))
        kept = (
            (entries.then.clean | entries.then.dirty)
            & ~entries.then.stale
            & ~(ranks.had & ranks.accepted.replicate(size))
        )
        m.d.comb += [
            enter.eq(self.offered & fit.fits & ~ends),
            slots.head.eq(head),
            slots.entries.eq(fit.hit | taken),
            slots.have.eq(Cat(~slots.used[n] | (entry & ready).any() for n, entry in enumerate(found))),
            entries.hit.eq(_columns(fit.hit, size) & entering),
            entries.taken.eq(_columns(taken, size) & entering),
            entries.written.eq(Cat(_writes(head, group, entry) for entry in entries.registers) & kept & entering),
            ranks.taken.eq(entries.taken),
            self.events.hit.eq(Cat(entry.any() for entry in found) & enter.replicate(cfg.source_slots)),
            self.events.miss.eq(fit.miss & enter.replicate(cfg.source_slots)),
            self.events.discard.eq(entries.then.stale & entries.then.dirty & ~entries.then.owed & entering),
        ]
        for entry in range(size):
            m.d.comb += entries.sources[entry].eq(select(taken[entry::size], list(head.sources)))
        for part in (entries, slots):
            m.d.comb += [part.enter.eq(enter), part.clear.eq(self.offered & fit.fits & ends)]

    def _make_room(self, m: Module, entries: WindowEntries, plan: data.View) -> None:
        m.d.comb += [
            entries.urgent.eq(plan.urgent),
            entries.victim.eq(plan.victim),
            self.events.victim.eq(plan.victim),
            self.events.victim_transient.eq((plan.victim & entries.then.dirty & ~entries.then.owed).any()),
        ]

    def _watch(self, m: Module, entries: WindowEntries, slots: WindowSlots) -> None:
        m.submodules.write_after_read = check = WriteAfterRead(self._cfg, self._cfg.window_entries)
        m.d.comb += [
            check.dest.eq(self.head.dest),
            check.dest_count.eq(self.head.dest_count),
            check.unread.eq(entries.pinned),
            check.registers.eq(entries.registers),
            self.blocked.eq(self.buffered & check.blocked),
            self.collecting.eq(slots.undispatched.any()),
            self.events.undispatched.eq(slots.undispatched),
            self.events.lacking.eq(slots.lacking),
            self.events.held.eq(~entries.now.free),
            self.events.owed.eq(entries.now.dirty & entries.now.owed),
            *(getattr(self.events, name).eq(entries.now[name]) for name in ("filling", "dirty", "evicting")),
        ]


def _columns(rows: Value, size: int) -> Value:
    """OR of the rows of a slot-major matrix: per entry, whether any slot has it."""
    return Cat(rows[entry::size].any() for entry in range(size))


def _writes(head: data.View, group: Value, register: Value) -> Value:
    """Whether a beat writes a register; ``group`` are its destinations within their aligned group."""
    return (register[2:] == head.dest[2:]) & group.bit_select(register[:2], 1)
