"""Proofs of the parts beside the banks: which results are alike, and that an expansion does its work and ends."""

from amaranth import Array, Cat, Module, Mux, Signal, Value
from amaranth.hdl import Assert, Assume, Cover

from tests.formal.collectors.malekeh.parts import ConfiguredProperties
from tests.formal.properties import Miswired, Proof, past
from warpfile.hdl.arbiter import highest_one, select
from warpfile.hdl.rf.scalar.alike import AlikeLanes
from warpfile.hdl.rf.scalar.expansion import Expansion
from warpfile.schemes import find
from warpfile.spec.schemes.scalar import IDLE, READS, WAITS, WRITES, ScalarConfig

WORD = 32


def configuration(**changes) -> ScalarConfig:
    """A small machine."""
    small = {"warps": 2, "lanes": 2, "register_names": 8, "rows": 8, "collectors": 1, "bank_skew": "none"}
    return find("scalar").configuration("tiny", **small | changes)


class AlikeProperties(ConfiguredProperties):
    """Any result of four lanes against the plain definition: all lanes have the word of the lowest one."""

    def check(self, m, part):
        lanes = [(part.mask[lane], part.values.word_select(lane, WORD)) for lane in range(self._cfg.lanes)]
        lowest: Value = lanes[0][1]
        for written, word in reversed(lanes):
            lowest = Mux(written, word, lowest)
        same = Cat(~written | (word == lowest) for written, word in lanes).all()
        m.d.comb += [
            Assert(part.alike == (part.mask.any() & same), "alike if all lanes have the word of the lowest one"),
            Assert(~part.alike | (part.word == lowest), "that word is given"),
            Cover(part.alike & (part.mask == 0b1100) & (part.word == 0x80000001), "the lowest lanes are not written"),
        ]


def _alike(**changes) -> AlikeProperties:
    cfg = configuration(lanes=4)
    return AlikeProperties(Miswired(AlikeLanes(cfg), **changes) if changes else AlikeLanes(cfg), cfg)


class ExpansionProperties(ConfiguredProperties):
    """Banks that keep their ports for one access before they serve the expansion, which goes first otherwise."""

    def check(self, m, part):
        cycles = self._cfg.bank_cycles
        asks, grants = part.engine_valid, part.engine_grant
        reads, writes = grants & ~part.engine_write, grants & part.engine_write
        self.waited, self.length = Signal(range(cycles + 1)), Signal(range(4 * cycles + 3))
        self.read = Signal(cycles)
        m.d.sync += [
            self.waited.eq(Mux(asks & ~grants, self.waited + 1, 0)),
            self.length.eq(Mux(part.phase == IDLE, 0, self.length + 1)),
            self.read.eq(Cat(reads, self.read)),
        ]
        kept, first = Signal(len(part.register)), highest_one(part.needs)
        with m.If((part.phase == IDLE) & part.needs.any()):
            m.d.sync += kept.eq(select(first, list(part.results)))
        m.d.comb += [
            Assume(~grants | asks),
            Assume(~asks | grants | (self.waited < cycles - 1)),
            Assume(part.engine_fill == self.read[-1]),
        ]
        self._say(m, part, reads, writes)
        m.d.comb += [
            Assert((part.phase == IDLE) | (part.register == kept), "the register is that of the highest port"),
            Assert((part.phase == IDLE) | (self.length < 3 * cycles), "an expansion ends"),
            Cover(writes & (self.length == 3 * cycles - 1), "one waits for both of its accesses"),
        ]

    def _say(self, m, part, reads, writes):
        before, word = past(m, part.phase, "phase"), Signal(WORD)
        with m.If(part.engine_fill):
            m.d.sync += word.eq(part.engine_read[0])
        follows = Array([IDLE, READS, WAITS, WRITES])[before + 1 & 3]
        written = Cat(lane == word for lane in part.engine_data).all()
        m.d.comb += [
            Assert((part.phase == before) | (part.phase == follows), "one phase comes after the other"),
            Assert((part.reads == reads) & (part.writes == writes), "what is granted is told"),
            Assert(~reads | (part.phase == READS) & part.engine_places[0].twin, "it reads a scalar bank"),
            Assert(~writes | (part.phase == WRITES) & ~part.engine_places[0].twin, "it writes the other bank"),
            Assert(~writes | written, "all lanes get the word that was read"),
        ]
        self.before, self.word = before, word

    def help(self, m, part, state):
        cycles, phase, read = self._cfg.bank_cycles, part.phase, self.read
        m.d.comb += [
            Assert(sum(read) == (phase == WAITS), "one read is under way"),
            Assert((phase != WRITES) | (state("word") == self.word), "the word is kept"),
            Assert((phase == READS) | (phase == WRITES) | (self.waited == 0), "only what asks waits"),
            Assert(self.waited < cycles, "it waits for one access"),
            Assert((phase != READS) | (self.length == self.waited), "since it asked"),
        ]
        for at in range(cycles):
            m.d.comb += Assert(~read[at] | (self.length <= cycles + at), "since it was granted")
        m.d.comb += Assert((phase != WRITES) | (self.length <= 2 * cycles + self.waited), "since it asked to write")


class Slow(Expansion):
    """It does not leave its last phase."""

    def elaborate(self, platform):
        """Its write is never granted."""
        m = super().elaborate(platform)
        with m.If(self.phase == WRITES):
            m.d.sync += self.phase.eq(WRITES)
        return m


def _expansion(kind=Expansion, cycles: int = 2, **changes) -> ExpansionProperties:
    cfg = configuration(bank_cycles=cycles)
    part = Miswired(kind(cfg), **changes) if changes else kind(cfg)
    return ExpansionProperties(part, cfg, helped=kind is Expansion and not changes)


class FirstLane(Expansion):
    """It writes the word to lane 0 alone."""

    def elaborate(self, platform) -> Module:
        """The others get nothing."""
        m = super().elaborate(platform)
        m.d.comb += [lane.eq(0) for lane in list(self.engine_data)[1:]]
        return m


PROOFS = (
    Proof(
        "hdl.rf.scalar.alike.AlikeLanes",
        "4 lanes",
        _alike,
        {
            "alike if all lanes have the word of the lowest one": lambda: _alike(mask=lambda value: value | 1),
            "that word is given": lambda: _alike(word=lambda value: value | 1),
        },
    ),
    *(
        Proof(
            "hdl.rf.scalar.expansion.Expansion",
            f"banks of {cycles} cycles",
            lambda cycles=cycles: _expansion(cycles=cycles),
            wrong,
            reach=3 * cycles + 4,
        )
        for cycles, wrong in (
            (1, {}),
            (
                2,
                {
                    "an expansion ends": lambda: _expansion(Slow),
                    "all lanes get the word that was read": lambda: _expansion(FirstLane),
                    "the register is that of the highest port": lambda: _expansion(needs=lambda value: value & 1),
                    "it reads a scalar bank": lambda: _expansion(engine_places=lambda value: value & 0),
                    "what is granted is told": lambda: _expansion(reads=lambda value: value & 0),
                },
            ),
        )
    ),
)
