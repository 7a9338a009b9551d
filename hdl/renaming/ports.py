"""Who takes which port of the memories of a renaming table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from amaranth import Const, Module, Mux, Value

from warpfile.hdl.naming import named

NO, YES = Const(0, 1), Const(1, 1)


@dataclass(frozen=True)
class Access:
    """One access: ``wants`` says whether there is one, to this row, of this memory (one-hot).

    ``write``: it writes ``entry``, if it is ``effective``; otherwise it only keeps the port.
    """

    wants: Value
    memory: Value
    row: Value
    write: Value = field(default_factory=lambda: NO)
    effective: Value = field(default_factory=lambda: YES)
    entry: Value = field(default_factory=lambda: NO)


@dataclass(frozen=True)
class Served:
    """What became of an access: the memories that serve it by their first port, those by their second, and whether
    any does, which is known before them."""

    access: Access
    first: Value
    second: Value
    any: Value

    def port(self, number: int) -> Value:
        """Memories that serve it by a port."""
        return self.second if number else self.first


class FreePorts:
    """What the accesses so far have left of two ports per memory. The first to come gets the first port."""

    def __init__(self, m: Module, memories: int) -> None:
        self._m, self._memories = m, memories
        self._one: Value = Const(-1, memories)  #: memories with a port left
        self._both: Value = Const(-1, memories)
        self.served: list[Served] = []

    def single(self, access: Access) -> Served:
        """Serve one access, if there is a port."""
        return self.ordered([access], [[]])[0]

    def both_or_none(self, access: Access, other: Access, late: Value) -> tuple[Served, Served]:
        """Serve two accesses, or neither; ``other`` may want nothing. ``late``: whether both may be served at all.

        What would be left is known before it is known whether they are served.
        """
        own, second = self._wanted(access), self._wanted(other)
        twice, some = named(self._m, "twice", own & second), named(self._m, "some", own | second)
        one, both = (self._one & ~some) | (self._both & ~twice), self._both & ~some
        fits = named(self._m, "fits", ~((some & ~self._one) | (twice & ~self._both)).any() & late)
        all_fit = fits.replicate(self._memories)
        first = self._serve(access, own & self._both & all_fit, own & ~self._both & all_fit, access.wants & fits)
        by_first, by_second = self._both & ~twice & all_fit, (~self._both | twice) & all_fit
        last = self._serve(other, second & by_first, second & by_second, other.wants & fits)
        self._one, self._both = (
            named(self._m, name, Mux(fits, left, before))
            for name, left, before in (("one_left", one, self._one), ("both_left", both, self._both))
        )
        return first, last

    def ordered(self, accesses: Sequence[Access], before: Sequence[Sequence[Value]]) -> list[Served]:
        """Serve accesses of which ``before[a][b]`` says that b, which is another one, comes before a."""
        wanted = [self._wanted(access) for access in accesses]
        served = []
        for number, (access, wants) in enumerate(zip(accesses, wanted, strict=True)):
            earlier = [
                other & comes.replicate(self._memories)
                for place, (other, comes) in enumerate(zip(wanted, before[number], strict=False))
                if place != number
            ]
            one, two = at_least(earlier, self._memories)
            second = (self._one & ~self._both & ~one) | (self._both & one & ~two)
            left = (self._one & ~one) | (self._both & ~two)
            served.append(self._serve(access, wants & self._both & ~one, wants & second, (wants & left).any()))
        self._leave(*at_least(wanted, self._memories))
        return served

    def _wanted(self, access: Access) -> Value:
        return named(self._m, "wanted", access.memory & access.wants.replicate(self._memories))

    def _serve(self, access: Access, first: Value, second: Value, some: Value) -> Served:
        values = {"first": first, "second": second, "served": some}
        self.served.append(Served(access, *(named(self._m, name, value) for name, value in values.items())))
        return self.served[-1]

    def _leave(self, once: Value, twice: Value) -> None:
        """``once``, ``twice``: memories of which something wants a port, and of which something wants both."""
        one = (self._one & ~once) | (self._both & ~twice)
        self._one, self._both = named(self._m, "one_left", one), named(self._m, "both_left", self._both & ~once)


def at_least(sets: Sequence[Value], width: int) -> tuple[Value, Value]:
    """Bits that at least one of some sets has, and those that at least two have; in logarithmic depth."""
    if not sets:
        return Const(0, width), Const(0, width)
    if len(sets) == 1:
        return sets[0], Const(0, width)
    half = len(sets) // 2
    (left, both_left), (right, both_right) = at_least(sets[:half], width), at_least(sets[half:], width)
    return left | right, both_left | both_right | (left & right)
