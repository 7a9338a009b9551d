"""Fields of the nets of Amaranth's Verilog, as packed structs have them.

Of a signal with a layout the netlist has a net for each field, called after it: ``\\head.dest``, ``\\head.sources[1]``.
Their places in the signal, in the order of their bits, are its record.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

_MODULE = re.compile(r"^module (\\\S+|\w+)", re.MULTILINE)
_DECLARED = re.compile(r"^  (?:wire|reg|input|output) (?:\[(\d+):0\] )?(\\\S+|\w+)", re.MULTILINE)
_NAMED = re.compile(r"^  assign (\\\S+|\w+) +=\s+(\\\S+|\w+) ?(?:\[(\d+)(?::(\d+))?\])?;$", re.MULTILINE)
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]")
_PATH = re.compile(r"([^.\[]+)((?:\.\w+|\[\d+\])+)")


@dataclass(frozen=True, slots=True)
class Bits:
    """A vector."""

    width: int

    def path(self, high: int, low: int) -> str:
        """How bits of it are selected; empty for all."""
        if (high, low) == (self.width - 1, 0):
            return ""
        return f"[{high}]" if high == low else f"[{high}:{low}]"


@dataclass(frozen=True, slots=True)
class Elements:
    """An array of ``count`` vectors of ``each`` bits."""

    count: int
    each: int

    @property
    def width(self) -> int:
        """Of the array, in bits."""
        return self.count * self.each

    def path(self, high: int, low: int) -> str | None:
        """As of :class:`Bits`; None for bits that are neither elements nor within one."""
        if (high, low) == (self.width - 1, 0):
            return ""
        first, last = low // self.each, high // self.each
        if first == last:
            return f"[{first}]{Bits(self.each).path(high - first * self.each, low - first * self.each)}"
        whole = low % self.each == 0 and (high + 1) % self.each == 0
        return f"[{last}:{first}]" if whole else None


@dataclass(frozen=True, slots=True)
class Record:
    """Fields by name, the lowest first."""

    fields: tuple[tuple[str, Part], ...]

    @property
    def width(self) -> int:
        """Of all fields, in bits."""
        return sum(part.width for _, part in self.fields)

    def path(self, high: int, low: int) -> str:
        """As of :class:`Bits`."""
        found = self._within(high, low)
        if found is not None:
            name, part, at = found
            if (path := part.path(high - at, low - at)) is not None:
                return f".{name}{path}"
        return Bits(self.width).path(high, low)

    def part(self, high: int, low: int) -> Part | None:
        """The field, or the elements, that these bits are; None if they are no such thing."""
        if (high, low) == (self.width - 1, 0):
            return self
        found = self._within(high, low)
        if found is None:
            return None
        _, part, at = found
        if isinstance(part, Record):
            return part.part(high - at, low - at)
        if (high - at, low - at) == (part.width - 1, 0):
            return part
        path = part.path(high - at, low - at) if isinstance(part, Elements) else None
        if isinstance(part, Elements) and path and path.count("[") == 1:
            count = (high - low + 1) // part.each
            return Bits(part.each) if ":" not in path else Elements(count, part.each)
        return None

    def splits(self, high: int, low: int) -> bool:
        """Whether these bits are neither a field, nor elements of one, nor bits of one vector."""
        found = self._within(high, low)
        if found is None:
            return (high, low) != (self.width - 1, 0)
        _, part, at = found
        if isinstance(part, Record):
            return part.splits(high - at, low - at)
        return part.path(high - at, low - at) is None

    def _within(self, high: int, low: int) -> tuple[str, Part, int] | None:
        """The field that has all these bits, with its lowest one; None for all bits and for those of several."""
        at = 0
        for name, part in self.fields:
            if at <= low and high < at + part.width and (high, low) != (self.width - 1, 0):
                return name, part, at
            at += part.width
        return None


Part = Bits | Elements | Record


def records(text: str) -> dict[str, dict[str, Record]]:
    """Of each module, by the name that the text has for it without a backslash, the records of its nets."""
    bodies = re.split(r"(?<=^endmodule\n)", text, flags=re.MULTILINE)
    return {_bare(head[1]): _records(body) for body in bodies if (head := _MODULE.search(body))}


def _bare(name: str) -> str:
    return name.strip().removeprefix("\\")


@dataclass(slots=True)
class _Node:
    """A net and the nets of its fields: bits of ``net`` from ``low`` upwards."""

    width: int = 0
    net: str = ""
    low: int = 0
    parts: dict[str, _Node] = field(default_factory=dict)


def _records(body: str) -> dict[str, Record]:
    widths = {_bare(name): int(high or 0) + 1 for high, name in _DECLARED.findall(body)}
    named = [
        (_bare(name), _bare(net), int(low or high or 0))
        for name, net, high, low in _NAMED.findall(body)
        if _bare(net) in widths
    ]
    roots: dict[str, _Node] = {}
    for name, net, low in named:
        path = _PATH.fullmatch(name)
        if path and path[1] in widths:
            node = roots.setdefault(path[1], _Node(widths[path[1]]))
            for step in _STEP.finditer(path[2]):
                node = node.parts.setdefault(step[1] or step[2], _Node())
            node.width, node.net, node.low = widths[name], net, low
    found: dict[str, Record] = {}
    for root, node in roots.items():
        inner = list(_all(node))
        nets, start = {one.net for one in inner}, min(one.low for one in inner)
        node.low = start
        part = _part(node) if len(nets) == 1 else None
        if isinstance(part, Record):
            found[root] = part
            (net,) = nets
            if widths[net] == part.width:
                found.setdefault(net, part)
    for name, net, _ in named:
        if net in found and widths[name] == widths[net]:
            found.setdefault(name, found[net])
    return found


def _all(node: _Node) -> Iterator[_Node]:
    for part in node.parts.values():
        yield part
        yield from _all(part)


def _part(node: _Node) -> Part:
    """What a net is; a vector where its fields leave bits out or have bits in common."""
    parts = sorted(node.parts.items(), key=lambda one: one[1].low)
    at = node.low
    for _, part in parts:
        if part.low != at:
            return Bits(node.width)
        at += part.width
    if not parts or at != node.low + node.width:
        return Bits(node.width)
    if not parts[0][0].isdigit():
        return Record(tuple((name, _part(part)) for name, part in parts))
    elements = [_part(part) for _, part in parts]
    if isinstance(elements[0], Record):
        return Record(tuple((f"e{place}", part) for place, part in enumerate(elements)))
    each = parts[0][1].width
    return Elements(len(parts), each) if each > 1 else Bits(len(parts))


def flat(record: Record, known: Mapping[Record, str]) -> Record:
    """A record that is ``known``, instead of one with the same fields that also knows what an element is made of."""
    less = Record(tuple((name, _as_elements(part)) for name, part in record.fields))
    return less if record not in known and less in known else record


def _as_elements(part: Part) -> Part:
    if not isinstance(part, Record):
        return part
    if [name for name, _ in part.fields] == [f"e{place}" for place in range(len(part.fields))]:
        return Elements(len(part.fields), part.fields[0][1].width)
    return Record(tuple((name, _as_elements(one)) for name, one in part.fields))
