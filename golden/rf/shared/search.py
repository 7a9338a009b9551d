"""Which known vectors have the words of a load (docs/schemes/larf.md, section 8)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from warpfile.golden.rf.shared.addresses import Known
from warpfile.golden.rf.shared.vectors import Vector
from warpfile.spec.schemes.shared import DOUBLE, MISS, PERFECT, SINGLE


class Source:
    """Lanes of a request that lanes of an entry have, ``distance`` further up."""

    __slots__ = ("distance", "lanes", "number", "row")

    def __init__(self, number: int, row: int, distance: int, lanes: int) -> None:
        self.number, self.row, self.distance, self.lanes = number, row, distance, lanes

    def only(self, lanes: int) -> Source:
        """The same for some of its lanes."""
        return Source(self.number, self.row, self.distance, self.lanes & lanes)


class Inserted:
    """The entry of an access that has acted."""

    __slots__ = ("number", "row")

    def __init__(self, number: int, row: int) -> None:
        self.number, self.row = number, row


class Match:
    """The class of a search, and the entries that it uses."""

    __slots__ = ("outcome", "sources")

    def __init__(self, outcome: int, sources: Sequence[Source] = ()) -> None:
        self.outcome, self.sources = outcome, sources


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
    """The choice among all entries, given the most recent first: a perfect one, else one at or above it (``first``),
    and one below (``second``)."""

    def __init__(self, asked: Vector, entries: Iterable[tuple[int, Known]], lanes: int) -> None:
        self.perfect: Source | None = None
        self.first: Source | None = None
        self.second: Source | None = None
        self._asked = asked
        for number, entry in entries:
            found = source(asked, number, entry, lanes)
            if found is not None:
                self._choose(found)

    def _choose(self, found: Source) -> None:
        if found.distance < 0:
            if self.second is None or found.distance > self.second.distance:
                self.second = found
            return
        if self.first is None or found.distance < self.first.distance:
            self.first = found
        if self.perfect is None and self._is_perfect(found):
            self.perfect = found

    def _is_perfect(self, found: Source) -> bool:
        return found.distance == 0 and found.lanes == self._asked.lanes

    def forget(self, number: int) -> None:
        """This entry is another one now."""
        if self.perfect is not None and self.perfect.number == number:
            self.perfect = None
        if self.first is not None and self.first.number == number:
            self.first = None
        if self.second is not None and self.second.number == number:
            self.second = None

    def add(self, found: Source, merges: bool) -> bool:
        """A more recent one than all others; whether it is chosen."""
        perfect = self._is_perfect(found)
        if perfect:
            self.perfect = found
        if merges and found.distance >= 0 and (self.first is None or found.distance <= self.first.distance):
            self.first = found
            return True
        if merges and found.distance < 0 and (self.second is None or found.distance >= self.second.distance):
            self.second = found
            return True
        return perfect

    def decided(self, merges: bool) -> Match:
        """A perfect one, or what those two give together, if words may be put together."""
        if self.perfect is not None:
            return Match(PERFECT, (self.perfect,))
        return self.covered() if merges else Match(MISS)

    def covered(self) -> Match:
        """What those two give together."""
        lanes = self._asked.lanes
        for one in (self.first, self.second):
            if one is not None and one.lanes == lanes:
                return Match(SINGLE, (one,))
        if self.first is None or self.second is None or self.first.lanes | self.second.lanes != lanes:
            return Match(MISS)
        return Match(DOUBLE, (self.first, self.second.only(~self.first.lanes)))
