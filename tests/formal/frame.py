"""Proofs of the frame's parts: instruction buffer, barrier and warp schedulers."""

from amaranth import Cat, Const, Module, Signal
from amaranth.asserts import AnySeq
from amaranth.hdl import Assert, Assume, Cover

from tests.formal.properties import (
    Fairness,
    Miswired,
    Proof,
    Properties,
    at_most_one,
    choice,
    constant,
    past,
    transitive,
)
from warpfile.hdl.barrier import Barrier
from warpfile.hdl.buffer import InstructionBuffer
from warpfile.hdl.scheduler.policy import Gto, Lrr
from warpfile.spec.config import Config

CFG = Config(warps=5, ctas=3, lanes=1, register_names=16, source_slots=2, collectors=3, payload_bits=16)


class BufferProperties(Properties):
    """A queue, followed by the fate of any one beat from its push to its pop."""

    def __init__(self, part, *, depth, helped=True):
        super().__init__(part, helped=helped)
        self._depth = depth

    def check(self, m, part):
        count = self.count = Signal(range(self._depth + 1))
        taken = part.push & part.ready
        m.d.sync += count.eq(count + taken - part.pop)
        m.d.comb += Assume(~part.pop | (count != 0))
        self._follow(m, part, count, taken)
        first = self.tracked & (self.ahead == 0)
        m.d.comb += [
            Assert(part.ready == (count < self._depth), "ready is room for one more"),
            Assert(part.valid == (count != 0), "a head is valid while beats are held"),
            Assert(~self.tracked | part.valid, "no beat is lost"),
            Assert(~first | (part.head.as_value() == self.kept), "beats come in order and unchanged"),
        ]
        full = Signal()
        m.d.sync += full.eq(full | (count == self._depth))
        m.d.comb += [
            Cover(first & part.pop & full & (self.kept != 0), "a beat goes through a buffer that was full"),
            Cover(part.push & ~part.ready & part.pop, "a beat is sent to a full buffer, and refused"),
        ]

    def _follow(self, m: Module, part, count, taken) -> None:
        """Whether the marked beat is held, how many are ahead of it, and what it was."""
        self.tracked, self.ahead, self.kept = (
            Signal(),
            Signal(range(self._depth + 1)),
            Signal(len(part.beat.as_value())),
        )
        mark = Signal()
        m.d.comb += mark.eq(AnySeq(1))
        with m.If(self.tracked & part.pop):
            m.d.sync += [self.tracked.eq(self.ahead != 0), self.ahead.eq(self.ahead - 1)]
        with m.Elif(~self.tracked & taken & mark):
            m.d.sync += [self.tracked.eq(1), self.ahead.eq(count - part.pop), self.kept.eq(part.beat)]

    def help(self, m, part, state):
        m.d.comb += [
            Assert(self.count <= self._depth, "there is room for all"),
            Assert(~self.tracked | (self.ahead < self.count), "the followed beat is one of those held"),
        ]
        for index in range(self._depth):
            m.d.comb += Assert(state(f"valid{index}") == (self.count > index), "entries are filled from the front")
            here = self.tracked & (self.ahead == index)
            m.d.comb += Assert(~here | (state(f"entry{index}") == self.kept), "the followed beat is in its entry")


class BarrierProperties(Properties):
    """Arrival and release of any one warp, among warps that come, wait and go."""

    def check(self, m, part):
        warps = range(CFG.warps)
        resident, waiting = past(m, part.resident, "resident"), past(m, part.waiting, "waiting")
        arrived = past(m, part.arrive, "arrive")
        ctas = [past(m, part.cta[warp], f"cta{warp}") for warp in warps]
        m.d.comb += [
            Assume(at_most_one(part.arrive)),
            Assume((part.arrive & ~(part.resident & ~part.waiting)) == 0),
            *(Assume(part.cta[warp] < CFG.cta_slots) for warp in warps),
            # A warp that waits or just arrived does not exit, and no warp that stays changes its CTA.
            Assume(((waiting | arrived) & ~part.resident) == 0),
            *(Assume(~(resident[warp] & part.resident[warp]) | (part.cta[warp] == ctas[warp])) for warp in warps),
        ]
        any_release = Const(0)
        for warp in warps:
            missing = Cat(resident[other] & (ctas[other] == ctas[warp]) & ~waiting[other] for other in warps).any()
            released = waiting[warp] & ~part.waiting[warp]
            m.d.comb += [
                Assert(~released | ~missing, "no warp is released while a member of the CTA is missing"),
                Assert(~(waiting[warp] & ~missing) | released, "a complete CTA is released at once"),
                Assert(
                    (part.waiting[warp] & ~waiting[warp]) == (arrived[warp] & ~waiting[warp]),
                    "a warp that arrives waits",
                ),
            ]
            any_release |= released & Cat(waiting[other] & (ctas[other] != ctas[warp]) for other in warps).any()
        m.d.comb += [
            Assert((part.waiting & ~part.resident) == 0, "only resident warps wait"),
            Cover(any_release & (resident == 31), "one CTA is released while another one waits"),
        ]


class GreedyProperties(Properties):
    """Greedy, then oldest, told of any two warps."""

    def check(self, m, part):
        choice(m, part.eligible, part.grant)
        m.d.comb += [
            Assume(at_most_one(part.launch)),
            Assume(~part.taken | part.grant.any()),
            Assume((part.exit & ~(part.grant & part.taken.replicate(len(part.grant)))) == 0),
        ]
        warp, other = self.warp, self.other = constant(m, "warp", CFG.warps), constant(m, "other", CFG.warps)
        self._history(m, part)
        granted = part.grant.bit_select(warp, 1)
        rival = part.eligible.bit_select(other, 1) & self.launched.all() & self.other_first & (warp != other)
        m.d.comb += [
            Assume(self.launched[0] | ~part.eligible.bit_select(warp, 1)),
            Assume(self.launched[1] | ~part.eligible.bit_select(other, 1)),
            Assert(~(self.issued_last & part.eligible.bit_select(warp, 1)) | granted, "the last issuer goes first"),
            Assert(~(granted & rival) | self.issued_last, "otherwise no older warp is passed over"),
            Cover(granted & rival & part.eligible.all(), "a younger warp stays because it issued last"),
            Cover(granted & ~rival & part.eligible.all() & self.launched.all() & (warp > other), "the oldest is taken"),
        ]

    def _history(self, m, part):
        self.launched, self.other_first, self.issued_last = Signal(2), Signal(), Signal()
        with m.If(part.launch.bit_select(self.warp, 1)):
            m.d.sync += [self.launched[0].eq(1), self.other_first.eq(1)]
        with m.If(part.launch.bit_select(self.other, 1)):
            m.d.sync += [self.launched[1].eq(1), self.other_first.eq(0)]
        with m.If(part.taken):
            m.d.sync += self.issued_last.eq((part.grant & ~part.exit).bit_select(self.warp, 1))

    def help(self, m, part, state):
        count, last, older = CFG.warps, state("last"), state("ages", "older")
        m.d.comb += Assert(at_most_one(last), "one warp issued last")
        m.d.comb += Assert(last.bit_select(self.warp, 1) == self.issued_last, "the last issuer is remembered")
        index = Signal(range(count**2))
        m.d.comb += index.eq(self.other * count + self.warp)
        known = self.launched.all() & (self.warp != self.other)
        m.d.comb += Assert(~known | (older.bit_select(index, 1) == self.other_first), "the order of launch is kept")
        m.d.comb += [Assert(holds, "age is transitive") for holds in transitive(older, count)]


class TurnProperties(Properties):
    """Loose round robin: everybody who stays eligible has a turn."""

    def check(self, m, part):
        choice(m, part.eligible, part.grant)
        self.fair = Fairness(m, part.eligible, part.grant, part.taken)
        m.d.comb += Cover(self.fair.passed == CFG.warps - 1, "every other warp goes first")

    def help(self, m, part, state):
        self.fair.help(m, state("arbiter", "above"))


def _buffer(depth: int, *, regress: bool = False) -> Proof:
    def queue():
        return InstructionBuffer(CFG.replace(buffer_depth=depth))

    def wrong(**changes):
        return lambda: BufferProperties(Miswired(queue(), **changes), depth=depth, helped=False)

    return Proof(
        "hdl.buffer.InstructionBuffer",
        f"of {depth}",
        lambda: BufferProperties(queue(), depth=depth),
        {
            "beats come in order and unchanged": wrong(head=lambda head: head & ~1),
            "no beat is lost": wrong(push=lambda push: push & AnySeq(1)),
            "ready is room for one more": wrong(ready=lambda ready: ready | AnySeq(1)),
        },
        reach=2 * depth + 4,
        regress=regress,
    )


def _barrier() -> Proof:
    def wrong(**changes):
        return lambda: BarrierProperties(Miswired(Barrier(CFG), **changes), helped=False)

    return Proof(
        "hdl.barrier.Barrier",
        "of 5 warps, 3 CTAs",
        lambda: BarrierProperties(Barrier(CFG)),
        {
            "no warp is released while a member of the CTA is missing": wrong(resident=lambda resident: resident & ~1),
            "a complete CTA is released at once": wrong(cta=lambda cta: cta & ~1),
        },
    )


def _scheduler(policy, properties, changes) -> Proof:
    def wrong(change):
        return lambda: properties(Miswired(policy(CFG), **change), helped=False)

    return Proof(
        f"hdl.scheduler.policy.{policy.__name__}",
        "of 5 warps",
        lambda: properties(policy(CFG)),
        {message: wrong(change) for message, change in changes.items()},
        reach=12,
    )


_GREEDY = {
    "the last issuer goes first": {"taken": lambda taken: Const(0)},
    "otherwise no older warp is passed over": {"launch": lambda launch: launch & ~1},
}
_TURN = {"a requester waits for at most count - 1 others": {"taken": lambda taken: Const(0)}}

PROOFS = (
    _buffer(2),
    *(_buffer(depth, regress=True) for depth in (1, 3, 4)),
    _barrier(),
    _scheduler(Gto, GreedyProperties, _GREEDY),
    _scheduler(Lrr, TurnProperties, _TURN),
)
