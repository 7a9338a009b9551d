"""Properties around a part: the common frame, ways to look inside it and to break it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from amaranth import Cat, Elaboratable, Module, Signal, Value
from amaranth.asserts import AnyConst, AnySeq
from amaranth.hdl import Assert, Assume, Fragment
from amaranth.lib import wiring
from amaranth.lib.wiring import In


class Properties(Elaboratable):
    """A part whose inputs are free in every cycle, with assumptions, assertions and covers about it.

    Subclasses state them in :meth:`check`. An induction also needs to know which states of the part exist; that is
    asserted, and so proven too, in :meth:`help`. ``helped`` is off for parts that are broken on purpose: their state
    is no matter of the contract.
    """

    def __init__(self, part: wiring.Component, *, helped: bool = True) -> None:
        self.part, self.helped = part, helped

    def elaborate(self, platform: object) -> Module:
        """The part with free inputs, then the properties."""
        m = Module()
        fragment = Fragment.get(self.part, platform)
        m.submodules.part = fragment
        for _, member, port in self.part.signature.flatten(self.part):
            if member.flow is In:
                bits = Value.cast(port)
                m.d.comb += bits.eq(AnySeq(len(bits)))
        self.check(m, self.part)
        if self.helped:
            self.help(m, self.part, lambda *path: inside(fragment, *path))
        return m

    def check(self, m: Module, part: wiring.Component) -> None:
        """What the part promises, what it is promised, and what must be reachable."""
        raise NotImplementedError

    def help(self, m: Module, part: wiring.Component, state: Callable[..., Signal]) -> None:
        """Invariants of the part's own registers; ``state(submodule, ..., name)`` finds one."""


def inside(fragment: Fragment, *path: str) -> Signal:
    """Signal that a part, or its submodule of that path, drives. Raises ``LookupError``."""
    *parts, name = path
    for part in parts:
        fragment = fragment.find_subfragment(part)
    driven = [signal for domain in fragment.statements.values() for each in domain for signal in each._lhs_signals()]
    for signal in driven:
        if signal.name == name:
            return signal
    raise LookupError(f"{'.'.join(path)} must be one of {', '.join(sorted({signal.name for signal in driven}))}")


class Miswired(wiring.Component):
    """A part with other values on some of its wires: what arrives at an input, or what leaves an output."""

    def __init__(self, part: wiring.Component, **changes: Callable[[Value], Value]) -> None:
        self._part, self._changes = part, changes
        super().__init__(part.signature)

    def elaborate(self, platform: object) -> Module:
        """All wires straight through but the changed ones."""
        m = Module()
        m.submodules.part = self._part
        for name, member in self.signature.members.items():
            outer, inner = Value.cast(getattr(self, name)), Value.cast(getattr(self._part, name))
            change = self._changes.get(name, lambda value: value)
            m.d.comb += inner.eq(change(outer)) if member.flow is In else outer.eq(change(inner))
        return m


@dataclass(frozen=True)
class Proof:
    """One proof: of which block, how far, and how it would fail.

    ``depth`` is the k of the induction; covers are reached within ``reach`` cycles. ``wrong`` maps an assertion to a
    part that must break it within ``reach`` cycles. ``regress`` leaves the proof to the long regression.
    """

    block: str
    size: str
    properties: Callable[[], Properties]
    wrong: Mapping[str, Callable[[], Properties]] = field(repr=False)
    depth: int = 1
    reach: int = 8
    regress: bool = False

    @property
    def name(self) -> str:
        """Block and size, for a test's name."""
        return f"{self.block.removeprefix('hdl.')} {self.size}".replace(" ", "_")


def constant(m: Module, name: str, count: int) -> Signal:
    """A number below ``count`` that stays the same but may be any: what holds for it holds for all."""
    number = Signal(range(max(2, count)), name=name)
    m.d.comb += [number.eq(AnyConst(len(number))), Assume(number < count)]
    return number


def at_most_one(bits: Value) -> Value:
    """No two bits are set."""
    return (bits & (bits - 1)[: len(bits)]) == 0


def past(m: Module, value: Value, name: str, init: int = 0) -> Signal:
    """What a value was one cycle ago."""
    held = Signal(len(value), name=f"past_{name}", init=init)
    m.d.sync += held.eq(value)
    return held


def choice(m: Module, requests: Value, grant: Value) -> None:
    """A choice of one among requests in the same cycle."""
    m.d.comb += [
        Assert(at_most_one(grant), "the grant is one-hot"),
        Assert((grant & ~requests) == 0, "only a requester is granted"),
        Assert(grant.any() == requests.any(), "a request is granted if there is one"),
    ]


def transitive(older: Value, count: int) -> list[Value]:
    """Per triple of places: who is older than an older one is older. Bit ``count * a + b``: a is older than b."""
    triples = itertools.permutations(range(count), 3)
    return [~older[count * a + b] | ~older[count * b + c] | older[count * a + c] for a, b, c in triples]


def some_order(m: Module, older: Value, count: int) -> None:
    """Assume that the bits are the ages of places, whatever they may be."""
    m.d.comb += [Assume(~older[count * place + place]) for place in range(count)]
    m.d.comb += [
        Assume(older[count * a + b] != older[count * b + a]) for a, b in itertools.combinations(range(count), 2)
    ]
    m.d.comb += [Assume(holds) for holds in transitive(older, count)]


def passed_over(requests: Value, grant: Value, older: Value) -> Value:
    """Somebody asks who is older than the one who is granted."""
    count = len(requests)
    pairs = itertools.permutations(range(count), 2)
    return Cat(requests[other] & grant[place] & older[count * other + place] for other, place in pairs).any()


class Fairness:
    """Bounded waiting in a round robin among ``requests``: any one requester, and who was served before it."""

    def __init__(self, m: Module, requests: Value, grant: Value, taken: Value) -> None:
        count = len(requests)
        self._last = count - 1
        self.who = constant(m, "who", count)
        self.passed = Signal(range(2 * count))
        with m.If(~requests.bit_select(self.who, 1) | (taken & grant.bit_select(self.who, 1))):
            m.d.sync += self.passed.eq(0)
        with m.Elif(taken & grant.any()):
            m.d.sync += self.passed.eq(self.passed + 1)
        m.d.comb += Assert(self.passed <= self._last, "a requester waits for at most count - 1 others")

    def help(self, m: Module, above: Signal) -> None:
        """The pointer is a thermometer, and who waited has come closer to it by every grant."""
        count = self._last + 1
        nearer = [above[index] & (index < self.who) for index in range(count)]
        distance = Signal(range(2 * count))
        with m.If(above.bit_select(self.who, 1)):
            m.d.comb += distance.eq(sum(nearer))
        with m.Else():
            m.d.comb += distance.eq(sum(above[index] for index in range(count)) + self.who)
        m.d.comb += Assert(self.passed + distance <= self._last, "every grant comes closer to who waits")
        for index in range(count):
            following = above[index + 1] if index + 1 < count else 1
            m.d.comb += Assert((~above[index] | following) & (index != 0 or ~above[0]), "the pointer is a thermometer")
