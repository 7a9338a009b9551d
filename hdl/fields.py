"""Bits of a net by the name of the field that they are, or by their place in an array."""

from __future__ import annotations

import re
from collections.abc import Mapping

from warpfile.hdl.expressions import Ref

_ELEMENT = re.compile(r"\\(.+)\[\d+\]")
_SELECT = re.compile(r"(\\\S+ |\b[A-Za-z_]\w*)(?:\[(\d+)(?::(\d+))?\])?")


class Fields:
    """Names of the bits of a net."""

    def __init__(self, bits: int) -> None:
        self._names: dict[tuple[int, int], tuple[tuple[object, ...], str]] = {}
        self._owner: list[tuple[int, int] | None] | None = None
        self._above: dict[tuple[int, int], tuple[int, int] | None] = {}
        self._bits = bits
        self._found: dict[tuple[int, int], Ref] = {}
        self.elements: dict[str, int] = {}  #: bits of an element, of the net and its parts that are arrays

    def add(self, high: int, low: int, name: str, rank: tuple[object, ...]) -> None:
        """Bits have a name; the lowest rank counts."""
        self._names[high, low] = min(self._names.get((high, low), (rank, name)), (rank, name))

    def named(self, net: str, high: int, low: int) -> Ref:
        """Bits by the name that they have, else as bits of the smallest thing that they are in."""
        if (high, low) not in self._found:
            self._found[high, low] = self._name(net, high, low)
        return self._found[high, low]

    def _name(self, net: str, high: int, low: int) -> Ref:
        if self._owner is None:
            self._as_elements(net)
            self._owner = [None] * self._bits
            for place in sorted(self._names, key=lambda one: one[1] - one[0]):
                self._above[place] = self._owner[place[1]]
                self._owner[place[1] : place[0] + 1] = [place] * (place[0] - place[1] + 1)
        if (high, low) in self._names:
            return Ref(self._names[high, low][1])
        owner = self._owner[low]
        while owner is not None and owner[0] < high:
            owner = self._above[owner]
        if owner is None:
            return Ref(net, high, low)
        return Ref(self._names[owner][1], high - owner[1], low - owner[1])

    def _as_elements(self, net: str) -> None:
        """Elements of arrays that have a name themselves need none."""
        arrays = {_plain(name): name for _, name in self._names.values()} | {_plain(net): net}
        for (high, low), (_, name) in sorted(self._names.items(), key=lambda one: one[0][1] - one[0][0]):
            array = _ELEMENT.fullmatch(name)
            if array and (whole := arrays.get(_plain(array[1]))):
                del self._names[high, low]
                self.elements.setdefault(whole, high - low + 1)
                arrays[_plain(name)] = whole


def _plain(name: str) -> str:
    """A name as it is without the signs between its parts."""
    return re.sub(r"\W+|__", "_", name).strip("_")


def indexed(line: str, elements: Mapping[str, int]) -> str:
    """A line in which bits of an element of an array are given by its place: ``rows[3*8 +: 8]``, ``rows[3*8+2]``."""

    def one(found: re.Match[str]) -> str:
        bits = elements.get(found[1].strip(), 1)
        if bits == 1 or found[2] is None:
            return found[0]
        high, low = int(found[2]), int(found[3] or found[2])
        if high // bits != low // bits:
            return found[0]
        at = f"{high // bits}*{bits}" + (f"+{low % bits}" if low % bits else "")
        return f"{found[1]}[{at}{f' +: {high - low + 1}' if high > low else ''}]"

    return _SELECT.sub(one, line)
