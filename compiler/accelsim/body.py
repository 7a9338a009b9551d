"""The body of a kernel file: CTAs, their warps, and the instruction lines of each."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from warpfile.compiler.accelsim.addresses import AddressRows
from warpfile.compiler.accelsim.errors import AccelsimError
from warpfile.compiler.accelsim.header import Header
from warpfile.compiler.accelsim.line import (
    ABSENT,
    BULK,
    MARKERS,
    Head,
    LineError,
    LineFormat,
    Recorded,
    parse_addresses,
    parse_head,
    parse_values,
)
from warpfile.spec.trace import LANES, NO_ROW

_MOST_IDLE = 10_000  #: lines of a CTA without an instruction
_DIGITS = 18
_PREFIX = 4  #: fields in front of every line before version 3: CTA and warp


@dataclass
class Observations:
    """What registers held before the instructions of some records."""

    record: array[int] = field(default_factory=lambda: array("q"))
    register: array[int] = field(default_factory=lambda: array("i"))
    words: array[int] = field(default_factory=lambda: array("I"))  #: 32 of each


@dataclass
class Recording:
    """What a file recorded, warp after warp in its own order; ``start`` has one element more than there are warps."""

    statics: list[Recorded] = field(default_factory=list)
    first_lines: list[int] = field(default_factory=list)  #: where each static instruction was seen first
    instruction: array[int] = field(default_factory=lambda: array("i"))
    mask: array[int] = field(default_factory=lambda: array("I"))
    address_row: array[int] = field(default_factory=lambda: array("q"))
    addresses: AddressRows = field(default_factory=AddressRows)
    start: list[int] = field(default_factory=lambda: [0])
    warps: list[tuple[int, int]] = field(default_factory=list)  #: linear CTA and warp in it
    lines: int = 0
    markers: int = 0
    observed: Observations = field(default_factory=Observations)


def read_body(lines: Iterator[tuple[int, str]], header: Header, path: Path, report: Callable[[int], None]) -> Recording:
    """Read all CTAs; ``report`` is told how many are read. Raises :class:`AccelsimError`."""
    return _Reader(lines, header, path, report).read()


def _is_number(text: str) -> bool:
    return text.isdecimal() and len(text) <= _DIGITS


class _Reader:
    def __init__(
        self, lines: Iterator[tuple[int, str]], header: Header, path: Path, report: Callable[[int], None]
    ) -> None:
        self.lines, self.header, self.path, self.report = lines, header, path, report
        self.found = Recording()
        self.layout = LineFormat(header.has_source_lines, (1, 2) if header.version >= 5 else (0,))
        self.has_prefix = header.version < 3
        self.has_values = header.version >= 6
        self.heads: dict[str, tuple[int, int, bool, Head]] = {}  #: program index, mask, whether addresses matter, all
        self.index: dict[Recorded, int] = {}
        self.seen: set[tuple[int, int]] = set()

    def read(self) -> Recording:
        """The whole body."""
        number, ctas = 0, 0
        for number, line in self.lines:
            text = line.strip()
            if text == "#BEGIN_TB":
                self._cta(number)
                ctas += 1
                self.report(ctas)
            elif text and not text.startswith("#"):
                raise self._error(number, f"expected #BEGIN_TB, not {text[:60]!r}")
        if not ctas:
            raise self._error(number, "the file must hold at least one CTA (#BEGIN_TB)")
        return self.found

    def _cta(self, opened: int) -> None:
        """Everything from behind ``#BEGIN_TB`` to ``#END_TB``. Keys that mean nothing here are passed over."""
        cta: int | None = None
        warp: int | None = None
        idle = 0
        for number, line in self.lines:
            text = line.strip()
            idle += 1
            if idle > _MOST_IDLE:
                raise self._error(number, f"a warp must come within {_MOST_IDLE:,} lines")
            if text == "#END_TB":
                self.found.lines = number
                if cta is None or warp is not None:
                    raise self._error(number, f"#END_TB must follow {'insts = N' if warp is not None else 'warps'}")
                return
            key, equals, value = (part.strip() for part in text.partition("="))
            if key == "thread block" and equals:
                cta = self._linear(number, value)
            elif key == "warp" and equals:
                if warp is not None:
                    raise self._error(number, f"warp {warp} must have its 'insts = N' before the next warp")
                warp = self._warp(number, cta, value)
            elif key == "insts" and equals:
                self._stream(number, cta, warp, value)
                warp, idle = None, 0
            elif text and not equals:
                raise self._error(number, f"expected 'warp = N', 'insts = N' or #END_TB, not {text[:60]!r}")
        raise self._error(opened, "this #BEGIN_TB must have its #END_TB: the file is cut short")

    def _linear(self, number: int, value: str) -> int:
        grid = self.header.grid
        found = re.fullmatch(r"\(?(\d{1,18})\s*,\s*(\d{1,18})\s*,\s*(\d{1,18})\)?", value)
        place = tuple(map(int, found.groups())) if found else ()
        if len(place) != 3 or any(at >= size for at, size in zip(place, grid, strict=True)):
            raise self._error(number, f"thread block must be x,y,z inside the grid {grid}, not {value!r}")
        return place[0] + grid[0] * (place[1] + grid[1] * place[2])

    def _warp(self, number: int, cta: int | None, value: str) -> int:
        if cta is None:
            raise self._error(number, "a warp must stand behind its 'thread block = x,y,z'")
        count = -(-self.header.threads // LANES)
        if not _is_number(value) or int(value) >= count:
            rule = f"a number below {count}, the warps of block {self.header.block}"
            raise self._error(number, f"warp must be {rule}, not {value!r}")
        if (cta, int(value)) in self.seen:
            raise self._error(number, f"warp {value} of CTA {cta} must be in the file once")
        return int(value)

    def _stream(self, number: int, cta: int | None, warp: int | None, value: str) -> None:
        """Read the instructions of a warp."""
        if cta is None or warp is None:
            raise self._error(number, "'insts = N' must stand behind its 'warp = N'")
        if not _is_number(value):
            raise self._error(number, f"insts must be a number, not {value!r}")
        self._instructions(number, int(value))
        self.seen.add((cta, warp))
        self.found.warps.append((cta, warp))
        self.found.start.append(len(self.found.instruction))

    def _instructions(self, opened: int, count: int) -> None:
        """Read ``count`` instruction lines. This loop is where the time goes: equal heads are parsed once."""
        found, heads = self.found, self.heads
        add, add_mask, add_row = found.instruction.append, found.mask.append, found.address_row.append
        number = opened
        while count:
            number, line = next(self.lines, (number, ""))
            if self.has_prefix:
                line = self._without_prefix(number, line)
            values = None
            if self.has_values:
                line, values = self._without_values(number, line)
            text, separator, tail = line.partition(" 0x")
            known = heads.get(text)
            if known is None:
                if line.isspace():
                    continue
                if any(marker in line for marker in MARKERS):
                    found.markers += 1
                    count -= 1
                    continue
                known = self._new_head(number, text, bool(separator), count)
            index, mask, addressed, head = known
            if values is not None:
                self._observe(number, head, values)
            add(index)
            add_mask(mask)
            add_row(self._addresses(number, head, tail) if separator and addressed else NO_ROW)
            count -= 1

    def _without_values(self, number: int, line: str) -> tuple[str, str | None]:
        """A line up to NoVal, or up to Val and what stands behind it."""
        text, mark, values = line.partition(" Val")
        if mark:
            return text, values
        text, mark, _ = line.partition(" NoVal")
        if mark or not line.strip() or "=" in line or line.startswith("#") or any(marker in line for marker in MARKERS):
            return text, None
        raise self._error(
            number, "from version 6 on a line must end in NoVal, or in Val and the values of its registers"
        )

    def _observe(self, number: int, head: Head, text: str) -> None:
        """Keep what registers held before this record, the next one."""
        try:
            values = parse_values(text, head.instruction)
        except LineError as error:
            raise self._error(number, str(error)) from None
        for register, words in values:
            self.found.observed.record.append(len(self.found.instruction))
            self.found.observed.register.append(register)
            self.found.observed.words.extend(words)

    def _addresses(self, number: int, head: Head, tail: str) -> int:
        try:
            return self.found.addresses.add(head, parse_addresses(tail, head, self.layout))
        except LineError as error:
            raise self._error(number, str(error)) from None

    def _new_head(self, number: int, text: str, has_addresses: bool, missing: int) -> tuple[int, int, bool, Head]:
        if not text or text.lstrip().startswith(("warp", "insts", "thread", "#")):
            raise self._error(number, f"{missing} more instruction lines must stand here, as 'insts' says")
        try:
            head = parse_head(text, self.layout)
            if head.mode != BULK and has_addresses != (head.mode != ABSENT) and (has_addresses or head.mask):
                rule = "addresses that start with 0x" if head.mode != ABSENT else "no addresses, as its width is 0"
                raise LineError(f"the line must have {rule}")
        except LineError as error:
            raise self._error(number, str(error)) from None
        found = self.found
        index = self.index.setdefault(head.instruction, len(found.statics))
        if index == len(found.statics):
            found.statics.append(head.instruction)
            found.first_lines.append(number)
        known = self.heads[text] = index, head.mask, head.mode >= 0 and head.mask != 0, head
        return known

    def _without_prefix(self, number: int, line: str) -> str:
        parts = line.split(None, _PREFIX)
        if len(parts) > _PREFIX and all(part.isdecimal() for part in parts[:_PREFIX]):
            return parts[_PREFIX]
        if not parts or parts[0] in ("warp", "insts", "thread") or line.startswith("#"):
            return line
        raise self._error(number, "before version 3 a line must start with the CTA's x, y, z and the warp")

    def _error(self, number: int, problem: str) -> AccelsimError:
        return AccelsimError(self.path, number, problem)
