"""One instruction line: what does not change from warp to warp, and the addresses that do."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

ZERO = 255
_HEX = re.compile(r"(0x)?[0-9a-fA-F]{1,16}")
_MASK = re.compile(r"(0x)?[0-9a-fA-F]{1,8}")
_REGISTER = re.compile(r"R(-?\d{1,4})")
_OPCODE = re.compile(r"[A-Z][A-Za-z0-9_]*(\.[A-Za-z0-9_]+)*")
_MOST_SOURCES = 8

LIST, STRIDE, DELTA = range(3)
ABSENT = -1  #: address mode of a line that has no addresses


@dataclass(frozen=True)
class Recorded:
    """A static instruction as the tracer wrote it, RZ (255) included.

    ``width`` is the size that the line claims for a memory access, zero for everything else. ``immediate`` is the last
    immediate operand of version 5, kept where no addresses stand between.
    """

    pc: int
    opcode: str
    dest: int | None
    sources: tuple[int, ...]
    width: int
    immediate: int | None


class Head(NamedTuple):
    """A line up to its first address: instruction, mask and address mode."""

    instruction: Recorded
    mask: int
    mode: int
    lanes: int  #: how many the mask has


@dataclass(frozen=True)
class LineFormat:
    """What stands on the lines of one file."""

    has_source_lines: bool
    has_immediates: bool


class LineError(ValueError):
    """A line that breaks the format; the message says the rule."""


def parse_head(text: str, layout: LineFormat) -> Head:
    """Parse a line, or its part before the first `` 0x``. Raises :class:`LineError`."""
    fields = _Fields(text.split())
    if layout.has_source_lines:
        fields.number("source line", 1 << 31)
    pc = int(fields.match("PC", _HEX, "hexadecimal"), 16)
    mask = int(fields.match("mask", _MASK, "eight hexadecimal digits"), 16)
    dests = fields.registers("destination", 1)
    opcode = fields.match("opcode", _OPCODE, "a dotted mnemonic in capitals")
    sources = fields.registers("source", _MOST_SOURCES)
    width = fields.number("memory width", 64)
    mode = fields.number("address mode", DELTA) if width else ABSENT
    immediate = None
    if layout.has_immediates and (not width or fields.left):
        immediate = fields.signed("immediate")
    fields.end()
    dest = dests[0] if dests else None
    if mode == STRIDE and not _is_run(mask):
        raise LineError(f"address mode 1 must have one run of active lanes, not mask {mask:08x}")
    found = Recorded(pc, opcode, dest, sources, width, None if width else immediate)
    return Head(found, mask, mode, mask.bit_count())


def parse_addresses(tail: str, head: Head, layout: LineFormat) -> list[int]:
    """Numbers behind the head of an executed access; ``tail`` starts behind the first ``0x``.

    Mode 0: one address per lane; mode 1: base and stride; mode 2: base, then the distance to each following lane.
    Raises :class:`LineError`.
    """
    fields = tail.split()
    wanted = 2 if head.mode == STRIDE else head.lanes
    if len(fields) != wanted + layout.has_immediates:
        raise LineError(_wrong_count(head, wanted, len(fields), layout))
    try:
        if layout.has_immediates:
            int(fields.pop())
        if head.mode == LIST:
            numbers = [int(field, 16) for field in fields]
        else:
            numbers = [int(fields[0], 16), *map(int, fields[1:])]
    except ValueError:
        raise LineError(f"addresses must be hexadecimal, strides and distances decimal, not {tail.strip()!r}") from None
    absolute = numbers if head.mode == LIST else numbers[:1]
    if min(absolute) < 0 or max(absolute) >> 64 or (head.mode == STRIDE and numbers[1].bit_length() > 63):
        raise LineError(f"addresses and strides must have at most 64 bits, not {tail.strip()!r}")
    return numbers


def _is_run(mask: int) -> bool:
    """Whether the ones of a mask are neighbours."""
    lowest = mask & -mask
    return mask + lowest & mask == 0


def _wrong_count(head: Head, wanted: int, found: int, layout: LineFormat) -> str:
    what = {
        LIST: f"{wanted} addresses, one per lane of the mask",
        STRIDE: "a base and a stride",
        DELTA: f"a base and {wanted - 1} distances, one less than lanes in the mask",
    }[head.mode]
    immediate = " and then the immediate" if layout.has_immediates else ""
    return f"address mode {head.mode} must have {what}{immediate}, not {found} numbers"


class _Fields:
    """Takes the fields of a line one after the other."""

    def __init__(self, fields: list[str]) -> None:
        self._fields = fields
        self._next = 0

    @property
    def left(self) -> int:
        """Fields that were not taken."""
        return len(self._fields) - self._next

    def _take(self, name: str) -> str:
        if not self.left:
            raise LineError(f"the line must go on with its {name}, and ends")
        self._next += 1
        return self._fields[self._next - 1]

    def match(self, name: str, pattern: re.Pattern[str], rule: str) -> str:
        """A field of a certain form."""
        field = self._take(name)
        if not pattern.fullmatch(field):
            raise LineError(f"{name} must be {rule}, not {field!r}")
        return field

    def number(self, name: str, largest: int) -> int:
        """A decimal from zero on."""
        field = self._take(name)
        if not re.fullmatch(r"[0-9]{1,18}", field) or int(field) > largest:
            raise LineError(f"{name} must be a number from 0 to {largest}, not {field!r}")
        return int(field)

    def signed(self, name: str) -> int:
        """A decimal with or without sign."""
        field = self._take(name)
        if not re.fullmatch(r"-?\d{1,20}", field):
            raise LineError(f"{name} must be a decimal, not {field!r}")
        return int(field)

    def registers(self, name: str, most: int) -> tuple[int, ...]:
        """A count and so many registers. A negative number is what the tracer writes for no register: RZ."""
        count = self.number(f"number of {name} registers", most)
        found = []
        for _ in range(count):
            number = int(self.match(f"{name} register", _REGISTER, "R0 to R255")[1:])
            if number > ZERO:
                raise LineError(f"{name} register must be R0 to R255, not 'R{number}'")
            found.append(number if number >= 0 else ZERO)
        return tuple(found)

    def end(self) -> None:
        """Nothing may be left."""
        if self.left:
            raise LineError(f"the line must end here, not go on with {self._fields[self._next]!r}")
