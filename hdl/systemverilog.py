"""Verilog of a module as SystemVerilog: records as packed structs of a package, fields by their names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from warpfile.hdl.records import Bits, Elements, Part, Record, flat

_HEAD = re.compile(r"module (\w+) ?\((.*)\);")
_DECLARED = re.compile(r"  (input|output|wire|reg) (?:\[(\d+):0\] )?(\w+);")
_START = re.compile(r"  reg (\w+) = 0;")
_BITS_OF = re.compile(r"  assign (\w+) = (\w+)\[([^\[\]]+)\];")
#: A name with bits of it, if their places are numbers; not a pin, a number or a system function.
_NAME = re.compile(r"(?<![\w.$'])([A-Za-z_]\w*)(?:\[([\d:*+ ]+)\])?")
_PLACE = re.compile(r"(\d+)(?:\*(\d+)(?:\+(\d+))?)?(?::(\d+)| \+: (\d+))?")


@dataclass
class Types:
    """Packed structs by their records; ``known`` are those that the package has anyway."""

    package: str
    known: dict[Record, str]
    texts: list[str] = field(default_factory=list)  #: of the others, each behind those that are in it
    ranges: int = 0  #: how often bits of a record are selected by their places in Verilog
    left: int = 0  #: how often in SystemVerilog

    def __post_init__(self) -> None:
        self._taken = set(self.known.values())

    def of(self, record: Record, net: str, module: str) -> str:
        """The name of a record's struct; a new one is called after a net that has it, else after its module, too."""
        if record not in self.known:
            inner = [(name, self._kind(part, f"{net}_{name}", module), part) for name, part in record.fields]
            self.known[record] = called = self._free(net, module)
            members = "".join(f"    {kind}{name};\n" for name, kind, _ in reversed(inner))
            self.texts.append(f"  typedef struct packed {{  // of {net} in {module}\n{members}  }} {called};\n")
        return self.known[record]

    def _kind(self, part: Part, net: str, module: str) -> str:
        if isinstance(part, Record):
            return f"{self.of(part, re.sub(r'_e0$', '_element', net), module)} "
        return vector(part)

    def _free(self, net: str, module: str) -> str:
        steps = [step for step in net.split("__") if step != "payload" and not step.isdigit()]
        base = re.sub(r"_?\d+$", "", steps[-1]) or net
        wanted = [f"{base}_t", f"{module}_{base}_t", *(f"{module}_{base}_{number}_t" for number in range(2, 1000))]
        name = next(one for one in wanted if one not in self._taken)
        self._taken.add(name)
        return name


def vector(part: Bits | Elements) -> str:
    """The type of bits, or of an array of them, with a blank behind it."""
    if isinstance(part, Elements):
        return f"logic [{part.count - 1}:0][{part.each - 1}:0] "
    return f"logic [{part.width - 1}:0] " if part.width > 1 else "logic "


def systemverilog(text: str, records: Mapping[str, Record], types: Types) -> str:
    """The same module; ``records`` of its nets by their names. Names and operations stay."""
    return "\n".join(_Module(text.split("\n"), records, types).lines())


class _Module:
    """A module under construction, in lines that are not broken yet."""

    def __init__(self, text: list[str], records: Mapping[str, Record], types: Types) -> None:
        self._text = text
        self._types = types
        self._name = next(head[1] for line in text if (head := _HEAD.fullmatch(line)))
        self._widths: dict[str, int] = {}
        self._ports: dict[str, str] = {}
        for line in text:
            if found := _DECLARED.fullmatch(line):
                self._widths[found[3]] = int(found[2] or 0) + 1
                if found[1] in ("input", "output"):
                    self._ports[found[3]] = found[1]
        self._records = {
            name: flat(records[name], types.known)
            for name, bits in self._widths.items()
            if name in records and records[name].width == bits
        }
        self._fields = dict(self._found_fields())
        types.ranges += len(self._fields)

    def _found_fields(self) -> Iterator[tuple[str, tuple[str, int]]]:
        """Nets that are a field of a record, with that record's net and the lowest bit; not those of an array of which
        a computed place is read."""
        whole = "\n".join(self._text)
        for line in self._text:
            found = _BITS_OF.fullmatch(line)
            if not found or found[1] in self._ports or found[2] not in self._records:
                continue
            high, low = _bits(found[3])
            part = self._records[found[2]].part(high, low)
            computed = isinstance(part, Elements) and re.search(rf"\b{found[1]}\[[^\]]*[a-z]", whole)
            if part is not None and not computed:
                yield found[1], (found[2], low)

    def lines(self) -> Iterator[str]:
        """The module's text."""
        start = ""
        for line in self._text:
            if found := _HEAD.fullmatch(line):
                yield from self._head(found[2].split(", "))
            elif found := _START.fullmatch(line):
                start = found[1]
            elif found := _DECLARED.fullmatch(line):
                if found[3] not in self._ports and found[3] not in self._fields:
                    yield f"  {self._type(found[3])}{found[3]};"
            elif (found := _BITS_OF.fullmatch(line)) and found[1] in self._fields:
                continue
            elif not start or line.strip() != f"if ({start}) begin end":
                clocked = line.replace("  always @(posedge", "  always_ff @(posedge")
                yield _NAME.sub(self._selected, clocked.replace("  always @* begin", "  always_comb begin"))

    def _head(self, ports: list[str]) -> Iterator[str]:
        yield f"module {self._name} ("
        for port in ports:
            yield f"  {self._ports[port]:<6} {self._type(port)}{port}{',' * (port != ports[-1])}"
        yield ");"

    def _type(self, net: str) -> str:
        record = self._records.get(net)
        if record is None:
            return vector(Bits(self._widths[net]))
        return f"{self._types.package}::{self._types.of(record, net, self._name)} "

    def _selected(self, found: re.Match[str]) -> str:
        """A net's bits by the name of the field that they are."""
        name, place = found[1], found[2]
        if name not in self._fields and name not in self._records:
            return found[0]
        net, at = self._fields.get(name, (name, 0))
        high, low = (self._widths[name] - 1, 0) if place is None else _bits(place)
        record = self._records[net]
        self._types.ranges += net == name and place is not None
        self._types.left += record.splits(at + high, at + low)
        return f"{net}{record.path(at + high, at + low)}"


def _bits(place: str) -> tuple[int, int]:
    """Highest and lowest of a net's bits, from what stands in brackets: ``7:4``, ``3*8 +: 8``, ``3*8+2``."""
    found = _PLACE.fullmatch(place)
    assert found, place
    low = int(found[1]) * int(found[2] or 1) + int(found[3] or 0)
    if found[4] is not None:
        return low, int(found[4])
    return low + int(found[5] or 1) - 1, low
