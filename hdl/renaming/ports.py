"""Arbitration of the ports of the memories of a renaming table."""

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
        served = self._serve_behind(access, self._wanted(access), self._none, self._none)
        self._leave(self._wanted(access), self._none)
        return served

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

    def ordered(self, groups: Sequence[Sequence[Access]], before: Sequence[Sequence[Value]]) -> list[list[Served]]:
        """Serve groups of accesses, those of a group ascending. ``before[a][b]``: group b, another one, comes before a.

        What a group wants is added up once for all that come behind it.
        """
        wanted = [[self._wanted(access) for access in group] for group in groups]
        sums = [self._sum([(wants, self._none) for wants in group]) for group in wanted]
        served = []
        for own, (group, sets) in enumerate(zip(groups, wanted, strict=True)):
            comes = [(bit.replicate(self._memories), other) for bit, other in zip(before[own], sums, strict=False)]
            behind = [(bits & once, bits & twice) for place, (bits, (once, twice)) in enumerate(comes) if place != own]
            earlier = [self._sum(behind)]
            served.append([])
            for access, wants in zip(group, sets, strict=True):
                served[-1].append(self._serve_behind(access, wants, *self._sum(earlier)))
                earlier.append((wants, self._none))
        self._leave(*self._sum(sums))
        return served

    def _serve_behind(self, access: Access, wants: Value, once: Value, twice: Value) -> Served:
        """Serve an access; ``once``, ``twice``: memories of which one before it wants a port, of which two do."""
        second = (self._one & ~self._both & ~once) | (self._both & once & ~twice)
        left = (self._one & ~once) | (self._both & ~twice)
        return self._serve(access, wants & self._both & ~once, wants & second, (wants & left).any())

    @property
    def _none(self) -> Value:
        return Const(0, self._memories)

    def _sum(self, sets: Sequence[tuple[Value, Value]]) -> tuple[Value, Value]:
        """Memories that are in at least one set, and those that are in at least two; in logarithmic depth.

        A set is a pair of these already.
        """
        if len(sets) <= 1:
            return sets[0] if sets else (self._none, self._none)
        half = len(sets) // 2
        (left, both_left), (right, both_right) = self._sum(sets[:half]), self._sum(sets[half:])
        once, twice = left | right, both_left | both_right | (left & right)
        return named(self._m, "once", once), named(self._m, "twice", twice)

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
