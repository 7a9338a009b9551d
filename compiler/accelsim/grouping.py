"""The tracer's own files, one line after the other of all warps, as lines that are grouped by CTA and warp."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from warpfile.compiler.accelsim.errors import AccelsimError
from warpfile.compiler.accelsim.header import Header
from warpfile.compiler.accelsim.line import MARKERS

#: Numbers in front of a line: CTA x, y, z and warp; from release 2.0.0 on also cluster x, y, z, place in it and rank.
_OLD, _NEW = 4, 11
_CORE = 2  #: further ones where the tracer was told to name the SM and its warp
_PC, _MASK = re.compile(r"[0-9a-f]{4,16}"), re.compile(r"[0-9a-f]{8}")

Lines = Iterator[tuple[int, str]]


@dataclass
class _Warp:
    """Numbers of lines in the file, and of their texts among all different ones."""

    numbers: array[int] = field(default_factory=lambda: array("q"))
    texts: array[int] = field(default_factory=lambda: array("q"))


def grouped(lines: Lines, header: Header, path: Path) -> Lines:
    """Lines of the body with their numbers in the file, CTA after CTA. Raises :class:`AccelsimError`."""
    return _Grouping(header, path).lines(lines)


class _Grouping:
    def __init__(self, header: Header, path: Path) -> None:
        self.header, self.path = header, path
        self.length: int | None = None
        self.known: dict[str, int] = {}
        self.ctas: dict[tuple[int, ...], dict[int, _Warp]] = {}

    def lines(self, lines: Lines) -> Lines:
        last = 0
        for last, line in lines:
            if not line.isspace() and not line.startswith("#"):
                self._take(last, line)
        texts = list(self.known)
        for cta, warps in self.ctas.items():
            first = min(warp.numbers[0] for warp in warps.values())
            yield first, "#BEGIN_TB\n"
            yield first, f"thread block = {','.join(map(str, cta))}\n"
            for number, warp in warps.items():
                yield warp.numbers[0], f"warp = {number}\n"
                yield warp.numbers[0], f"insts = {len(warp.numbers)}\n"
                yield from zip(warp.numbers, (texts[index] for index in warp.texts), strict=True)
            yield last, "#END_TB\n"

    def _take(self, number: int, line: str) -> None:
        """Keep a line with those of its warp. Before version 3 its place is part of it in grouped files, too."""
        if self.length is None:
            self.length = self._prefix(number, line)
        length = self.length
        if any(marker in line for marker in MARKERS):
            length = _OLD
        parts = line.split(None, length)
        if len(parts) <= length or not all(part.isdecimal() and len(part) <= 18 for part in parts[:_OLD]):
            raise self._error(number, line)
        *cta, warp = map(int, parts[:_OLD])
        kept = self.ctas.setdefault(tuple(cta), {}).setdefault(warp, _Warp())
        text = line if self.header.version < 3 else parts[length]
        kept.numbers.append(number)
        kept.texts.append(self.known.setdefault(text, len(self.known)))

    def _prefix(self, number: int, line: str) -> int:
        """How many numbers stand in front of the lines of this file, from one of them."""
        fields = line.split()
        for length in (_OLD, _OLD + _CORE, _NEW, _NEW + _CORE):
            pc = length + self.header.has_source_lines
            found = fields[pc : pc + 2]
            if len(found) == 2 and _PC.fullmatch(found[0]) and _MASK.fullmatch(found[1]):
                return length
        raise self._error(number, line)

    def _error(self, number: int, line: str) -> AccelsimError:
        rule = f"CTA x, y, z and warp, {_OLD} numbers, or {_NEW} with those of its cluster, and then PC and mask"
        return AccelsimError(
            self.path, number, f"a line that the tracer wrote must start with {rule}, not {line[:60]!r}"
        )
