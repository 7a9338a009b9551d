"""Proof of the tags of an operand window's entries, from results to beats to banks."""

from amaranth import Cat, Const, Mux, Signal, Value
from amaranth.asserts import AnySeq
from amaranth.hdl import Assert, Assume, Cover

from tests.formal.collectors.bow.windows import STATES, WindowProperties, config, one_state
from tests.formal.properties import Miswired, Proof, at_most_one, constant, past
from warpfile.hdl.arbiter import any_of
from warpfile.hdl.collectors.bow.entries import WindowEntries


class EntryProperties(WindowProperties):
    """Entries between the other parts of a window, which see to what is assumed. Beats pin entries until they read."""

    def check(self, m, part):
        count = self._cfg.window
        self._beats(m, part)
        touched = self._results(m, part)
        self._banks(m, part)
        self._sources(m, part, touched)
        self._room(m, part)
        self._clear(m, part)
        self._tags(m, part)
        self._values(m, part)
        full = ~part.now.free.any()
        m.d.comb += Cover(part.pinned.all() & full & (sum(pins.any() for pins in self.pins) == count), "all are pinned")
        if self._cfg.window_writes == "through":
            m.d.comb += Assume((part.then.dirty | part.then.evicting) == 0)
        else:
            m.d.comb += Cover((part.evicted & part.merged).any() & part.enter, "a result meets an eviction")

    def _beats(self, m, part):
        """Entries that each beat of the window has yet to read, by slot; the next beat's slot comes first."""
        cfg, count = self._cfg, self._cfg.window
        self.position = Signal(range(count))
        self.pins = [Signal(cfg.window_entries, name=f"pins_of{slot}") for slot in range(count)]
        self.oldest = Signal(cfg.window_entries)
        reader = Signal(range(count))
        masks = Cat(self.pins)
        m.d.comb += [
            reader.eq(AnySeq(len(reader))),
            self.oldest.eq(masks.word_select(self.position, cfg.window_entries)),
            Assume(~part.enter | ~self.oldest.any()),
            Assume(reader < count),
            Assume(~part.read.any() | (part.read == masks.word_select(reader, cfg.window_entries))),
            Assume((part.read & part.now.filling) == 0),
        ]
        for slot, pins in enumerate(self.pins):
            with m.If(part.read.any() & (reader == slot)):
                m.d.sync += pins.eq(0)
            with m.If(part.enter & (self.position == slot)):
                m.d.sync += pins.eq(part.hit | part.taken)
        with m.If(part.enter):
            last = self.position == count - 1
            m.d.sync += self.position.eq(Mux(last, 0, self.position + 1))
        with m.If(part.clear):
            m.d.sync += self.position.eq(0)

    def _named(self, part, register: Value) -> Value:
        """Entries that hold something of a register."""
        return Cat(part.registers[entry] == register for entry in self._entries) & ~part.now.free

    def _results(self, m, part) -> Value:
        """Step 1, as the table allows it. Returns the entries that the result touches."""
        cfg, now, then, size = self._cfg, part.now, part.then, self._cfg.window_entries
        met, freed, touched = self._named(part, part.result_register), Signal(size), Signal(size)
        age = part.result_age
        may_be_had = now.free | (now.clean & ~part.pinned)
        m.d.comb += [
            touched.eq(part.stored | part.merged | freed),
            freed.eq(AnySeq(size)),
            Assume(at_most_one(part.stored) & at_most_one(part.merged) & at_most_one(freed) & at_most_one(touched)),
            Assume(~touched.any() | ((met & ~touched) == 0)),
            Assume((part.stored & (part.merged | freed)) == 0),
            Assume((part.merged & freed) == 0),
            Assume(((part.merged | freed) & (part.pinned | now.filling | ~met)) == 0),
            Assume((part.stored & ~(may_be_had | (met & ~part.pinned & ~now.filling))) == 0),
            Assume(~part.stored.any() | ((age >= 1) & (age <= cfg.window))),
        ]
        for entry in self._entries:
            stays = ~touched[entry]
            kept = Cat(getattr(then, name)[entry] == getattr(now, name)[entry] for name in (*STATES, "owed", "stale"))
            merged = (then.evicting[entry] == now.evicting[entry]) & (then.stale[entry] == now.stale[entry])
            merged &= then.evicting[entry] | then.clean[entry] | then.dirty[entry]
            stored = (then.clean[entry] | then.dirty[entry]) & (then.stale[entry] == (age == cfg.window))
            m.d.comb += [
                Assume(one_state(then, entry)),
                Assume(~stays | kept.all()),
                Assume(~part.merged[entry] | merged),
                Assume(~part.stored[entry] | stored),
                Assume(~freed[entry] | then.free[entry]),
            ]
        return touched

    def _banks(self, m, part):
        m.d.comb += [
            Assume(at_most_one(part.granted) & ((part.granted & ~part.asking) == 0)),
            Assume(at_most_one(part.filled) & ((part.filled & (~part.now.filling | part.asking)) == 0)),
            Assume(at_most_one(part.evicted) & ((part.evicted & ~part.now.evicting) == 0)),
        ]

    def _sources(self, m, part, touched: Value):
        """Step 5: a source has its entry or gets one, and no other entry of its register stays."""
        then, size = part.then, self._cfg.window_entries
        valid = (then.clean | then.dirty) & ~then.stale
        lost = then.stale & (then.clean | (then.dirty & ~then.owed))
        entering = part.enter.replicate(size)
        m.d.comb += [
            Assume((part.hit & ~((then.filling | valid) & entering)) == 0),
            Assume((part.taken & ~((then.free | lost) & entering)) == 0),
            Assume((part.written & ~(valid & entering)) == 0),
        ]
        for entry in self._entries:
            register = part.sources[entry]
            others = Cat(part.registers[other] == register for other in self._entries) & ~then.free & ~lost
            same = [part.taken[other] & (part.sources[other] == register) for other in range(entry)]
            pending = touched.any() & (register == part.result_register)
            m.d.comb += Assume(~part.taken[entry] | ~(others.any() | any_of(same) | pending))

    def _room(self, m, part):
        """Step 5b: only while no beat enters, and only if the next beat's slot is free."""
        then, leaving = part.then, part.urgent | part.victim
        m.d.comb += [
            Assume(~leaving.any() | (~part.enter & ~self.oldest.any())),
            Assume((part.urgent & ~(then.dirty & then.owed & then.stale)) == 0),
            Assume(at_most_one(part.victim) & ((part.victim & ~((then.clean | then.dirty) & ~part.pinned)) == 0)),
        ]

    def _clear(self, m, part):
        """A warp ends when nothing of it is under way."""
        busy = (
            part.enter
            | part.stored.any()
            | part.merged.any()
            | Cat(self.pins).any()
            | (part.urgent | part.victim).any()
        )
        m.d.comb += Assume(~part.clear | ~busy)

    def _tags(self, m, part):
        now = part.now
        pinned = any_of(self.pins)
        for entry in self._entries:
            m.d.comb += Assert(one_state(now, entry), "an entry is in one state")
            for other in range(entry):
                same = (part.registers[entry] == part.registers[other]) & ~now.free[entry] & ~now.free[other]
                m.d.comb += Assert(~same, "no two entries hold one register")
        m.d.comb += [
            Assert(part.pinned == pinned, "pinned are those that a beat has yet to read"),
            Assert((part.pinned & (now.free | now.evicting)) == 0, "a pinned entry does not leave"),
            Assert((now.filling & ~part.pinned) == 0, "an entry that waits for a bank is awaited by a beat"),
            Assert(self.oldest.any() | ((now.stale & part.pinned & ~now.free) == 0), "a stale entry is not pinned"),
            Assert((part.asking & ~now.filling) == 0, "only a filling entry asks"),
        ]

    def _values(self, m, part):
        """An entry keeps its register while it is pinned, and its value until a bank has taken what is owed."""
        now, entry = part.now, constant(m, "entry", self._cfg.window_entries)
        pinned = past(m, part.pinned.bit_select(entry, 1) & ~part.read.bit_select(entry, 1), "pinned")
        register = part.registers.as_value().word_select(entry, self._cfg.register_bits)
        touched = (part.stored | part.merged | part.then.free).bit_select(entry, 1) | part.clear
        owed = past(m, (now.dirty & now.owed).bit_select(entry, 1) & ~touched, "owed")
        leaving = past(m, (now.evicting & ~part.evicted).bit_select(entry, 1) & ~touched, "leaving")
        still = (now.evicting | (now.dirty & now.owed)).bit_select(entry, 1)
        same = register == past(m, register, "register")
        m.d.comb += [
            Assert(~pinned | same, "a pinned entry keeps its register"),
            Assert(~owed | (still & same), "an owed write stays or is offered to a bank"),
            Assert(~leaving | (now.evicting.bit_select(entry, 1) & same), "it is offered until a bank takes it"),
        ]

    def help(self, m, part, state):
        cfg, now = self._cfg, part.now
        m.d.comb += Assert(self.position < cfg.window, "a slot of the window")
        for slot, pins in enumerate(self.pins):
            distance = Mux(self.position > slot, self.position - slot, cfg.window + self.position - slot)
            for entry in self._entries:
                age = state(f"age{entry}")
                m.d.comb += Assert(~pins[entry] | (age <= distance), "used as late as its readers entered")
        for entry in self._entries:
            age = state(f"age{entry}")
            known = now.filling[entry] | now.clean[entry] | now.dirty[entry]
            count = sum(pins[entry] for pins in self.pins)
            m.d.comb += Assert(~known | ((age >= 1) & (age <= cfg.window)), "used within the window")
            m.d.comb += Assert(state(f"pins{entry}") == count, "one pin per beat")


def _proof(window: int, entries: int, writes: str, *, regress: bool = False) -> Proof:
    cfg = config(window=window, window_entries=entries, window_writes=writes)

    def wrong(**changes):
        return lambda: EntryProperties(Miswired(WindowEntries(cfg), **changes), cfg, helped=False)

    return Proof(
        "hdl.collectors.bow.entries.WindowEntries",
        f"of {entries} entries, {window} beats, {writes}",
        lambda: EntryProperties(WindowEntries(cfg), cfg),
        {
            "a stale entry is not pinned": wrong(hit=lambda hit: Const(0)),
            "a pinned entry keeps its register": wrong(stored=lambda stored: stored | 1),
        },
        reach=2 * window + 4,
        regress=regress,
    )


PROOFS = (_proof(3, 3, "hints"), _proof(3, 4, "through", regress=True), _proof(4, 5, "hints", regress=True))
