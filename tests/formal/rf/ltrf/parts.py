"""Proofs of the parts of ltrf: what a bank of the cache and a main bank promise each other."""

from amaranth import Const, Module, Signal, Value
from amaranth.hdl import Assert, Assume, Cover

from tests.formal.collectors.malekeh.parts import ConfiguredProperties
from tests.formal.properties import Fairness, Miswired, Proof, at_most_one, past
from warpfile.hdl.rf.ltrf.fills import Fills
from warpfile.hdl.rf.ltrf.main_side import MainSide
from warpfile.hdl.rf.ltrf.write_backs import PATIENCE, WriteBacks
from warpfile.spec.schemes.ltrf import (
    BACK_ASK,
    BACK_BEATS,
    BACK_IDLE,
    BACK_LOAD,
    FILLING,
    FREE,
    FULL,
    LtrfConfig,
)


def config(**changes) -> LtrfConfig:
    """A small machine with eight register names and four banks in the cache."""
    small = {"warps": 2, "lanes": 1, "ports": 1, "write_back_ports": 1, "banks": 2, "rows": 8, "register_names": 8}
    small |= {"payload_bits": 16, "collectors": 2, "source_slots": 1, "scheduler": "two_level", "resume": "all"}
    small |= {"active_warps": 1, "interval_registers": 4, "bank_cycles": 2, "crossbar_beats": 2}
    return LtrfConfig(**LtrfConfig.adapted(small | changes))


def ones(bits: Value) -> Value:
    """How many bits are set."""
    return sum(bits)


def delayed(m: Module, value: Value, name: str, cycles: int) -> Value:
    """What a value was so many cycles ago."""
    for cycle in range(cycles):
        value = past(m, value, f"{name}{cycle}")
    return value


class MainSideProperties(ConfiguredProperties):
    """Any requests; beats to the latch come only while it fills, and a parked result starts only if it is free."""

    def check(self, m, part):
        cfg = self._cfg
        filling = part.latch == FILLING
        m.d.comb += [
            Assume(at_most_one(part.senders)),
            Assume(~part.senders.any() | filling),
            Assume(~part.last | part.senders.any()),
            Assume(~part.parking | part.free),
            Assume(~part.parked | filling),
        ]
        filled, saved = Signal(), Signal()
        m.d.comb += [filled.eq(part.fill_grant.any()), saved.eq(part.back_grant.any())]
        self._grants(m, part, saved)
        self._accesses(m, part, filled)
        was = past(m, part.latch, "latch")
        starts, ends = past(m, saved | part.parking, "starts"), past(m, part.last, "last")
        written = past(m, part.written, "written")
        moves = {FREE: (starts, FILLING), FILLING: (ends, FULL), FULL: (written, FREE)}
        for state, (leaves, following) in moves.items():
            after = (leaves & (part.latch == following)) | (~leaves & (part.latch == state))
            m.d.comb += Assert((was != state) | after, f"what follows state {state} of the latch")
        m.d.comb += [
            Assert(part.read == past(m, filled, "filled"), "a bank is read in the cycle after a grant"),
            Assert(part.write == written, "a bank is written in the cycle after its latch was full and it idle"),
            Assert(~part.written | (was == FULL) | ends, "only a full latch is written"),
            Cover(part.written & past(m, part.busy, "busy"), "a write directly behind an access"),
            Cover(part.beat[-1] & part.beat.any() & part.read, "a fill starts while another one passes"),
        ]
        arriving = delayed(m, part.fill_grant, "granted", cfg.bank_cycles + 1)
        first = part.beat[0]
        m.d.comb += [
            Assert(first == arriving.any(), "beats begin when the row has been read"),
            Assert(~first | (part.receiver == arriving), "they go to the bank of the cache that asked"),
            Assert(at_most_one(part.beat) & at_most_one(part.receiver), "one beat of one fill passes"),
            Assert(part.beat.any() == part.receiver.any(), "every beat has a receiver"),
        ]

    def _grants(self, m, part, saved) -> None:
        """Who may be granted."""
        wanted = Signal(len(part.fills))
        asked = Signal(len(part.fills))
        m.d.comb += [wanted.eq(part.fills & part.ready), asked.eq(part.backs)]
        self.turn = Signal()
        with m.If(saved | part.parking):
            m.d.sync += self.turn.eq(1)
        with m.Elif(part.fill_grant.any()):
            m.d.sync += self.turn.eq(0)
        m.d.comb += [
            Assert(at_most_one(part.fill_grant) & at_most_one(part.back_grant), "one fill, one write-back in a cycle"),
            Assert((part.fill_grant & ~wanted) == 0, "only a fill that asks is granted"),
            Assert((part.back_grant & ~asked) == 0, "only a write-back that asks is granted"),
            Assert(~part.fill_grant.any() | (part.latch != FULL), "a fill waits for a full latch"),
            Assert(~part.fill_grant.any() | ~part.parked, "and for a parked result in work"),
            Assert(~saved | part.free, "a write-back needs a free latch"),
            Assert(~(saved & part.parking), "a parked result goes before write-backs"),
            Assert(~(saved & self.turn & part.fills.any()), "one write at a time while a fill asks"),
            Cover(saved & part.fill_grant.any(), "both are granted"),
        ]
        self.fair = Fairness(m, part.fills & part.ready, part.fill_grant, part.fill_grant.any())

    def _accesses(self, m, part, filled) -> None:
        """Accesses are as far apart as they take."""
        cycles = self._cfg.bank_cycles
        self.since = Signal(range(cycles + 1), init=cycles)
        access = part.read | part.write
        with m.If(access):
            m.d.sync += self.since.eq(1)
        with m.Elif(self.since != cycles):
            m.d.sync += self.since.eq(self.since + 1)
        m.d.comb += [
            Assert(~(part.read & part.write), "a bank has one port"),
            Assert(~access | (self.since == cycles), "an access takes its cycles"),
        ]

    def help(self, m, part, state):
        cfg = self._cfg
        array, output = state("array"), state("output")
        m.d.comb += [
            Assert(part.latch <= FULL, "there are three states"),
            Assert(array < cfg.bank_cycles, "it counts no more than it takes"),
            Assert(output < cfg.crossbar_beats, "likewise beats"),
            Assert(state("turn") == self.turn, "the turn is that of the last grant"),
        ]
        self.fair.help(m, state("fill_turns", "above"))


class FillsProperties(ConfiguredProperties):
    """A register comes to a place only if none is on its way to it; grants and ends as main banks give them."""

    def check(self, m, part):
        cfg = self._cfg
        place = Signal(range(cfg.active_warps))
        m.d.comb += place.eq(part.last_place)
        self.inside = Signal(cfg.active_warps)  # fills that main banks have
        granted = (Const(1, cfg.active_warps) << part.place)[: cfg.active_warps]
        m.d.comb += [
            Assume((part.enters & part.valid) == 0),
            Assume(~part.granted | part.ready),
            Assume(~part.last | self.inside.bit_select(place, 1)),
        ]
        took = Signal(cfg.active_warps)
        m.d.comb += took.eq(granted & part.granted.replicate(cfg.active_warps))
        left = (Const(1, cfg.active_warps) << place)[: cfg.active_warps] & part.last.replicate(cfg.active_warps)
        m.d.sync += self.inside.eq((self.inside | took) & ~left)
        since = Signal(range(cfg.crossbar_beats + 1), init=cfg.crossbar_beats)
        self.since = since
        with m.If(part.granted):
            m.d.sync += since.eq(1)
        with m.Elif(since != cfg.crossbar_beats):
            m.d.sync += since.eq(since + 1)
        asked, could = past(m, part.asked, "asked"), past(m, part.able & ~part.blocked, "could")
        new = Signal(cfg.active_warps)
        m.d.comb += new.eq(part.asked & ~asked)
        before = past(m, part.asks, "asks")
        m.d.comb += [
            Assert((part.asked & ~part.valid) == 0, "a place that is picked has a register to come"),
            Assert((new & ~could) == 0, "a fill is picked only behind the write-back, for a bank that is free soon"),
            Assert(at_most_one(new), "one is picked"),
            Assert(~before | (new == 0), "and none while another one asks"),
            Assert(~part.ready | part.asks, "only a request is ready"),
            Assert(~part.ready | (since == cfg.crossbar_beats), "the fill before has its beats"),
            Assert(~part.asks | (part.asked & ~self.inside).bit_select(part.place, 1), "a request is of a picked fill"),
            Assert(~part.stores | part.valid.bit_select(part.row, 1), "only a fill that is under way is stored"),
            Assert(part.stores == past(m, part.last, "last"), "behind its last beat"),
            Cover((part.valid == (1 << cfg.active_warps) - 1) & part.asks & part.stores, "all are under way"),
        ]

    def help(self, m, part, state):
        ended = (Const(1, self._cfg.active_warps) << part.row)[: self._cfg.active_warps]
        storing = ended & part.stores.replicate(self._cfg.active_warps)
        requested = (Const(1, self._cfg.active_warps) << part.place)[: self._cfg.active_warps]
        asking = requested & part.asks.replicate(self._cfg.active_warps)
        together = ones(self.inside) + part.stores + part.asks
        m.d.comb += [
            Assert(part.asked == (self.inside | storing | asking), "a picked fill asks, is inside or is stored"),
            Assert(together == ones(part.asked), "one of them"),
            Assert((state("input") == 0) | (state("input") + self.since == self._cfg.crossbar_beats), "beats"),
            Assert((state("input") != 0) | (self.since == self._cfg.crossbar_beats), "all of them"),
        ]


class WriteBackProperties(ConfiguredProperties):
    """A channel that is served while it reads, and granted while it asks."""

    def check(self, m, part):
        cfg, places = self._cfg, self._cfg.active_warps
        m.d.comb += [
            Assume(~part.served | part.reads),
            Assume(~part.granted | part.asks),
            Assume((part.leaves & part.valid) == 0),
        ]
        was, served = past(m, part.phase, "phase"), past(m, part.served, "served")
        granted, picked = past(m, part.granted, "granted"), past(m, part.valid.any(), "valid")
        self.beat, self.lost = Signal(range(cfg.crossbar_beats + 1)), Signal(range(PATIENCE + 1))
        with m.If(part.granted):
            m.d.sync += self.beat.eq(1)
        with m.Elif(self.beat.any()):
            m.d.sync += self.beat.eq(Value.cast((self.beat + 1) * (self.beat != cfg.crossbar_beats))[: len(self.beat)])
        with m.If(part.pick):
            m.d.sync += self.lost.eq(0)
        with m.Elif(part.reads & ~part.served & (self.lost != PATIENCE)):
            m.d.sync += self.lost.eq(self.lost + 1)
        ended = past(m, self.beat == cfg.crossbar_beats, "ended")
        follows = {
            BACK_IDLE: (picked, BACK_LOAD),
            BACK_LOAD: (served, BACK_ASK),
            BACK_ASK: (granted, BACK_BEATS),
            BACK_BEATS: (ended, BACK_IDLE),
        }
        for phase, (leaves, following) in follows.items():
            after = (leaves & (part.phase == following)) | (~leaves & (part.phase == phase))
            m.d.comb += Assert((was != phase) | after, f"what follows phase {phase}")
        place = (Const(1, places) << part.place)[:places]
        gone = past(m, part.valid, "directory") & ~part.valid
        m.d.comb += [
            Assert((part.beat == 0) == (self.beat == 0), "beats pass behind a grant"),
            Assert((self.beat == 0) | (part.beat << 1 == (1 << self.beat)[: len(part.beat) + 1]), "in their order"),
            Assert(part.latches == served, "the staging register takes what was read"),
            Assert(gone == past(m, place, "place") & served.replicate(places), "a register that was read is saved"),
            Assert(~part.reads | (part.valid & part.place_used).any(), "a register that is read has to be saved"),
            Assert(part.place_used.any() == (part.phase != BACK_IDLE), "it works for its place until it is idle"),
            Assert(~part.reads | (part.first == (self.lost == PATIENCE)), "a place that lost eight times goes first"),
            Cover(part.first & part.served, "it goes first"),
            Cover((part.phase == BACK_IDLE) & (was == BACK_BEATS), "a write-back ends"),
        ]

    def help(self, m, part, state):
        m.d.comb += [
            Assert((part.phase == BACK_BEATS) == (self.beat != 0), "beats have their phase"),
            Assert(self.beat <= self._cfg.crossbar_beats, "no more than there are"),
            Assert((part.phase == BACK_IDLE) | (state("lost") == self.lost), "it counts what it loses"),
            Assert(self.lost <= PATIENCE, "up to eight"),
            Assert(part.place < self._cfg.active_warps, "a place"),
        ]


def proof(block, size, part, properties, cfg, wrong, others=(), **numbers) -> Proof:
    return Proof(
        f"hdl.rf.ltrf.{block}",
        size,
        lambda: properties(part(cfg), cfg),
        {
            text: lambda changes=changes: properties(Miswired(part(cfg), **changes), cfg, helped=False)
            for text, changes in wrong.items()
        }
        | {text: lambda other=other: properties(other(cfg), cfg, helped=False) for text, other in dict(others).items()},
        **numbers,
    )


_MAIN = {
    "a fill waits for a full latch": {"latch": lambda value: value | FULL},
    "and for a parked result in work": {"parked": lambda value: value & 0},
    "one write at a time while a fill asks": {"fills": lambda value: value & 0},
    "a parked result goes before write-backs": {"parking": lambda value: value & 0},
    "only a fill that asks is granted": {"ready": lambda value: ~(value & 0)},
    "they go to the bank of the cache that asked": {"receiver": lambda value: value.rotate_left(1)},
    "an access takes its cycles": {"write": lambda value: ~value},
    "what follows state 1 of the latch": {"last": lambda value: value & 0},
}
_FILLS = {
    "a fill is picked only behind the write-back, for a bank that is free soon": {"blocked": lambda value: value & 0},
    "the fill before has its beats": {"granted": lambda value: value & 0},
    "behind its last beat": {"stores": lambda value: ~value},
    "a place that is picked has a register to come": {"asked": lambda value: value | 1},
}
_BACKS = {
    "what follows phase 1": {"served": lambda value: value & 0},
    "what follows phase 2": {"granted": lambda value: value & 0},
    "in their order": {"beat": lambda value: value.rotate_left(1)},
    "the staging register takes what was read": {"latches": lambda value: ~value},
    "a register that was read is saved": {"valid": lambda value: value & 1},
    "a place that lost eight times goes first": {"first": lambda value: value & 0},
}
PROOFS = (
    proof(
        "main_side",
        "4 banks, 2 cycles, 2 beats",
        MainSide,
        MainSideProperties,
        config(active_warps=2),
        _MAIN,
        depth=5,
        reach=14,
    ),
    proof(
        "main_side",
        "4 banks, 3 cycles, 1 beat",
        MainSide,
        MainSideProperties,
        config(active_warps=2, bank_cycles=3, crossbar_beats=1),
        {},
        depth=6,
        reach=14,
    ),
    proof(
        "fills",
        "2 places, 2 beats",
        Fills,
        FillsProperties,
        config(active_warps=2),
        _FILLS,
        depth=2,
        reach=12,
    ),
    proof(
        "write_backs",
        "2 places, 2 beats",
        WriteBacks,
        WriteBackProperties,
        config(active_warps=2),
        _BACKS,
        depth=2,
        reach=16,
    ),
)
