"""Proof of the collector unit's control."""

from amaranth import Cat, Const, Mux, Signal
from amaranth.asserts import AnySeq
from amaranth.hdl import Assert, Assume, Cover

from tests.formal.properties import Miswired, Proof, Properties, at_most_one, constant
from warpfile.hdl.collectors.units.unit import CollectorUnit
from warpfile.spec.config import Config
from warpfile.spec.schemes.shrf import ShrfConfig

CFG = Config(warps=2, lanes=1, collectors=3, source_slots=3, register_names=8, banks=2, rows=4, payload_bits=16)


class UnitProperties(Properties):
    """A beat from its allocation to its dispatch, told of any one slot and any one older unit."""

    def __init__(self, part, cfg, *, helped=True):
        super().__init__(part, helped=helped)
        self._cfg = cfg

    def check(self, m, part):
        m.d.comb += [
            Assume(~(part.follows & part.occupied) | part.dispatch),
            Assume(part.follows | ~part.allocate),
            Assume(~part.dispatch | part.ready),
            Assume((part.grant & ~part.request) == 0),
        ]
        self._near(m, part)
        slot = self.slot = constant(m, "slot", self._cfg.source_slots)
        unit = self.unit = constant(m, "unit", self._cfg.collectors)
        self._slots(m, part)
        self._follow(m, part, slot, unit)
        asked = part.request.bit_select(slot, 1)
        m.d.comb += [
            Assert(part.occupied == self.held, "a unit is occupied from its allocation to its dispatch"),
            Assert(~asked | (self.held & self.valid & ~self.granted), "a slot is granted at most once per beat"),
            Assert(~part.ready | self.held, "only an occupied unit is ready"),
            Assert(~(part.ready & self.valid) | self.filled, "ready only when all valid slots are filled"),
            Assert(~(part.ready & self.awaited), "ready only when no older unit is awaited"),
            Assert(~self.held | (part.out.payload == self.payload), "the beat is held until its dispatch"),
            Cover(part.ready & self.granted & (self.beats == 1) & (self.payload != 0), "the second beat is ready"),
            Cover(part.allocate & part.dispatch & self.valid, "a beat comes in the cycle in which one leaves"),
        ]
        if self._cfg.collect == "lowest":
            m.d.comb += Assert(at_most_one(part.request), "one slot asks at a time")

    def _near(self, m, part):
        """What the file says of sources, and a shadow of the slots that are read near: those of the cycle before."""
        self.reading, self.bringing = Const(0, self._cfg.source_slots), Const(0, self._cfg.source_slots)
        if self._cfg.gives.near_bits:
            self.reading = Signal(self._cfg.source_slots, name="reading_shadow")
            m.d.comb += Assume((part.near & ~part.beat.source_valid) == 0)
            m.d.sync += self.reading.eq(Mux(part.allocate, part.near, 0))
            m.d.comb += [
                Assert(part.unread == self.reading, "near slots are read in the cycle after the allocation"),
                Assert((part.request & self.reading) == 0, "a near slot asks no bank"),
                Cover(self.reading.any() & part.request.any(), "a beat has near sources and others"),
            ]
        if self._cfg.gives.brings:
            self.bringing = part.bringing
            m.d.comb += [
                Assume((part.bring & (part.near | ~part.beat.source_valid)) == 0),
                Assume((part.turn & ~part.bringing) == 0),
                Assert((part.request & part.bringing) == part.turn, "of the slots that bring one in its turn asks"),
                Cover(part.bringing.any() & ~part.turn.any(), "a slot that brings waits for its turn"),
            ]

    def _slots(self, m, part):
        """Fills come for slots that were granted and not filled; a shadow of all slots says which those are."""
        self.left, self.coming = Signal(self._cfg.source_slots), Signal(self._cfg.source_slots)
        self.beats = Signal()
        m.d.comb += Assume((part.fill & ~self.coming) == 0)
        m.d.sync += [
            self.left.eq(self.left & ~part.fill & ~self.reading),
            self.coming.eq((self.coming | part.grant) & ~part.fill),
        ]
        with m.If(part.allocate):
            m.d.sync += self.left.eq(part.beat.source_valid)
        with m.If(part.dispatch):
            m.d.sync += self.beats.eq(1)
        self.older = Signal(self._cfg.collectors)
        m.d.sync += self.older.eq(self.older & ~part.leaving)
        with m.If(part.allocate):
            m.d.sync += self.older.eq(part.wait_for)
        complete = part.occupied & (self.left == 0) & (self.older == 0)
        m.d.comb += Assert(part.ready | ~complete, "ready at once when all is there")
        waiting = Cat(self.left & ~self.coming & ~self.reading).any() & part.occupied
        m.d.comb += Assert(
            (part.request | self.bringing).any() == waiting, "a unit asks as long as a slot is not granted"
        )

    def _follow(self, m, part, slot, unit):
        for name in ("held", "valid", "granted", "filled", "awaited"):
            setattr(self, name, Signal(name=f"{name}_shadow"))
        self.payload = Signal(self._cfg.payload_bits)
        m.d.sync += [
            self.granted.eq(self.granted | (part.grant | self.reading).bit_select(slot, 1)),
            self.filled.eq(self.filled | (part.fill | self.reading).bit_select(slot, 1)),
            self.awaited.eq(self.awaited & ~part.leaving.bit_select(unit, 1)),
        ]
        with m.If(part.dispatch):
            m.d.sync += self.held.eq(0)
        with m.If(part.allocate):
            m.d.sync += [self.held.eq(1), self.granted.eq(0), self.filled.eq(0), self.payload.eq(part.beat.payload)]
            m.d.sync += self.valid.eq(part.beat.source_valid.bit_select(slot, 1))
            m.d.sync += self.awaited.eq(part.wait_for.bit_select(unit, 1))

    def help(self, m, part, state):
        missing, waits, slot = state("missing"), state("waits"), self.slot
        m.d.comb += [
            Assert(missing == self.left, "slots that miss data are those not filled"),
            Assert(waits == self.older, "awaited units are those not left"),
            Assert(self.awaited == waits.bit_select(self.unit, 1), "the followed unit is one of them"),
            Assert(part.uncollected == (missing & ~self.coming), "uncollected slots are those not granted"),
            Assert((self.coming & ~missing) == 0, "data come for slots that miss them"),
            Assert((self.reading & ~(part.uncollected & missing)) == 0, "near slots are neither granted nor filled"),
            Assert(~self.held | self.valid | ~missing.bit_select(slot, 1), "only valid slots miss data"),
            Assert(part.occupied | ~missing.any(), "a free unit misses nothing"),
            Assert(~self.held | (self.granted == (self.valid & ~part.uncollected.bit_select(slot, 1))), "once granted"),
            Assert(~self.held | (self.filled == (self.valid & ~missing.bit_select(slot, 1))), "once filled"),
        ]


def _proof(
    collect: str, wrong: dict, *, slots: int = 3, near: str = "", cfg: Config = CFG, regress: bool = False
) -> Proof:
    cfg = cfg.replace(collect=collect, source_slots=slots)

    def broken(change):
        return lambda: UnitProperties(Miswired(CollectorUnit(cfg), **change), cfg, helped=False)

    return Proof(
        "hdl.collectors.units.unit.CollectorUnit",
        f"of {slots} slots, collect {collect}{near}",
        lambda: UnitProperties(CollectorUnit(cfg), cfg),
        {message: broken(change) for message, change in wrong.items()},
        regress=regress,
    )


_LOWEST = {
    "a slot is granted at most once per beat": {"grant": lambda grant: grant & ~1},
    "ready only when no older unit is awaited": {"wait_for": lambda units: units & ~1},
}
_HELD = {"the beat is held until its dispatch": {"follows": lambda follows: follows & AnySeq(1)}}
_ALL = {"ready only when all valid slots are filled": {"fill": lambda fill: fill | 1}}

_NEAR = {
    "near slots are read in the cycle after the allocation": {"near": lambda slots: slots & ~1},
    "a near slot asks no bank": {"request": lambda slots: slots | 1},
    "of the slots that bring one in its turn asks": {"turn": lambda slots: slots & ~1},
}
_LEVELS = {"scheduler": "two_level", "suspend": "strands", "resume": "all"}
_BRINGS = ShrfConfig(**CFG.to_json() | _LEVELS)

PROOFS = (
    _proof("lowest", _LOWEST | _HELD),
    _proof("all", _ALL),
    _proof("all", _ALL, slots=8, regress=True),
    _proof("lowest", {}, near=", sources near and copied", cfg=_BRINGS),
    _proof("all", _NEAR, near=", sources near and copied", cfg=_BRINGS),
)
