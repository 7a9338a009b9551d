"""Proofs of the arbiters: fixed priority, round robin, oldest first, and the choice for a port."""

from collections.abc import Callable

from amaranth import Const, Module, Mux, Signal, Value
from amaranth.asserts import AnySeq
from amaranth.hdl import Assert, Assume, Cover
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tests.formal.properties import (
    Fairness,
    Miswired,
    Proof,
    Properties,
    at_most_one,
    choice,
    constant,
    passed_over,
    past,
    some_order,
    transitive,
)
from warpfile.hdl.arbiter import Ages, RoundRobin, highest_one, lowest_one, oldest_one, prefix_or
from warpfile.hdl.collectors.dispatch import DispatchArbiter
from warpfile.spec.config import Config


class FixedPriorities(wiring.Component):
    """The functions of bits as one part."""

    def __init__(self, width: int, **functions: Callable[[Value], Value]) -> None:
        self._functions = functions
        super().__init__({"bits": In(width), **{name: Out(width) for name in functions}})

    def elaborate(self, platform) -> Module:
        """Each function of the same bits."""
        m = Module()
        m.d.comb += [getattr(self, name).eq(function(self.bits)) for name, function in self._functions.items()]
        return m


class PriorityProperties(Properties):
    """The choices of the lowest and of the highest set bit, and the OR of all bits up to each."""

    def check(self, m, part):
        bits, width = part.bits, len(part.bits)
        bit = constant(m, "bit", width)
        choice(m, bits, part.lowest)
        choice(m, bits, part.highest)
        up_to = (bits & ((2 << bit) - 1)).any()
        m.d.comb += [
            Assert((bits & (part.lowest - 1)[:width]) == 0, "no bit below the lowest is set"),
            Assert(~bits.any() | (bits < (part.highest << 1)), "no bit above the highest is set"),
            Assert(part.prefix.bit_select(bit, 1) == up_to, "each bit is the OR of all up to it"),
            Cover(part.lowest[-1] & part.highest[-1], "only the last bit is set"),
            Cover(part.highest[0] & part.prefix.all(), "the first bit reaches the last"),
        ]


class RoundRobinProperties(Properties):
    """One of the requesters, each in its turn."""

    def check(self, m, part):
        choice(m, part.requests, part.grant)
        self.fair = Fairness(m, part.requests, part.grant, part.taken)
        m.d.comb += Cover(self.fair.passed == len(part.requests) - 1, "every other request is served first")

    def help(self, m, part, state):
        self.fair.help(m, state("above"))


class OthersProperties(Properties):
    """One of the requesters, each in its turn; if there is none, one of the others by the same pointer."""

    def check(self, m, part):
        count = len(part.requests)
        choice(m, Mux(part.requests.any(), part.requests, part.others), part.grant)
        self.fair = Fairness(m, part.requests, part.grant, part.taken)
        self.after = Signal(count)
        with m.If(part.taken):
            m.d.sync += self.after.eq(-(part.grant << 1))
        near, free = part.others & self.after, ~part.requests.any()
        first = Mux(near.any(), near & -near, part.others & -part.others)
        m.d.comb += [
            Assert(~free | (part.grant == first[:count]), "of the others the first at or after the pointer"),
            Cover(free & near.any() & (part.grant != (part.others & -part.others)[:count]), "not the lowest of them"),
        ]

    def help(self, m, part, state):
        self.fair.help(m, state("above"))
        m.d.comb += Assert(state("above") == self.after, "the pointer is behind the last that was served")


class OrderProperties(Properties):
    """The triangle of ages, and the choice of the oldest requester by it."""

    choose = staticmethod(oldest_one)

    def check(self, m, part):
        count = len(part.arrive)
        m.d.comb += Assume(at_most_one(part.arrive))
        self._order(m, count, lambda first, second: part.older[first * count + second])
        self._arrivals(m, count)
        requests, grant = Signal(count), Signal(count)
        m.d.comb += [requests.eq(AnySeq(count)), grant.eq(self.choose(requests, part.older))]
        choice(m, requests, grant)
        older = passed_over(requests, grant, part.older)
        m.d.comb += Assert(~older, "no older requester is passed over")
        m.d.comb += Cover(grant[0] & requests.all() & part.arrive[0], "the first place is the oldest of all")
        m.d.comb += Cover(grant[-1] & requests.all(), "the last place is the oldest of all")

    def _order(self, m, count, older):
        for first in range(count):
            m.d.comb += Assert(~older(first, first), "no place is older than itself")
            for second in range(first):
                m.d.comb += Assert(older(first, second) != older(second, first), "of two places one is older")
        m.d.comb += [Assert(holds, "age is transitive") for holds in transitive(self.part.older, count)]

    def _arrivals(self, m, count):
        """Of any two places that were taken, the one whose last arrival is longer ago is older."""
        first, second = constant(m, "first", count), constant(m, "second", count)
        arrived, later = Signal(2), Signal()
        arrive = self.part.arrive
        with m.If(arrive.bit_select(first, 1)):
            m.d.sync += [arrived[0].eq(1), later.eq(1)]
        with m.Elif(arrive.bit_select(second, 1)):
            m.d.sync += [arrived[1].eq(1), later.eq(0)]
        older = self.part.older.bit_select((first * count + second)[: (count**2 - 1).bit_length()], 1)
        known = arrived.all() & (first != second)
        m.d.comb += Assert(~known | (older == ~later), "older has the requests that arrived longer ago")


class LowestInstead(OrderProperties):
    """Takes the lowest requester, whatever its age."""

    choose = staticmethod(lambda requests, older: lowest_one(requests))


class DispatchProperties(Properties):
    """The unit that a port takes: a choice that stays until it is taken."""

    def __init__(self, part, *, oldest, helped=True):
        super().__init__(part, helped=helped)
        self._oldest = oldest

    def check(self, m, part):
        choice(m, part.ready, part.chosen)
        m.d.comb += Assume(~part.taken | part.chosen.any())
        if self._oldest:
            self._by_age(m, part)
            return
        self.fair = Fairness(m, part.ready, part.chosen, part.taken)
        same = past(m, ~part.taken, "free") & (past(m, part.ready, "ready") == part.ready)
        stays = past(m, part.chosen, "chosen") == part.chosen
        m.d.comb += [
            Assert(~same | stays, "a unit stays presented until it is taken"),
            Cover(self.fair.passed == len(part.ready) - 1, "every other unit leaves first"),
            Cover(same & stays & part.ready.all(), "a choice is repeated"),
        ]

    def _by_age(self, m, part):
        some_order(m, part.older, len(part.ready))
        older = passed_over(part.ready, part.chosen, part.older)
        m.d.comb += Assert(~older, "no older unit is passed over")
        m.d.comb += Cover(part.chosen[-1] & part.ready.all(), "the last unit is the oldest")

    def help(self, m, part, state):
        if not self._oldest:
            self.fair.help(m, state("round_robin", "above"))


def _both_lowest(grant: Value) -> Value:
    """A second bit beside the first."""
    return Mux(grant[0], grant | 2, grant)


def _round_robin(count: int, *, regress: bool = False) -> Proof:
    def wrong(**changes):
        return lambda: RoundRobinProperties(Miswired(RoundRobin(count), **changes), helped=False)

    return Proof(
        "hdl.arbiter.RoundRobin",
        f"of {count}",
        lambda: RoundRobinProperties(RoundRobin(count)),
        {
            "a requester waits for at most count - 1 others": wrong(taken=lambda taken: Const(0)),
            "the grant is one-hot": wrong(grant=_both_lowest),
            "a request is granted if there is one": wrong(requests=lambda requests: requests[:-1]),
        },
        reach=count + 3,
        regress=regress,
    )


def _others(count: int) -> Proof:
    def wrong(**changes):
        return lambda: OthersProperties(Miswired(RoundRobin(count, others=True), **changes), helped=False)

    return Proof(
        "hdl.arbiter.RoundRobin",
        f"of {count}, with others",
        lambda: OthersProperties(RoundRobin(count, others=True)),
        {
            "only a requester is granted": wrong(requests=lambda requests: requests[:-1]),
            "a request is granted if there is one": wrong(others=lambda others: others[:-1]),
            "of the others the first at or after the pointer": wrong(taken=lambda taken: Const(0)),
        },
        reach=count + 3,
    )


def _ages(count: int, *, regress: bool = False) -> Proof:
    def deaf():
        return Miswired(Ages(count), arrive=lambda arrive: arrive & ~2)

    def cyclic():
        return Miswired(Ages(count), older=lambda older: older ^ (1 << 2) ^ (1 << (2 * count)))

    return Proof(
        "hdl.arbiter.Ages",
        f"of {count}, oldest_one",
        lambda: OrderProperties(Ages(count)),
        {
            "no older requester is passed over": lambda: LowestInstead(Ages(count), helped=False),
            "older has the requests that arrived longer ago": lambda: OrderProperties(deaf(), helped=False),
            "age is transitive": lambda: OrderProperties(cyclic(), helped=False),
        },
        reach=count + 2,
        regress=regress,
    )


def _priorities() -> Proof:
    right = {"lowest": lowest_one, "highest": highest_one, "prefix": prefix_or}

    def wrong(**changes):
        return lambda: PriorityProperties(FixedPriorities(9, **(right | changes)))

    return Proof(
        "hdl.arbiter.lowest_one",
        "of 9, highest_one, prefix_or",
        lambda: PriorityProperties(FixedPriorities(9, **right)),
        {
            "no bit below the lowest is set": wrong(lowest=highest_one),
            "no bit above the highest is set": wrong(highest=lowest_one),
            "each bit is the OR of all up to it": wrong(prefix=lambda bits: bits | bits << 1),
        },
        reach=2,
    )


def _dispatch(arbitration: str) -> Proof:
    cfg = Config(collectors=5, dispatch_arbitration=arbitration)
    oldest = arbitration == "oldest"

    def wrong(**changes):
        return lambda: DispatchProperties(Miswired(DispatchArbiter(cfg), **changes), oldest=oldest, helped=False)

    by_age = {"no older unit is passed over": wrong(older=lambda older: Const(0))}
    by_turn = {
        "a requester waits for at most count - 1 others": wrong(taken=lambda taken: Const(0)),
        "a unit stays presented until it is taken": wrong(taken=lambda taken: Const(1)),
    }
    return Proof(
        "hdl.collectors.dispatch.DispatchArbiter",
        f"of 5, {arbitration}",
        lambda: DispatchProperties(DispatchArbiter(cfg), oldest=oldest),
        by_age if oldest else by_turn,
    )


PROOFS = (
    _priorities(),
    _round_robin(5),
    _round_robin(16, regress=True),
    _others(5),
    _ages(5),
    _ages(8, regress=True),
    _dispatch("round_robin"),
    _dispatch("oldest"),
)
