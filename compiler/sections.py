"""Data sections of a listing: constants, shared size, parameters, global variables.

The layout of ``.nv.info`` entries is that printed by ``nvdisasm``: EIATTR_KPARAM_INFO holds a word, the ordinal and
offset as shorts, and a word whose upper 14 bits are the size; EIATTR_PARAM_CBANK a word, where the parameters start and
how many bytes they are.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field

from warpfile.compiler.model import Parameter, Symbol

_DATA = re.compile(r"(?:/\*[0-9a-f]+\*/)?\s*\.(byte|short|word|dword|zero)\s+(.*)$")
_WIDTHS = {"byte": 1, "short": 2, "word": 4, "dword": 8}
_ATTRIBUTE = re.compile(r"//-+\s*nvinfo\s*:\s*(\w+)")
_LABEL = re.compile(r"([.\w$]+):$")
_NUMBER = re.compile(r"-?(0x[0-9a-fA-F]{1,32}|[0-9]{1,32})")
_LIMIT = 1 << 28  #: bytes of one section
_ALIGN = re.compile(r"\.align\s+([0-9]{1,9})")


def _number(text: str) -> int | None:
    """A literal of the assembler; None for anything else."""
    return int(text, 16 if "0x" in text else 10) if _NUMBER.fullmatch(text) else None


@dataclass
class Section:
    """Bytes gathered from one data section while its lines are read."""

    name: str
    data: bytearray = field(default_factory=bytearray)
    labels: dict[str, int] = field(default_factory=dict)
    relocations: dict[int, str] = field(default_factory=dict)
    attributes: list[tuple[str, int]] = field(default_factory=list)  #: nvinfo attribute and where it starts

    def add(self, line: str) -> None:
        """Take one line; text that holds no data is passed over. Raises :class:`ValueError` for impossible data."""
        line = line.strip()
        if match := _ATTRIBUTE.match(line):
            self.attributes.append((match[1], len(self.data)))
        elif match := _LABEL.match(line):
            self.labels[match[1]] = len(self.data)
        elif match := _ALIGN.match(line):
            self._fill(-len(self.data) % max(1, int(match[1])))
        elif match := _DATA.match(line):
            self._append(match[1], match[2])

    def _append(self, directive: str, values: str) -> None:
        if directive == "zero":
            count = _number(values.strip())
            if count is None or count < 0:
                raise ValueError(f".zero must have a number of bytes, not {values.strip()!r}")
            self._fill(count)
            return
        width = _WIDTHS[directive]
        for value in values.split(","):
            number = _number(value.strip())
            if number is None:
                self.relocations[len(self.data)] = value.strip()
            self.data.extend(((number or 0) % (1 << 8 * width)).to_bytes(width, "little"))

    def _fill(self, count: int) -> None:
        if len(self.data) + count > _LIMIT:
            raise ValueError(f"section {self.name} must have at most {_LIMIT} bytes")
        self.data.extend(bytes(count))

    def parameters(self) -> tuple[Parameter, ...]:
        """Kernel parameters in order, from the EIATTR_KPARAM_INFO entries."""
        found = []
        for attribute, start in self.attributes:
            if attribute == "EIATTR_KPARAM_INFO":
                entry = bytes(self.data[start + 4 : start + 16])
                ordinal, offset = (int.from_bytes(entry[at : at + 2], "little") for at in (4, 6))
                size = int.from_bytes(entry[8:12], "little") >> 18
                found.append(Parameter(ordinal, offset, size))
        return tuple(sorted(found, key=lambda parameter: parameter.ordinal))

    def parameter_base(self) -> int | None:
        """Where the parameters start in constant bank 0, from the EIATTR_PARAM_CBANK entry: a word, then two shorts."""
        starts = [start for attribute, start in self.attributes if attribute == "EIATTR_PARAM_CBANK"]
        return int.from_bytes(self.data[starts[0] + 8 : starts[0] + 10], "little") if starts else None

    def threads(self, attribute: str) -> tuple[int, int, int] | None:
        """Threads of a CTA in x, y, z that EIATTR_REQNTID asks for or EIATTR_MAX_THREADS bounds: three words."""
        starts = [start for found, start in self.attributes if found == attribute]
        if not starts:
            return None
        x, y, z = (int.from_bytes(self.data[starts[0] + at : starts[0] + at + 4], "little") for at in (4, 8, 12))
        return x, y, z

    def symbols(self, base: int) -> dict[str, Symbol]:
        """Variables of a global data section that starts ``base`` bytes into the module's data."""
        places = sorted((place, name) for name, place in self.labels.items())
        named = [(place, name) for place, name in places if not name.startswith(".")]
        ends = sorted({place for place, _ in places} | {len(self.data)})
        result = {}
        for place, name in named:
            behind = bisect_right(ends, place)
            end = ends[behind] if behind < len(ends) else len(self.data)
            result[name] = Symbol(base + place, end - place)
        return result
