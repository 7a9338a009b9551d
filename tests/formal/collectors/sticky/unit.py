"""Proof of a unit whose near slots wait for results and keep their operands."""

from unittest import mock

from amaranth import Cat, Const, Mux, Signal
from amaranth.hdl import Assert, Assume, Cover

from tests.formal.collectors.malekeh.parts import ConfiguredProperties
from tests.formal.collectors.sticky.parts import configuration
from tests.formal.properties import Miswired, Proof, at_most_one, constant
from tests.hdl.unstamped import inside
from warpfile.hdl.collectors.sticky import unit
from warpfile.hdl.collectors.sticky.unit import StickyUnit

_READY = "ready when every slot has its operand and older units have left"


class UnitProperties(ConfiguredProperties):
    """A beat from its allocation to its dispatch: of every slot whether it hit, awaits, was granted, has its data."""

    def elaborate(self, platform):
        """The slots are in one tree."""
        with mock.patch.object(unit, "stamp", inside):
            return super().elaborate(platform)

    def check(self, m, part):
        cfg = self._cfg
        m.d.comb += [
            Assume(~(part.follows & part.occupied) | part.dispatch),
            Assume(part.follows | ~part.allocate),
            Assume(~part.dispatch | part.ready),
            Assume((part.grant & ~part.request) == 0),
        ]
        self._offer(m, part)
        self._follow(m, part)
        near, slot = cfg.near_slots, constant(m, "slot", cfg.near_slots)
        register = part.registers.as_value().word_select(slot, cfg.register_bits)
        named_as = (part.out.warp == part.result_warp) & (register == part.result_register)
        result = part.arrives & named_as
        waits = self.awaits.bit_select(slot, 1)
        followed = self.held & self.valid.bit_select(slot, 1)
        m.d.comb += [
            Assert(part.occupied == self.held, "a unit is occupied from its allocation to its dispatch"),
            Assert(part.awaiting == self.awaits, "a slot awaits from its allocation to its result"),
            Assert(part.forward.bit_select(slot, 1) == (waits & result), "a slot that awaits takes the next result"),
            Assert(
                part.awaited.bit_select(slot, 1) == (waits & part.shows & named_as),
                "and its word from when it is shown",
            ),
            Assert((part.request & Cat(self.awaits, Const(0, cfg.source_slots - near))) == 0, "it asks no bank"),
            Assert(part.request.any() == self.asks.any(), "a unit asks as long as a slot has to"),
            Assert((part.request & ~self.asks) == 0, "a slot that hit or was granted asks for nothing"),
            Assert(part.ready == (self.held & ~self.lacks.any() & ~self.after.any()), _READY),
            Assert(part.uncollected == self.unread, "a slot that awaits has yet to be read, one that hit was read"),
            Assert(~followed | (register == self._of(self.sources, slot)), "a slot's name is its source"),
            Assert(~self.held | (part.out.warp == self.warp), "the beat is held until its dispatch"),
            Cover(part.forward.all() & part.arrives, "all near slots take one result"),
            Cover((part.forward != 0) & part.fill.any(), "a result and a row come in one cycle"),
        ]
        if cfg.keeps_operands:
            m.d.comb += Cover(part.allocate & part.dispatch & self.hit.any() & part.expects.any(), "a hit and a wait")
        if cfg.collect == "lowest":
            m.d.comb += Assert(at_most_one(part.request), "one slot asks at a time")

    def _of(self, registers, slot):
        return registers.word_select(slot, self._cfg.register_bits)

    def _offer(self, m, part):
        """The beat that comes: what it finds is what its slots say; a source that hits awaits nothing."""
        near = self._cfg.near_slots
        valid = part.beat.source_valid
        self.hit = Signal(near)
        if self._cfg.keeps_operands:
            m.d.comb += self.hit.eq(part.hit)
        m.d.comb += [
            Assume(part.beat.warp < self._cfg.warps),
            Assume(((part.expects | self.hit) & ~valid[:near]) == 0),
            Assume((part.expects & self.hit) == 0),
        ]

    def _follow(self, m, part):
        """The same from what comes in, apart from the unit's own state."""
        cfg = self._cfg
        slots, near = cfg.source_slots, cfg.near_slots
        names = {"held": 1, "valid": slots, "unread": slots, "lacks": slots, "due": slots, "awaits": near}
        for name, width in names.items():
            setattr(self, name, Signal(width, name=f"{name}_shadow"))
        self.sources = Signal(slots * cfg.register_bits, name="sources_shadow")
        self.warp = Signal(cfg.warp_bits, name="warp_shadow")
        self.after = Signal(cfg.collectors, name="after_shadow")
        m.d.comb += Assume((part.fill & ~self.due) == 0)
        hits, forward = (Cat(some, Const(0, slots - near)) for some in (self.hit, part.forward))
        waits = Cat(self.awaits, Const(0, slots - near))
        self.asks = Signal(slots, name="asks_shadow")
        m.d.comb += self.asks.eq(self.unread & ~waits)
        needed = part.beat.source_valid & ~hits
        m.d.sync += [
            self.held.eq(Mux(part.allocate, 1, self.held & ~part.dispatch)),
            self.unread.eq(Mux(part.allocate, needed, self.unread & ~part.grant & ~forward)),
            self.lacks.eq(Mux(part.allocate, needed, self.lacks & ~part.fill & ~forward)),
            self.due.eq((self.due | part.grant) & ~part.fill),
            self.after.eq(Mux(part.allocate, part.wait_for, self.after & ~part.leaving)),
            self.awaits.eq(Mux(part.allocate, part.expects, self.awaits & ~part.forward)),
        ]
        with m.If(part.allocate):
            m.d.sync += [
                self.valid.eq(part.beat.source_valid),
                self.sources.eq(part.beat.sources.as_value()),
                self.warp.eq(part.beat.warp),
            ]

    def help(self, m, part, state):
        slots, near = self._cfg.source_slots, self._cfg.near_slots
        waits = Cat(self.awaits, Const(0, slots - near))
        m.d.comb += [
            Assert(state("missing") == self.lacks, "slots that miss data are those without an operand"),
            Assert(state("waits") == self.after, "the units that it waits for"),
            Assert((self.due & ~(self.lacks & ~self.unread)) == 0, "data come for slots that were granted"),
            Assert((self.lacks & ~self.unread & ~self.due) == 0, "a slot that was granted has data coming"),
            Assert((waits & ~(self.unread & self.lacks)) == 0, "a slot that awaits lacks its operand"),
            Assert((self.unread & ~self.lacks) == 0, "what has yet to be read is lacking"),
            Assert((self.lacks & ~self.valid) == 0, "only sources are"),
            Assert(self.held | ~self.lacks.any(), "a free unit lacks nothing"),
        ]


def _proof(size: str, broken: dict, *, regress: bool = False, **changes) -> Proof:
    cfg = configuration(**changes)

    def wrong(change):
        return lambda: UnitProperties(Miswired(StickyUnit(cfg), **change), cfg, helped=False)

    return Proof(
        "hdl.collectors.sticky.unit.StickyUnit",
        size,
        lambda: UnitProperties(StickyUnit(cfg), cfg),
        {message: wrong(change) for message, change in broken.items()},
        regress=regress,
    )


_ALL = {
    "a slot awaits from its allocation to its result": {"expects": lambda slots: slots & ~1},
    "a slot that awaits takes the next result": {"result_register": lambda register: register & ~1},
    "and its word from when it is shown": {"shows": lambda bit: bit & 0},
    "it asks no bank": {"request": lambda slots: slots | 1},
    "a slot that hit or was granted asks for nothing": {"grant": lambda slots: slots & ~1},
    _READY: {"fill": lambda slots: slots & ~1},
    "a slot's name is its source": {"allocate": lambda bit: bit & 0},
}

PROOFS = (
    _proof("of 3 slots, collect all", _ALL, collect="all"),
    _proof("of 3 slots, collect lowest", {}, collect="lowest"),
    _proof("of 4 slots, collect all", {}, collect="all", source_slots=4, regress=True),
    _proof("of 3 slots, keep_operands none", {}, collect="lowest", keep_operands="none"),
)
