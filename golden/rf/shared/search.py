"""Which known vectors have the words of a load (docs/schemes/larf.md, section 8)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from warpfile.golden.rf.shared.addresses import Known
from warpfile.golden.rf.shared.vectors import Vector
from warpfile.spec.schemes.shared import DOUBLE, MISS, PERFECT, SINGLE


class Source(NamedTuple):
    """Lanes of a request that lanes of an entry have, ``distance`` further up."""

    number: int
    row: int
    distance: int
    lanes: int


class Match(NamedTuple):
    """The class of a search, and the entries that it uses."""

    outcome: int
    sources: tuple[Source, ...] = ()


def source(asked: Vector, number: int, entry: Known, lanes: int) -> Source | None:
    """What an entry has for a request, if it matches; ``lanes``: how many are built."""
    if entry.stride != asked.stride:
        return None
    apart = asked.base - entry.base
    if asked.stride == 0:
        return None if apart else Source(number, entry.row, 0, asked.lanes & entry.lanes)
    distance, rest = divmod(apart, asked.stride)
    if rest or not -lanes < distance < lanes:
        return None
    there = entry.lanes >> distance if distance >= 0 else entry.lanes << -distance
    return Source(number, entry.row, distance, asked.lanes & there)


class Search:
    """The choice among all entries, given the most recent first: a perfect one, else one at or above it (``ahead``),
    and one below (``behind``)."""

    def __init__(self, asked: Vector, entries: Iterable[tuple[int, Known]], lanes: int) -> None:
        self.perfect: Source | None = None
        self.ahead: Source | None = None
        self.behind: Source | None = None
        self._asked = asked
        for number, entry in entries:
            found = source(asked, number, entry, lanes)
            if found is not None:
                self._choose(found)

    def _choose(self, found: Source) -> None:
        if found.distance < 0:
            if self.behind is None or found.distance > self.behind.distance:
                self.behind = found
            return
        if self.ahead is None or found.distance < self.ahead.distance:
            self.ahead = found
        if self.perfect is None and found.distance == 0 and found.lanes == self._asked.lanes:
            self.perfect = found

    def covered(self) -> Match:
        """What those two give together."""
        lanes = self._asked.lanes
        for one in (self.ahead, self.behind):
            if one is not None and one.lanes == lanes:
                return Match(SINGLE, (one,))
        if self.ahead is None or self.behind is None or self.ahead.lanes | self.behind.lanes != lanes:
            return Match(MISS)
        rest = self.behind._replace(lanes=self.behind.lanes & ~self.ahead.lanes)
        return Match(DOUBLE, (self.ahead, rest))

    def exact(self) -> Match:
        """A perfect one, or nothing."""
        return Match(MISS) if self.perfect is None else Match(PERFECT, (self.perfect,))
