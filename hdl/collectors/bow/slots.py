"""The last beats of a warp in its operand window."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of, decode, encode, oldest_one, select
from warpfile.hdl.beat import beat_layout, dispatch_layout, needs_unit
from warpfile.hdl.clock_gate import take
from warpfile.hdl.collectors.bow.entries import age_bits
from warpfile.hdl.naming import named
from warpfile.hdl.scoreboard import GROUP, group_mask
from warpfile.spec.beat import dispatch_fields
from warpfile.spec.config import index_bits
from warpfile.spec.schemes.bow import BowConfig


class WindowSlots(wiring.Component):
    """One slot per beat of the window, used in turn. A slot keeps its fields until its next beat enters.

    Members
    -------
    index : In(warp_bits)                 Of the warp slot; constant.
    enter : In(1), head : In(beat_layout(cfg)), used : In(source_slots)   A beat comes, with these sources.
    entries : In(source_slots * window_entries)   Entry of each used source, one-hot.
    have : In(source_slots)               Sources that need not wait.
    filled : In(1), filled_index : In(entry_bits)   Data of an entry arrive.
    dispatch : In(1)                      The offered beat leaves.
    registers : In(ArrayLayout), considered : In(ports)   Of all results, and which one is considered, one-hot. Every
                                          port is searched for before that is known.
    accepted : In(1)                      It is accepted.
    clear : In(1)                         The warp ends.
    reusable : Out(1)                     Its slot may be used again.
    undispatched : Out(window)            Slots whose beat has not left.
    lacking : Out(window)                 Of these, those that wait for a source.
    late : Out(ports)                     The beat of each result has left.
    outdated : Out(1), result_age : Out   Of the considered one: its beat is the next to leave; age of that beat.
    ready : Out(1), port : Out(port_bits), out : Out(dispatch_layout(cfg))   Oldest beat that can be dispatched.
    read : Out(source_slots * window_entries)   Entries of its used sources, slot-major, one-hot; zero if none is ready.
    """

    def __init__(self, cfg: BowConfig) -> None:
        self._cfg = cfg
        slots, entries = cfg.source_slots, cfg.window_entries
        super().__init__(
            {
                "index": In(cfg.warp_bits),
                **{name: In(1) for name in ("enter", "filled", "dispatch", "accepted", "clear")},
                "head": In(beat_layout(cfg)),
                **{name: In(slots) for name in ("used", "have")},
                "entries": In(slots * entries),
                "filled_index": In(cfg.entry_bits),
                "registers": In(data.ArrayLayout(cfg.register_bits, cfg.write_ports)),
                "considered": In(cfg.write_ports),
                **{name: Out(1) for name in ("reusable", "outdated", "ready")},
                "result_age": Out(age_bits(cfg)),
                "late": Out(cfg.write_ports),
                "undispatched": Out(cfg.window),
                "lacking": Out(cfg.window),
                "port": Out(cfg.port_bits),
                "out": Out(dispatch_layout(cfg)),
                "read": Out(slots * entries),
            }
        )

    def elaborate(self, platform) -> Module:
        """Which slot is next, what is in each, and the one that is offered."""
        m = Module()
        next_slot = self._count(m)
        older = self._order(m, next_slot)
        taken = named(m, "taken", next_slot & self.enter.replicate(self._cfg.window))
        records = [self._hold(m, slot, taken[slot]) for slot in range(self._cfg.window)]
        have = [self._collect(m, slot, taken[slot], records[slot]) for slot in range(self._cfg.window)]
        offered = self._offer(m, records, have, older)
        m.d.comb += [
            self.reusable.eq(~(self.undispatched & next_slot).any()),
            self.lacking.eq(self.undispatched & ~Cat(slot.all() for slot in have)),
        ]
        m.d.sync += self.undispatched.eq(
            ((self.undispatched & ~(offered & self.dispatch.replicate(len(offered)))) & ~taken)
            | (taken & needs_unit(self.head).replicate(len(taken)))
        )
        self._results(m, records, next_slot, taken)
        return m

    def _count(self, m: Module) -> Value:
        """Slot of the next beat, one-hot."""
        position = Signal(index_bits(self._cfg.window), name="next_slot")
        with m.If(self.clear):
            m.d.sync += position.eq(0)
        with m.Elif(self.enter):
            last = position == self._cfg.window - 1
            m.d.sync += position.eq(Mux(last, 0, position + 1))
        return named(m, "next", decode(position, self._cfg.window))

    def _order(self, m: Module, next_slot: Value) -> Value:
        """Matrix of the order of slots, as :class:`hdl.arbiter.Ages` gives it: the next one holds the oldest beat."""
        size = self._cfg.window
        older = Signal(size * size)
        for low in range(size):
            for high in range(low + 1, size):
                wrapped = named(m, f"wrapped{low}_{high}", next_slot[low + 1 : high + 1].any())
                m.d.comb += [older[low * size + high].eq(~wrapped), older[high * size + low].eq(wrapped)]
        return older

    def _hold(self, m: Module, slot: int, taken: Value) -> data.View:
        """Registers of a beat. They are not read before the slot is used, so they need no reset."""
        cfg, head = self._cfg, self.head
        kept = {name: width for name, width in dispatch_fields(cfg) if name != "warp"}
        layout = data.StructLayout(
            {**kept, "port": cfg.port_bits, "used": cfg.source_slots, "indexes": cfg.source_slots * cfg.entry_bits}
        )
        indexes = [self.entries.word_select(n, cfg.window_entries) for n in range(cfg.source_slots)]
        values = {name: head[name] for name in (*kept, "port")}
        values |= {"used": self.used, "indexes": Cat(encode(entry, cfg.entry_bits) for entry in indexes)}
        record = Signal(layout, name=f"slot{slot}", reset_less=True)
        take(m, cfg, f"slot{slot}", [record[name] for name in values], (taken, list(values.values())))
        return record

    def _collect(self, m: Module, slot: int, taken: Value, record: data.View) -> Value:
        """Sources of a slot that need not wait any more."""
        cfg = self._cfg
        have = Signal(cfg.source_slots, name=f"have{slot}", reset_less=True)
        indexes = [record.indexes.word_select(n, cfg.entry_bits) for n in range(cfg.source_slots)]
        arrives = Cat(self.filled & (index == self.filled_index) for index in indexes)
        m.d.sync += have.eq(Mux(taken, self.have, have | arrives))
        return have

    def _offer(self, m: Module, records: list[data.View], have: list[Value], older: Value) -> Value:
        cfg, size = self._cfg, self._cfg.window
        ready = Signal(size)
        for slot, record in enumerate(records):
            before = [
                older[other * size + slot] & self.undispatched[other] & (records[other].port == record.port)
                for other in range(size)
                if other != slot
            ]
            m.d.comb += ready[slot].eq(self.undispatched[slot] & have[slot].all() & ~any_of(before))
        offered = named(m, "offered", oldest_one(ready, older))
        chosen = data.View(records[0].shape(), named(m, "chosen", select(offered, [r.as_value() for r in records])))
        m.d.comb += [self.ready.eq(ready.any()), self.port.eq(chosen.port), self.out.warp.eq(self.index)]
        m.d.comb += [getattr(self.out, n).eq(getattr(chosen, n)) for n, _ in dispatch_fields(cfg) if n != "warp"]
        for source in range(cfg.source_slots):
            entry = decode(chosen.indexes.word_select(source, cfg.entry_bits), cfg.window_entries)
            wanted = entry & chosen.used[source].replicate(len(entry))
            m.d.comb += self.read.word_select(source, len(entry)).eq(wanted)
        return offered

    def _results(self, m: Module, records: list[data.View], next_slot: Value, taken: Value) -> None:
        """Destinations that wait for their results, one bit per register of an aligned group."""
        cfg, size = self._cfg, self._cfg.window
        ports = range(cfg.write_ports)
        places = [named(m, f"place_in_group{port}", decode(self.registers[port][:2], GROUP)) for port in ports]
        place = named(m, "place_in_group", select(self.considered, places))
        writes = named(m, "writes", group_mask(self.head) & self.head.executes.replicate(GROUP))
        awaited = [Signal(GROUP, name=f"awaited{slot}") for slot in range(size)]
        found = [
            named(
                m,
                f"found{port}",
                Cat(self._awaits(port, places[port], *slot) for slot in zip(records, awaited, strict=True)),
            )
            for port in ports
        ]
        matches = named(m, "matches", select(self.considered, found))
        for slot, waits in enumerate(awaited):
            done = place & (matches[slot] & self.accepted).replicate(GROUP)
            m.d.sync += waits.eq(Mux(self.clear, 0, Mux(taken[slot], writes, waits & ~done)))
        ages = [Cat(next_slot[(slot + age) % size] for age in range(1, size + 1)) for slot in range(size)]
        m.d.comb += [
            self.late.eq(Cat(~slots.any() for slots in found)),
            self.outdated.eq((matches & next_slot).any()),
            self.result_age.eq(select(matches, [encode(Cat(0, age), age_bits(cfg)) for age in ages])),
        ]

    def _awaits(self, port: int, place: Value, record: data.View, waits: Value) -> Value:
        """Whether a beat waits for the result of a port."""
        return (record.dest[2:] == self.registers[port][2:]) & (waits & place).any()
