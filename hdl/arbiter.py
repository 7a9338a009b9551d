"""Choosing one of many: fixed priority, round robin and oldest first, all one-hot."""

import functools
import operator
from collections.abc import Iterable, Sequence

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.naming import named


def any_of(values: Iterable[Value]) -> Value:
    """OR of all values; zero for none."""
    return functools.reduce(operator.or_, values, Const(0, 1))


def prefix_or(bits: Value) -> Value:
    """Bit i is the OR of bits 0..i, in logarithmic depth."""
    width = len(bits)
    step = 1
    while step < width:
        bits = (bits | (bits << step))[:width]
        step *= 2
    return bits


def named_prefix_or(m: Module, name: str, bits: Value) -> Value:
    """The same, each step a signal: as one expression of many bits it would be written out thousands of times."""
    step, width = 1, len(bits)
    while step < width:
        bits = named(m, f"{name}{step}", (bits | (bits << step))[:width])
        step *= 2
    return bits


def lowest_one(bits: Value) -> Value:
    """One-hot of the lowest set bit; zero for zero."""
    return bits & ~(prefix_or(bits) << 1)[: len(bits)]


def highest_one(bits: Value) -> Value:
    """One-hot of the highest set bit; zero for zero."""
    return reverse(lowest_one(reverse(bits)))


def reverse(bits: Value) -> Value:
    """Bits in opposite order."""
    return Cat(*reversed(list(bits)))


def select(choice: Sequence[Value], values: Sequence[Value]) -> Value:
    """AND-OR multiplexer: the value whose choice bit is set, zero where none is."""
    return any_of(value & bit.replicate(len(value)) for bit, value in zip(choice, values, strict=True))


def select_wide(choice: Sequence[Value], values: Sequence[Value]) -> Value:
    """The same of wide values: a multiplexer each, because :func:`select` writes the choice out for every bit."""
    return any_of(Mux(bit, value, 0) for bit, value in zip(choice, values, strict=True))


def encode(one_hot: Value, width: int) -> Value:
    """Index of the set bit of a one-hot value; zero for zero."""
    bits = [any_of(bit for index, bit in enumerate(one_hot) if index >> place & 1) for place in range(width)]
    return Cat(*bits)


def decode(index: Value, count: int) -> Value:
    """One-hot of an index; zero where it is out of range."""
    return Cat(*(index == number for number in range(count)))


def first_above(m: Module, name: str, requests: Value, above: Value) -> Value:
    """The lowest of the requests that are in ``above``, one-hot, or else the lowest of all; zero without requests."""
    preferred = named(m, name, requests & above)
    return Mux(preferred.any(), lowest_one(preferred), lowest_one(requests))


class RoundRobin(wiring.Component):
    """First requester at or after a pointer.

    The pointer starts at 0 and becomes winner + 1, modulo the number of requesters, at the end of a cycle with
    ``taken``. The pointer is stored as a thermometer: the requesters above the last winner.

    Members
    -------
    requests : In(count)   Those that ask.
    taken : In(1)      The grant is used, the pointer moves.
    grant : Out(count) One-hot in the same cycle; zero without requests.
    others : In(count) Who is served, in the same way, if no client asks; only with ``others``.
    """

    def __init__(self, count: int, *, others: bool = False) -> None:
        self._count, self._others = count, others
        members = {"requests": In(count), "taken": In(1), "grant": Out(count)}
        super().__init__(members | ({"others": In(count)} if others else {}))

    def elaborate(self, platform) -> Module:
        """Two fixed-priority choices, above the last winner and over all; the same beside them for the others."""
        m = Module()
        above = Signal(self._count)
        grant = first_above(m, "preferred", self.requests, above)
        if self._others:
            other = first_above(m, "preferred_others", self.others, above)
            grant |= other & ~self.requests.any().replicate(self._count)
        m.d.comb += self.grant.eq(grant)
        with m.If(self.taken):
            m.d.sync += above.eq(prefix_or(self.grant) << 1)
        return m


class Ages(wiring.Component):
    """Order of arrival among ``count`` places, as a triangle of bits.

    Members
    -------
    arrive : In(count)          One-hot: this place becomes the youngest, seen one cycle later.
    older : Out(count * count)  Bit ``count * a + b``: a arrived before b. Zero on the diagonal.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        super().__init__({"arrive": In(count), "older": Out(count * count)})

    def elaborate(self, platform) -> Module:
        """One register per pair of places."""
        m = Module()
        for first in range(self._count):
            for second in range(first + 1, self._count):
                order = Signal(name=f"first{first}_older{second}", init=1)
                with m.If(self.arrive[first]):
                    m.d.sync += order.eq(0)
                with m.Elif(self.arrive[second]):
                    m.d.sync += order.eq(1)
                m.d.comb += self.older[first * self._count + second].eq(order)
                m.d.comb += self.older[second * self._count + first].eq(~order)
        return m


def oldest_one(requests: Value, older: Value) -> Value:
    """One-hot of the requester that no other requester is older than; ``older`` as :class:`Ages` gives it."""
    count = len(requests)
    columns = [Cat(*(older[row * count + column] for row in range(count))) for column in range(count)]
    return Cat(*(request & ~(requests & column).any() for request, column in zip(requests, columns, strict=True)))
