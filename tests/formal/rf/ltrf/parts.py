"""Proofs of the parts of ltrf: free banks, who starts a transfer, what a channel does with it."""

from amaranth import Cat, Const, Signal, Value
from amaranth.hdl import Assert, Assume, Cover

from tests.formal.collectors.malekeh.parts import ConfiguredProperties
from tests.formal.properties import Fairness, Miswired, Proof, at_most_one, past
from warpfile.hdl.arbiter import any_of
from warpfile.hdl.rf.ltrf.channel import PATIENCE, Channel
from warpfile.hdl.rf.ltrf.free_banks import FreeBanks
from warpfile.hdl.rf.ltrf.transfers import TransferArbiter
from warpfile.spec.schemes.ltrf import BEATS, IDLE, LATCH, LOAD, MAIN, STORE, LtrfConfig


def config(**changes) -> LtrfConfig:
    """A small machine with eight register names and four banks in the cache."""
    small = {"warps": 2, "lanes": 1, "ports": 1, "write_back_ports": 1, "banks": 2, "rows": 8, "register_names": 8}
    small |= {"payload_bits": 16, "collectors": 2, "source_slots": 1, "scheduler": "two_level", "resume": "all"}
    small |= {"active_warps": 1, "interval_registers": 4, "bank_cycles": 2, "crossbar_beats": 2}
    return LtrfConfig(**LtrfConfig.adapted(small | changes))


def ones(bits: Value) -> Value:
    """How many bits are set."""
    return sum(bits)


class FreeBankProperties(ConfiguredProperties):
    """Banks are given and taken, one in a cycle, also such as nobody should give or take."""

    def check(self, m, part):
        banks = range(self._cfg.interval_registers)
        free = Signal(range(len(banks) + 1))
        m.d.comb += [free.eq(len(banks) - ones(part.occupied)), Assume(~(part.give & part.take))]
        for bank in banks:
            held = [(number < free) & (entry == bank) for number, entry in enumerate(part.free)]
            m.d.comb += [
                Assert(
                    any_of(held) == ~part.occupied[bank], "a bank is free or occupied, and every bank is one of both"
                ),
                Assert(ones(held) <= 1, "a bank is free once"),
            ]
        beyond = any_of((number >= free) & entry.any() for number, entry in enumerate(part.free))
        last, given = (
            past(m, free, "free", init=len(banks)),
            past(m, part.give & part.occupied.bit_select(part.bank, 1), "given"),
        )
        taken, bank = past(m, part.take & (free != 0), "taken"), past(m, part.bank, "bank")
        m.d.comb += [
            Assert(~beyond, "nothing stands behind the free banks"),
            Assert(free == last + given - taken, "one comes or leaves"),
            Assert(
                ~given | (Cat(part.free).word_select((free - 1)[: len(part.bank)], len(part.bank)) == bank),
                "it comes last",
            ),
            Cover((free == len(banks)) & (part.first == 3), "all are free, in another order"),
            Cover(part.take & (free == 0), "one is wanted and none is free"),
        ]


class ArbiterProperties(ConfiguredProperties):
    """Any candidates, channels and main banks."""

    def check(self, m, part):
        fits = []
        for valid, candidate in zip(part.valid, part.candidates, strict=True):
            taken = (part.busy | part.parking).bit_select(candidate.place.bank, 1)
            fits.append(valid & part.idle.bit_select(candidate.bank, 1) & ~taken)
        wanted = Signal(len(fits))
        m.d.comb += wanted.eq(Cat(fits))
        self.fair = Fairness(m, wanted, part.grant, part.grant.any())
        m.d.comb += [
            Assert(at_most_one(part.grant), "one transfer starts in a cycle"),
            Assert((part.grant & ~wanted) == 0, "only one that fits starts"),
            Assert(part.grant.any() == wanted.any(), "one starts if any fits"),
            Assert(part.unfit == part.valid & ~wanted, "who does not fit is known"),
            Cover(self.fair.passed == len(fits) - 1, "every other place is served first"),
            Cover(part.parking.any() & part.unfit.any() & part.grant.any(), "a parked result is in the way of one"),
        ]

    def help(self, m, part, state):
        self.fair.help(m, state("round_robin", "above"))


class ChannelProperties(ConfiguredProperties):
    """A channel that is started while it is idle, and served while it asks."""

    def check(self, m, part):
        cfg = self._cfg
        self.back, self.cycle, self.lost = Signal(), Signal(4), Signal(4)
        self.was, start = past(m, part.phase, "phase"), part.start & (part.phase == IDLE)
        asks, served = part.reads | part.writes, past(m, part.served, "served")
        m.d.comb += [Assume(~part.start | (part.phase == IDLE)), Assume(~part.served | asks)]
        with m.If(start):
            m.d.sync += [self.back.eq(part.back), self.lost.eq(0)]
        with m.Elif(asks & ~part.served & (self.lost != PATIENCE)):
            m.d.sync += self.lost.eq(self.lost + 1)
        leaves = Signal()
        lasts = {MAIN: cfg.bank_cycles, BEATS: cfg.crossbar_beats, LATCH: 1}
        m.d.comb += leaves.eq(any_of((part.phase == phase) & (self.cycle == last - 1) for phase, last in lasts.items()))
        m.d.sync += self.cycle.eq(self.cycle + 1)
        with m.If(leaves | start | part.served | (part.phase == IDLE)):
            m.d.sync += self.cycle.eq(0)
        self._phases(m, part, served, past(m, leaves, "leaves"), past(m, start, "start"))
        idle = part.phase == IDLE
        used = part.main_used.any() | part.main_read | part.beat.any() | asks | part.latches | part.place_used.any()
        m.d.comb += [
            Assert(~idle | ~used, "an idle channel does nothing"),
            Assert(part.beat.any() == (part.phase == BEATS), "beats pass in their phase"),
            Assert(~part.beat.any() | (part.beat == (1 << self.cycle)[: len(part.beat)]), "they pass in order"),
            Assert(~part.main_read | (part.fills & (part.phase == MAIN) & (self.cycle == 0)), "a fill reads at first"),
            Assert(
                part.main_used.any() == (~idle & (part.phase != STORE)), "its main bank is its own until it is done"
            ),
            Assert(at_most_one(part.main_used) & at_most_one(part.place_used), "it has one main bank and one place"),
            Assert(part.place_used.any() == ~idle, "it works for its place until it is idle"),
            Assert(~asks | (part.first == (self.lost == PATIENCE)), "who lost eight times goes first"),
            Cover(idle & (self.was == MAIN), "a write-back ends"),
            Cover(idle & (self.was == STORE), "a fill ends"),
            Cover(part.first & part.served, "it goes first"),
        ]

    def _phases(self, m, part, served, left, started) -> None:
        """Which phase comes after which."""
        follows = {
            IDLE: ((started, self.back, LOAD), (started, ~self.back, MAIN)),
            MAIN: ((left, self.back, IDLE), (left, ~self.back, BEATS)),
            BEATS: ((left, self.back, MAIN), (left, ~self.back, STORE)),
            STORE: ((served, Const(1, 1), IDLE),),
            LOAD: ((served, Const(1, 1), LATCH),),
            LATCH: ((left, Const(1, 1), BEATS),),
        }
        for phase, ways in follows.items():
            moves = any_of(when & kind & (part.phase == following) for when, kind, following in ways)
            stays = (part.phase == phase) & ~any_of(when for when, _, _ in ways)
            text = f"what follows phase {phase}"
            m.d.comb += Assert((self.was != phase) | moves | stays, text)

    def help(self, m, part, state):
        cfg = self._cfg
        phase, cycle = part.phase, state("cycle")
        lasting = (phase == MAIN) | (phase == BEATS)
        longest = {MAIN: cfg.bank_cycles, BEATS: cfg.crossbar_beats, LATCH: 1}
        m.d.comb += [
            Assert(phase <= LATCH, "there are six phases"),
            Assert((phase == IDLE) | (part.fills == ~self.back), "its direction is that of its transfer"),
            Assert(~lasting | (cycle == self.cycle), "it counts its cycles"),
            Assert(lasting | (cycle == 0), "from zero on"),
            Assert((phase == IDLE) | ((phase != STORE) | ~self.back), "a fill stores"),
            Assert((phase == IDLE) | (((phase != LOAD) & (phase != LATCH)) | self.back), "a write-back loads"),
            Assert((phase == IDLE) | (state("lost") == self.lost), "it counts what it loses"),
            Assert(self.lost <= PATIENCE, "up to eight"),
            *(
                Assert((phase != which) | (self.cycle < last), "no longer than it lasts")
                for which, last in longest.items()
            ),
        ]


def _proof(block: str, size: str, part, properties, cfg, wrong: dict, reach: int = 8, depth: int = 1) -> Proof:
    return Proof(
        f"hdl.rf.ltrf.{block}",
        size,
        lambda: properties(part(cfg), cfg),
        {
            text: lambda changes=changes: properties(Miswired(part(cfg), **changes), cfg, helped=False)
            for text, changes in wrong.items()
        },
        depth=depth,
        reach=reach,
    )


PROOFS = (
    _proof(
        "free_banks",
        "4 banks",
        FreeBanks,
        FreeBankProperties,
        config(),
        {
            "a bank is free or occupied, and every bank is one of both": {"occupied": lambda value: value ^ 2},
            "a bank is free once": {"free": lambda value: Cat(value[:2], value[:2], value[4:])},
            "it comes last": {"bank": lambda value: value ^ 1},
            "one comes or leaves": {"take": lambda value: value & 0},
        },
        reach=10,
    ),
    _proof(
        "transfers",
        "arbiter of 4 places",
        TransferArbiter,
        ArbiterProperties,
        config(active_warps=4, warps=4),
        {
            "only one that fits starts": {"parking": lambda value: value & 0},
            "one starts if any fits": {"idle": lambda value: value & ~1},
            "one transfer starts in a cycle": {"grant": lambda value: value | value << 1},
            "who does not fit is known": {"busy": lambda value: value | 1},
        },
        reach=6,
    ),
    _proof(
        "channel",
        "2 cycles, 2 beats",
        Channel,
        ChannelProperties,
        config(active_warps=2),
        {
            "an idle channel does nothing": {"latches": lambda value: ~value},
            "who lost eight times goes first": {"served": lambda value: value & 0},
            "its main bank is its own until it is done": {"main_used": lambda value: value & 1},
            "a fill reads at first": {"main_read": lambda value: ~value},
            "what follows phase 0": {"back": lambda value: ~value},
            "they pass in order": {"beat": lambda value: value.rotate_left(1)},
        },
        reach=16,
    ),
)
