"""Proof of a caching collector unit: what it holds from result to result and from beat to beat."""

from amaranth import Cat, Mux, Signal
from amaranth.hdl import Assert, Assume, Cover

from tests.formal.collectors.malekeh.parts import ConfiguredProperties, config
from tests.formal.properties import Miswired, Proof, at_most_one, constant, past, some_order
from warpfile.hdl.collectors.malekeh.results import RESULT_EVENTS
from warpfile.hdl.collectors.malekeh.unit import CachingUnit


class UnitProperties(ConfiguredProperties):
    """Entries from result to result and from beat to beat, told of any one slot of a beat and any one register."""

    def check(self, m, part):
        cfg = self._cfg
        self.entries, self.slots, self.ports = range(cfg.unit_entries), range(cfg.source_slots), range(cfg.write_ports)
        self.empty = Cat(part.tags[entry].all() for entry in self.entries)
        self._promised(m, part)
        self._follow(m, part)
        self._entries(m, part)
        self._results(m, part)
        self._sources(m, part)
        m.d.comb += [
            Cover(part.allocate & part.dispatch & part.hit.any(), "a beat comes in the cycle in which one leaves"),
            Cover(part.place.any() & part.locked.any() & ~self.empty.any(), "a result replaces beside a locked entry"),
            Cover(
                self.held & self.found & self.came.any() & part.ready, "one source was there, one came from its bank"
            ),
        ]

    def _promised(self, m, part):
        """What allocator, banks and scoreboard see to."""
        some_order(m, part.lower, self._cfg.write_ports)
        m.d.comb += [
            Assume(part.own == (part.owned & (part.owner == part.beat.warp))),
            Assume(~part.busy | ~(part.vacate | (part.allocate & ~part.dispatch))),
            Assume(~part.vacate | (part.own & ~part.allocate)),
            Assume(~part.dispatch | part.ready),
            Assume(at_most_one(part.grant) & ((part.grant & ~part.request) == 0)),
        ]
        valid, near = part.beat.source_valid, self._cfg.hint_at("near_sources")
        known = Cat(part.next_valid, part.next_sources, part.next_hints)
        head = Cat(valid, part.beat.sources, part.beat.hints[near : near + self._cfg.source_slots])
        m.d.comb += [Assume((valid & (valid + 1)) == 0), Assume(~(part.allocate & part.own) | (known == head))]
        beat = [part.beat.sources[slot] for slot in self.slots]
        results = [part.registers[port] for port in self.ports]
        for number, register in enumerate(beat):
            both = part.beat.source_valid[number]
            m.d.comb += [Assume(~both | (register != other)) for other in beat[:number]]
        for port, register in enumerate(results):
            both = [part.mine[port] & part.mine[other] & (register == results[other]) for other in range(port)]
            read = [part.locked[entry] & (part.tags[entry] == register) for entry in self.entries]
            read += [part.allocate & part.own & (register == source) for source in beat]
            m.d.comb += [Assume(~same) for same in both]
            m.d.comb += [Assume(~(part.mine[port] & same)) for same in read]

    def _follow(self, m, part):
        """One slot of the beat that the unit holds, and for all slots which ones have their value."""
        count = self._cfg.source_slots
        self.slot = constant(m, "slot", count)
        for name in ("held", "found", "granted"):
            setattr(self, name, Signal(name=f"{name}_shadow"))
        for name in ("valid", "left", "came", "coming"):
            setattr(self, name, Signal(count, name=f"{name}_shadow"))
        self.register, self.payload = Signal(self._cfg.register_bits), Signal(self._cfg.payload_bits)
        m.d.comb += Assume(at_most_one(part.fill) & ((part.fill & ~self.coming) == 0))
        m.d.sync += [
            self.left.eq(self.left & ~part.fill),
            self.came.eq(self.came | part.fill),
            self.coming.eq((self.coming | part.grant) & ~part.fill),
            self.granted.eq(self.granted | part.grant.bit_select(self.slot, 1)),
        ]
        with m.If(part.dispatch):
            m.d.sync += self.held.eq(0)
        with m.If(part.allocate):
            m.d.sync += [
                *(self.held.eq(1), self.granted.eq(0), self.came.eq(0)),
                *(self.valid.eq(part.beat.source_valid), self.payload.eq(part.beat.payload)),
                self.left.eq(part.beat.source_valid & ~part.hit),
                self.found.eq(part.hit.bit_select(self.slot, 1)),
                self.register.eq(part.beat.sources.as_value().word_select(self.slot, self._cfg.register_bits)),
            ]

    def _entries(self, m, part):
        tags, count = part.tags, self._cfg.unit_entries
        pairs = [(a, b) for a in self.entries for b in range(a)]
        reads = Signal(count)
        m.d.comb += reads.eq(part.reads.word_select(self.slot, count))
        here = Cat(tags[entry] == self.register for entry in self.entries)
        followed = self.held & self.valid.bit_select(self.slot, 1)
        foreign, ended = past(m, part.allocate & ~part.own, "foreign"), past(m, part.vacate, "ended")
        m.d.comb += [Assert((tags[a] != tags[b]) | self.empty[a], "no two entries have one register") for a, b in pairs]
        m.d.comb += [
            Assert((part.near_entries & self.empty) == 0, "an empty entry is not near"),
            Assert((part.locked & self.empty) == 0, "an empty entry is not locked"),
            Assert(part.busy | ~part.locked.any(), "entries are locked for a beat only"),
            Assert(((part.place | part.invalidate) & part.locked) == 0, "a locked entry never gives way"),
            Assert(~followed | (reads & part.locked & here).any(), "a source's entry has its register till dispatch"),
            Assert(~foreign | ((~self.empty & ~part.locked) == 0), "a new owner finds no entry of the last one"),
            Assert(~ended | (self.empty.all() & ~part.owned), "a warp that ends leaves no entry"),
            Assert(part.empty == self.empty.all(), "a unit without registers is empty"),
        ]

    def _results(self, m, part):
        register, port = constant(m, "written", self._cfg.register_names), constant(m, "port", self._cfg.write_ports)
        mine = part.mine.bit_select(port, 1)
        same = part.registers.as_value().word_select(port, self._cfg.register_bits) == register
        entered = Mux(mine & same & part.winner.bit_select(port, 1), part.place, 0)
        before = past(m, entered, "entered")
        written = past(m, mine & same & ~(part.allocate & ~part.own), "written")
        now = Cat(part.tags[entry] == register for entry in self.entries)
        taken = past(m, part.allocate | part.vacate, "taken")
        m.d.comb += [
            Assert(~(part.allocate & part.place.any()), "no result enters a unit that takes a beat"),
            Assert(~written | ((now & ~before) == 0), "a written register is there only if the result entered"),
            Assert(
                ~written | ((before & ~now) == 0) | taken, "a result that enters is there until a beat takes its entry"
            ),
        ]
        for number in self.ports:
            events = Cat(getattr(part, f"result_{event}")[number] for event in RESULT_EVENTS)
            one = at_most_one(events) & (events.any() == part.mine[number])
            m.d.comb += Assert(one, "one reason for each result of the owner")

    def _sources(self, m, part):
        owns = part.own.replicate(self._cfg.unit_entries)
        for slot in self.slots:
            there = Cat(part.tags[entry] == part.beat.sources[slot] for entry in self.entries)
            wanted = part.allocate & part.beat.source_valid[slot]
            found = part.hit[slot] == (wanted & (there & owns).any())
            m.d.comb += Assert(found, "a source is a hit iff the warp's unit has its register")
            m.d.comb += Assert(part.miss[slot] == (wanted & ~part.hit[slot]), "otherwise it is a miss")
        slot, valid = self.slot, self.held & self.valid.bit_select(self.slot, 1)
        filled, asks = part.filled.bit_select(slot, 1), part.request.bit_select(slot, 1)
        m.d.comb += [
            Assert(filled == (valid & (self.found | self.came.bit_select(slot, 1))), "ready as a hit or with its data"),
            Assert(asks == (valid & ~self.found & ~self.granted), "a miss asks its bank until it is granted, once"),
            Assert(part.ready == (self.held & ~self.left.any()), "ready when all valid slots are"),
            Assert(part.busy == self.held, "busy from allocation to dispatch"),
            Assert(~self.held | (part.out.payload == self.payload), "the beat is held until its dispatch"),
        ]

    def help(self, m, part, state):
        count = self._cfg.unit_entries
        earlier = [sum(part.older[count * other + entry] for other in self.entries) for entry in self.entries]
        for number, rank in enumerate(earlier):
            m.d.comb += [Assert(rank != other, "ranks differ") for other in earlier[:number]]
        m.d.comb += [
            Assert(~part.request.any() | self.held, "no slot asks without a beat"),
            Assert((part.request & (self.coming | self.came | ~self.left)) == 0, "who asks has not been granted"),
            Assert((self.coming & ~self.left) == 0, "data come for slots that miss them"),
            Assert((self.left & ~self.valid) == 0, "only valid slots miss data"),
            Assert(self.held | ~self.left.any(), "a free unit misses nothing"),
            Assert(~self.held | (part.filled == (self.valid & ~self.left)), "filled as followed"),
            Assert(~self.held | (state("$signal") == self.valid), "valid as followed"),  # the one without a name
            Assert(part.owned | ~self.held, "a busy unit has an owner"),
            Assert(part.owned | self.empty.all(), "a unit without owner is empty"),
            Assert((self.left & ~self.coming & ~part.request) == 0, "what is missing is asked for or comes"),
        ]


def _unit(entries: int, slots: int, ports: int, *, regress: bool = False) -> Proof:
    cfg = config(unit_entries=entries, source_slots=slots, ports=ports)

    def wrong(**changes):
        return lambda: UnitProperties(Miswired(CachingUnit(cfg), **changes), cfg, helped=False)

    return Proof(
        "hdl.collectors.malekeh.unit.CachingUnit",
        f"of {entries} entries, {slots} slots, {ports} ports",
        lambda: UnitProperties(CachingUnit(cfg), cfg),
        {
            "a written register is there only if the result entered": wrong(registers=lambda names: names ^ 1),
            "no result enters a unit that takes a beat": wrong(place=lambda place: place | 1),
            "a new owner finds no entry of the last one": wrong(own=lambda own: own | 1),
        },
        reach=6,
        regress=regress,
    )


PROOFS = (_unit(4, 2, 1), _unit(4, 2, 3, regress=True))
