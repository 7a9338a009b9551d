"""Proofs of the beats of an operand window: their order, what they wait for, and who waits for their results."""

from amaranth import Cat, Const, Mux, Signal, Value
from amaranth.hdl import Assert, Assume, Cover
from amaranth.lib import data

from tests.formal.collectors.bow.windows import WindowProperties, config
from tests.formal.properties import Miswired, Proof, at_most_one, constant, past
from warpfile.hdl.arbiter import any_of
from warpfile.hdl.beat import needs_unit
from warpfile.hdl.collectors.bow.slots import WindowSlots
from warpfile.spec.beat import dispatch_fields


class SlotProperties(WindowProperties):
    """Beats by their age, each with what it waits for; results are told of any one register."""

    def check(self, m, part):
        self._slots, self._sources = range(self._cfg.window), range(self._cfg.source_slots)
        self._ports = range(self._cfg.write_ports)
        self._shadow(part)
        self._promised(m, part)
        offered = self._offer(m, part)
        self._follow(m, part, offered)
        self._order(m, part)
        self._results(m, part)
        m.d.comb += [
            Assert(part.undispatched == self.waiting, "a beat stays from entering to dispatch"),
            Assert(part.reusable == ~self._next(self.waiting), "a slot is used again only after its dispatch"),
            Cover(part.ready & self.waiting.all() & ~self._next(offered), "a younger beat of another port overtakes"),
            Cover(self._considers(part) & ~self._late(part) & part.outdated, "the next to leave has its result"),
        ]

    def _shadow(self, part):
        """Fields of all beats as they entered, and how many have entered since, this one included."""
        cfg, count = self._cfg, self._cfg.window
        self.position = Signal(range(count))
        self.waiting, self.awaits = Signal(count), Signal(count)
        self.age = [Signal(range(count + 1), name=f"age{slot}", init=count - slot) for slot in range(count)]
        self.port = [Signal(2, name=f"port_of{slot}") for slot in range(count)]
        self.payload = [Signal(cfg.payload_bits, name=f"payload_of{slot}") for slot in range(count)]
        self.entries = [Signal(len(part.entries), name=f"entries_of{slot}") for slot in range(count)]
        self.missing = [Signal(cfg.source_slots, name=f"missing_of{slot}") for slot in range(count)]

    def _next(self, bits: Value) -> Value:
        return bits.bit_select(self.position, 1)

    def _considers(self, part) -> Value:
        """The considered result is of the followed register."""
        return any_of(part.considered[port] & (part.registers[port] == self.register) for port in self._ports)

    def _late(self, part) -> Value:
        return (part.considered & part.late).any()

    def _promised(self, m, part):
        """What entries, banks and scoreboard see to."""
        size, head = self._cfg.window_entries, part.head
        self.register = constant(m, "followed", self._cfg.register_names)
        self.writes = Signal()
        written = (head.dest <= self.register) & (self.register < head.dest + head.dest_count)
        m.d.comb += [
            self.writes.eq(part.enter & head.executes & written),
            Assume(head.dest[:2] + head.dest_count <= 4),
            Assume(~part.enter | part.reusable),
            Assume(~part.dispatch | part.ready),
            Assume(~part.clear | (~part.undispatched.any() & ~part.enter)),
            Assume(at_most_one(part.considered)),
            Assume(~self.writes | ~(self.awaits.any() | (part.accepted & self._considers(part)))),
            Assume(~part.used.any() | needs_unit(head)),
            Assume((part.used | part.have).all()),
            Assume(part.filled_index < size),
        ]
        for source in self._sources:
            entry = part.entries.word_select(source, size)
            m.d.comb += Assume(at_most_one(entry) & (entry.any() == part.used[source]))

    def _older(self, first: int, second: int) -> Value:
        return self.age[first] > self.age[second]

    def _offer(self, m, part) -> Value:
        """The oldest beat that has all its sources and no older one before it on its port."""
        ready, offered = Signal(self._cfg.window), Signal(self._cfg.window, name="offered_shadow")
        for slot in self._slots:
            others = [other for other in self._slots if other != slot]
            before = [
                self._older(other, slot) & self.waiting[other] & (self.port[other] == self.port[slot])
                for other in others
            ]
            complete = self.waiting[slot] & ~self.missing[slot].any()
            m.d.comb += ready[slot].eq(complete & ~any_of(before))
            m.d.comb += offered[slot].eq(ready[slot] & ~any_of(ready[o] & self._older(o, slot) for o in others))
            same = (part.out.payload == self.payload[slot]) & (part.port == self.port[slot])
            m.d.comb += Assert(~offered[slot] | (same & (part.read == self.entries[slot])), "it leaves as it entered")
        m.d.comb += Assert(part.ready == ready.any(), "a beat is offered iff one is ready")
        m.d.comb += Assert(part.ready | ~part.read.any(), "nothing is read without a beat that needs it")
        return offered

    def _follow(self, m, part, offered):
        leaves = Mux(part.dispatch, offered, 0)
        m.d.sync += self.waiting.eq(self.waiting & ~leaves)
        m.d.sync += self.awaits.eq(Mux(part.accepted & self._considers(part), 0, self.awaits))
        for slot in self._slots:
            here = part.enter & (self.position == slot)
            came = [
                part.filled
                & self.entries[slot].word_select(n, self._cfg.window_entries).bit_select(part.filled_index, 1)
                for n in self._sources
            ]
            m.d.sync += self.missing[slot].eq(self.missing[slot] & ~Cat(came))
            with m.If(part.enter):
                m.d.sync += self.age[slot].eq(self.age[slot] + 1)
            with m.If(here):
                m.d.sync += [
                    *(self.age[slot].eq(1), self.waiting[slot].eq(needs_unit(part.head))),
                    self.awaits[slot].eq(self.writes),
                    *(self.port[slot].eq(part.head.port), self.payload[slot].eq(part.head.payload)),
                    *(self.entries[slot].eq(part.entries), self.missing[slot].eq(part.used & ~part.have)),
                ]
            with m.If(part.clear):
                m.d.sync += self.age[slot].eq(self._cfg.window - slot)
        with m.If(part.enter):
            last = self.position == self._cfg.window - 1
            m.d.sync += self.position.eq(Mux(last, 0, self.position + 1))
        with m.If(part.clear):
            m.d.sync += [self.position.eq(0), self.awaits.eq(0)]

    def _order(self, m, part):
        """Of any two beats of one port the older one leaves first."""
        gone = Signal(self._cfg.window)
        m.d.comb += gone.eq(past(m, part.undispatched, "undispatched") & ~part.undispatched)
        for first in self._slots:
            for second in self._slots:
                if first != second:
                    behind = self._older(first, second) & (self.port[first] == self.port[second])
                    waits = past(m, behind & part.undispatched[first], f"behind{first}_{second}")
                    m.d.comb += Assert(~(waits & gone[second]), "beats of a port leave as they entered")
        m.d.comb += Assert(at_most_one(gone), "one beat leaves at a time")

    def _results(self, m, part):
        ours = self._considers(part)
        for port in self._ports:
            late = part.late[port] == ~self.awaits.any()
            same = part.registers[port] == self.register
            m.d.comb += Assert(~same | late, "late unless a beat of the window awaits it")
        m.d.comb += Assert(~ours | (part.outdated == self._next(self.awaits)), "outdated with the next beat to leave")
        for slot in self._slots:
            same = part.result_age == self.age[slot]
            m.d.comb += Assert(~(ours & self.awaits[slot]) | same, "its age is that of its beat")

    def help(self, m, part, state):
        count, next_slot = self._cfg.window, state("next_slot")
        m.d.comb += Assert(next_slot == self.position, "the same slot is next")
        m.d.comb += Assert(self.position < count, "a slot of the window")
        m.d.comb += Assert(at_most_one(self.awaits), "one beat writes a register")
        for slot in self._slots:
            record = data.View(self._record(), state(f"slot{slot}"))
            have, awaited = state(f"have{slot}"), state(f"awaited{slot}")
            distance = Mux(self.position > slot, self.position - slot, count + self.position - slot)
            same_group = record.dest[2:] == self.register[2:]
            ours = same_group & awaited.bit_select(self.register[:2], 1)
            used = Cat(self.entries[slot].word_select(n, self._cfg.window_entries).any() for n in self._sources)
            fields = (record.port == self.port[slot]) & (record.payload == self.payload[slot]) & (record.used == used)
            m.d.comb += [
                Assert((self.missing[slot] & ~used) == 0, "only used sources miss"),
                Assert(self.age[slot] == distance, "slots are used in turn"),
                Assert(~self.waiting[slot] | fields, "the fields are kept"),
                Assert(~self.waiting[slot] | (have == ~self.missing[slot]), "what it has is what is not missing"),
                Assert(ours == self.awaits[slot], "the followed register is awaited"),
            ]
            for source in self._sources:
                entry = self.entries[slot].word_select(source, self._cfg.window_entries)
                index = record.indexes.word_select(source, self._cfg.entry_bits)
                same = at_most_one(entry) & (~entry.any() | entry.bit_select(index, 1))
                m.d.comb += Assert(~self.waiting[slot] | same, "entries are kept by number")

    def _record(self) -> data.StructLayout:
        """What a slot keeps."""
        cfg = self._cfg
        kept = {name: width for name, width in dispatch_fields(cfg) if name != "warp"}
        sources = {"used": cfg.source_slots, "indexes": cfg.source_slots * cfg.entry_bits}
        return data.StructLayout({**kept, "port": 2, **sources})


def _other_port(head: Value) -> Value:
    """The lowest bit of a beat's port is that of its mask, which comes right before the payload."""
    port, mask = 1, len(head) - 1 - 16 - 1
    return head ^ (head[mask] << port)[: len(head)]


def _proof(window: int, entries: int, *, regress: bool = False) -> Proof:
    cfg = config(window=window, window_entries=entries)

    def wrong(**changes):
        return lambda: SlotProperties(Miswired(WindowSlots(cfg), **changes), cfg, helped=False)

    return Proof(
        "hdl.collectors.bow.slots.WindowSlots",
        f"of {window} beats, {entries} entries",
        lambda: SlotProperties(WindowSlots(cfg), cfg),
        {
            "late unless a beat of the window awaits it": wrong(accepted=lambda accepted: Const(0)),
            "beats of a port leave as they entered": wrong(head=_other_port),
        },
        reach=window + 3,
        regress=regress,
    )


PROOFS = (_proof(3, 3), _proof(5, 4, regress=True))
