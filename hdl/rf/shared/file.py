"""Rows that registers of several warps share where they hold the same loaded words (docs/schemes/larf.md)."""

from collections.abc import Sequence

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring

from warpfile.hdl.arbiter import any_of, highest_one, select
from warpfile.hdl.naming import named
from warpfile.hdl.probe import with_probes
from warpfile.hdl.renaming.join import complete_stores, look_up, start_kernels
from warpfile.hdl.renaming.sweep import Sweep
from warpfile.hdl.rf.contract import file_members
from warpfile.hdl.rf.layouts import location_layout
from warpfile.hdl.rf.read_side import join_reads
from warpfile.hdl.rf.shared.lookahead import Lookahead
from warpfile.hdl.rf.shared.notes import hinted
from warpfile.hdl.rf.shared.observe import observe
from warpfile.hdl.rf.shared.parts import Parts
from warpfile.hdl.stamp import stamp
from warpfile.spec.contract import SLICES
from warpfile.spec.schemes.shared import BASE_BITS, IDLE, SharedConfig, shared_probes

Ports = Sequence[wiring.PureInterface]


class SharedFile(wiring.Component):
    """Renaming table, counts of rows, results in flight, address table, access port, merge slot, absorbed loads.

    Ports: :func:`hdl.rf.contract.file_members`, and the probes of :func:`spec.schemes.shared.shared_probes`. It holds
    no warp, and lets go of places of the scheduler at once.
    """

    def __init__(self, cfg: SharedConfig) -> None:
        self._cfg = cfg
        super().__init__(with_probes(file_members(cfg), shared_probes(cfg)))

    def elaborate(self, platform) -> Module:
        """The parts, joined."""
        m = Module()
        cfg = self._cfg
        self._parts = parts = Parts.made(m, cfg)
        idle = named(m, "idle", parts.access.empty & ~Cat(parts.absorbed.valid, parts.merge.state).any())
        kernel, sweep = start_kernels(m, cfg, self, parts.table, idle)
        m.d.comb += [parts.addresses.restart.eq(kernel.taken), parts.access.restart.eq(kernel.taken)]
        look_up(m, cfg, self, parts.table, self.locate)
        for entry, place, mask in zip(parts.table.located, self.located_places, self.located_masks, strict=True):
            m.d.comb += Cat(place, mask).eq(Cat(entry[:-1], entry[-1].replicate(SLICES)))
        join_reads(m, self, parts.banks)
        m.d.comb += [cycles.eq(1) for cycles in self.cycles]
        self._enter(m)
        self._access(m)
        self._search(m)
        self._act(m)
        self._merge(m)
        self._decide(m)
        self._release(m, sweep)
        self._change(m)
        self._fill(m)
        self._complete(m, idle)
        observe(m, self, parts, self._could, self._changes)
        if cfg.gives.lookahead:
            self._look_ahead(m)
        return m

    def _enter(self, m: Module) -> None:
        """X, and the data of results behind it."""
        parts = self._parts
        table, banks, ports = parts.table, parts.banks, parts.results
        m.d.comb += [
            table.reads.eq(self.result_store),
            table.read_warps.eq(Cat(result.warp for result in self.results)),
            table.read_registers.eq(Cat(result.register for result in self.results)),
            banks.result_data.eq(self.result_data),
            banks.result_masks.eq(Cat(result.mask for result in self.results)),
            banks.offered.eq(self.result_store),
            banks.masks.eq(-1),
            banks.old_masks.eq(-1),
            banks.store_masks.eq(-1),
            self.result_accept.eq(Cat(port.accept for port in ports)),
        ]
        names = {"room": "room", "moves": "moves", "merges": "merges", "merge_places": "merge_place"}
        names |= {"stores": "storing", "store_places": "store_place", "store_lanes": "lanes"}
        m.d.comb += [getattr(banks, name).eq(Cat(getattr(port, own) for port in ports)) for name, own in names.items()]
        for number, port in enumerate(ports):
            m.d.comb += [
                port.offered.eq(table.read[number]),
                port.result.eq(self.results[number]),
                port.old_entry.eq(table.read_entries[number]),
                port.merge_served.eq(banks.merged[number]),
                port.stored.eq(banks.accept[number]),
            ]

    def _access(self, m: Module) -> None:
        """What the LSU gets passes through the port."""
        parts = self._parts
        port, notes, table = parts.access, parts.notes, parts.table
        m.d.comb += [
            notes.allocate.eq(self.allocate),
            notes.hints.eq(hinted(self._cfg, self.offer.hints)),
            notes.unit.eq(self.access_unit),
            port.note.eq(notes.note),
            port.valid.eq(self.access.valid),
            port.beat.eq(self.access.payload),
            port.words.eq(self.access_operands),
            self.access.ready.eq(port.ready),
            self.sent.valid.eq(port.sent_valid),
            self.sent.payload.eq(port.sent),
            self.sent_operands.eq(port.sent_words),
            port.sent_ready.eq(self.sent.ready),
            port.visited.eq(table.visited & port.visits),
            port.entry.eq(table.visit_entry),
        ]
        if not self._cfg.gives.lookahead:
            self._visit(m, port.visits, port.visit_warp, port.visit_register)

    def _visit(self, m: Module, asks: Value, warp: Value, register: Value) -> None:
        """The read of the table that is neither a result's nor a look-up."""
        table = self._parts.table
        m.d.comb += [table.visits.eq(asks), table.visit_warp.eq(warp), table.visit_register.eq(register)]

    def _search(self, m: Module) -> None:
        """What the access port knows, of two accesses."""
        parts = self._parts
        port, table, act = parts.access, parts.addresses, parts.act
        same = ("compare", "select", "delete", "decide", "acting", "recheck", "base", "stride", "mask", "last")
        same += ("ends_range", "own_base", "own_stride")
        m.d.comb += [
            *(getattr(table, name).eq(getattr(port, name)) for name in same),
            table.own_mask.eq(port.decided.mask),
            table.ends_all.eq(port.ends_all | port.flushes),
            table.acts.eq(act.acts),
        ]

    def _look_ahead(self, m: Module) -> None:
        """The probe, which shares the comparators with the accesses, and its reader."""
        parts = self._parts
        self._read_idle(m)
        probe, table, port = self._probe, parts.addresses, parts.access
        m.d.comb += [
            *(getattr(probe, name).eq(getattr(self, name)) for name in ("heads", "buffered", "pending", "results")),
            probe.issues.eq(self.offer_warp & self.accept.replicate(self._cfg.warps)),
            probe.data.eq(self.result_data),
            probe.leaves.eq(self.result_accept),
            probe.known.eq(port.known),
            probe.busy.eq(port.compare | port.stores),
            table.looks.eq(probe.looks),
            *(getattr(table, f"look_{name}").eq(getattr(probe, name)) for name in ("base", "stride", "mask")),
            probe.found.eq(table.looks_found),
            *(getattr(self, name).eq(getattr(probe, name)) for name in ("lookahead_hit", "shareable")),
            self.probe_state.eq(probe.state),
            self.probe_hit.eq(probe.hit),
        ]

    def _read_idle(self, m: Module) -> None:
        """The reader asks the table when the access port does not, then a bank that no other client asks."""
        parts = self._parts
        self._probe = probe = stamp(m, "lookahead", "lookahead", lambda: Lookahead(self._cfg))
        table, banks, port = parts.table, parts.banks, parts.access
        self._visit(
            m,
            port.visits | probe.asks,
            Mux(port.visits, port.visit_warp, probe.ask_warp),
            Mux(port.visits, port.visit_register, probe.ask_register),
        )
        m.d.comb += [
            probe.ask_served.eq(table.visited & ~port.visits),
            probe.entry.eq(table.visit_entry),
            banks.idle_reads.eq(probe.reads),
            banks.idle_place.eq(probe.place),
            probe.read.eq(banks.idle_read),
            probe.row.eq(Cat(words[-BASE_BITS:] for words in banks.engine_read)),
            self.reader_state.eq(probe.reader_state),
            self.probed.eq(probe.probed),
            self.reader_read.eq(banks.idle_read),
            self.reader_late.eq(probe.late),
        ]

    def _act(self, m: Module) -> None:
        """E: the access, its destination, and what was found."""
        parts = self._parts
        act, port, found, rows = parts.act, parts.access, parts.addresses, parts.rows
        same = ("perfect", "lower", "upper", "both", "alive", "places", "covers", "distances")
        destination = self._cfg.write_ports  # among the owners of rows
        m.d.comb += [
            *(getattr(act, name).eq(getattr(found, name)) for name in same),
            act.acting.eq(port.acting),
            act.tired.eq(port.tired),
            act.mask.eq(port.decided.mask),
            act.answered.eq(port.answered),
            Cat(act.old, act.mapped).eq(port.old),
            act.busy.eq(parts.busy(act.old)),
            act.single.eq(rows.single[destination]),
            act.ready.eq(rows.ready[1:]),
            act.most.eq(rows.most),
            act.idle.eq(parts.merge.state == IDLE),
            act.room.eq(parts.absorbed.room),
            act.found.eq(rows.found),
            act.fresh.eq(parts.fresh(m, port.decided.warp, port.decided.dest)),
            port.acts.eq(act.acts),
            port.absorbs.eq(act.absorbs),
            rows.source_places.eq(found.places),
        ]

    def _merge(self, m: Module) -> None:
        """The merge slot is a client of the banks, behind all results."""
        parts = self._parts
        slot, banks = parts.merge, parts.banks
        m.d.comb += [
            slot.start.eq(parts.act.merges),
            slot.job.eq(parts.act.job),
            banks.other_stores.eq(slot.writes),
            banks.other_merges.eq(slot.reads),
            banks.other_places.eq(slot.place),
            banks.other_lanes.eq(slot.lanes),
            banks.other_data.eq(slot.made),
            slot.read.eq(banks.other_merged),
            slot.written.eq(banks.other_accept),
            slot.arrives.eq(banks.engine_fill[0]),
            slot.row.eq(Cat(words[:BASE_BITS] for words in banks.engine_read)),
        ]

    def _decide(self, m: Module) -> None:
        """W0: which result changes. None does while an access acts."""
        parts = self._parts
        ports, rows = parts.results, parts.rows
        self._could = named(m, "could", Cat(port.could for port in ports))
        first = named(m, "first", highest_one(self._could))
        self._changes = named(m, "changes", first & (~parts.act.acts).replicate(len(ports)))
        for number, port in enumerate(ports):
            last = number == len(ports) - 1  # where loads come back, which alone fill rows
            m.d.comb += [
                port.single.eq(rows.single[number]),
                port.marked.eq(rows.marked[number]),
                port.ready.eq(rows.ready[0] if last else 1),
                port.busy.eq(parts.busy(port.old_place)),
                port.changes.eq(self._changes[number]),
                port.found.eq(rows.found),
                port.found_place.eq(parts.fresh(m, port.held_warp, port.held_register)),
            ]
        with m.If(((self._changes & Cat(port.fresh for port in ports)).any() & ~rows.found) | parts.act.lacks):
            m.d.sync += self.error.eq(1)

    def _release(self, m: Module, sweep: Sweep) -> None:
        """What the sweep holds, or else a dead register. It waits for all who may change its row."""
        parts = self._parts
        self._released = Signal(location_layout(self._cfg), name="released_place")
        held = named(m, "held", Cat(port.holds for port in parts.results).any() | parts.busy(self._released))
        may = named(m, "may_drop", ~(held | parts.act.acts))
        m.d.comb += [
            self._released.eq(Mux(sweep.held, sweep.found[:-1], self.death_place)),
            sweep.frees.eq(sweep.held & may),
            self.death_ready.eq(self.death_valid & ~sweep.held & may),
        ]
        self._gives_up = named(m, "gives_up", sweep.frees | self.death_ready)

    def _change(self, m: Module) -> None:
        """The one that changes the mapping, and the row that is dropped beside it."""
        parts = self._parts
        act, rows, table, ports, changes = parts.act, parts.rows, parts.table, parts.results, self._changes
        access = parts.access.decided

        def chosen(name: str) -> Value:
            return select(changes, [Value.cast(getattr(port, name)) for port in ports])

        fresh = named(m, "takes_fresh", chosen("fresh"))
        warp, register = chosen("held_warp"), chosen("held_register")
        place = named(m, "changed_place", Mux(act.acts, act.place.as_value(), chosen("place")))
        m.d.comb += [
            table.writes.eq(act.writes | fresh),
            table.effective.eq(act.acts | rows.found),
            table.write_warps.eq(Mux(act.acts, access.warp, warp)),
            table.write_registers.eq(Mux(act.acts, access.dest, register)),
            table.write_entries.eq(Cat(place, Const(1, 1))),
            rows.owner_places.eq(Cat(*(port.old_place for port in ports), act.old, self._released)),
            rows.take.eq(act.enters | (fresh & rows.found)),
            rows.take_place.eq(place),
            rows.enter.eq(act.enters),
            rows.gain.eq(act.shares),
        ]
        self._drop(m, chosen)

    def _drop(self, m: Module, chosen) -> None:
        """At most one row loses a register, or its entry, in a cycle."""
        parts = self._parts
        act, rows, ports = parts.act, parts.rows, len(parts.results)
        result = named(m, "changes_row", chosen("drops") | chosen("ends"))
        drop = named(m, "drop", act.drops | (chosen("drops") & rows.found) | self._gives_up)
        owner, released = rows.single[ports], rows.single[ports + 1]
        ends = act.ends | (act.drops & owner) | chosen("ends") | (self._gives_up & released)
        row = Mux(act.acts, act.old.as_value(), Mux(result, chosen("old_place"), self._released.as_value()))
        m.d.comb += [
            rows.drop.eq(drop),
            rows.unmark.eq(ends),
            rows.drop_place.eq(row),
            parts.addresses.end.eq(rows.unmark),
            parts.addresses.end_place.eq(rows.drop_place),
            parts.addresses.insert.eq(act.enters),
            parts.addresses.place.eq(act.place),
        ]

    def _fill(self, m: Module) -> None:
        """Rows that become ready, and the loads that were absorbed."""
        parts = self._parts
        act, rows, absorbed, last = parts.act, parts.rows, parts.absorbed, parts.results[-1]
        fill = named(m, "fill", Cat(last.stored & last.fills, parts.merge.written))
        places = named(m, "fill_places", Cat(last.store_place, parts.merge.target))
        filled = any_of(
            bit & (places.word_select(at, len(places) // 2) == parts.addresses.places[0].as_value())
            for at, bit in enumerate(fill)
        )
        m.d.comb += [
            rows.fill.eq(fill),
            rows.fill_places.eq(places),
            absorbed.fill.eq(fill),
            absorbed.fill_places.eq(places),
            absorbed.enter.eq(act.acts & act.absorbs),
            absorbed.waits.eq(act.merges | ~(rows.ready[1] | filled)),
            absorbed.warp.eq(parts.access.decided.warp),
            absorbed.register_name.eq(parts.access.decided.dest),
            absorbed.place.eq(act.place),
            self.row_ready.eq(fill),
        ]

    def _complete(self, m: Module, idle: Value) -> None:
        """When the scoreboard is told, and when nothing is under way. Absorbed loads take what the LSU leaves."""
        parts = self._parts
        busy: list[Value] = []
        for number, port in enumerate(parts.results):
            queue = complete_stores(m, self._cfg, self, number, port.stored, port.completion)
            completed, completion = queue.completed, queue.completion.as_value()
            if number == len(parts.results) - 1:
                m.d.comb += parts.absorbed.free.eq(~queue.completed)
                completed = completed | parts.absorbed.completed
                completion = Mux(queue.completed, completion, parts.absorbed.completion.as_value())
            m.d.comb += [self.completed[number].eq(completed), self.completion[number].eq(completion)]
            busy += [port.deciding, port.storing, queue.waiting]
        m.d.comb += self.quiet.eq(~Cat(busy).any() & ~self.swept.any() & idle)
