"""One instruction line: what does not change from warp to warp, and the addresses that do."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from warpfile.spec.trace import LANES

ZERO = 255
UNIFORM = 256  #: added to the number of a uniform register
MARKERS = (" REPLAY_START ", " REPLAY_END ")  #: around what the tracer took for a spin loop; no instructions
_HEX = re.compile(r"(0x)?[0-9a-fA-F]{1,16}")
_MASK = re.compile(r"(0x)?[0-9a-fA-F]{1,8}")
_REGISTER = re.compile(r"(U?)R(-?\d{1,4})")
_DECIMAL = re.compile(r"-?\d{1,20}")
_COUNT = re.compile(r"1|32")
_VALUE = re.compile(r"[0-9a-fA-F]{8}([0-9a-fA-F]{8})?")
_OPCODE = re.compile(r"[A-Z][A-Za-z0-9_]*(\.[A-Za-z0-9_]+)*")
_MOST_SOURCES = 8
#: Copies of the tensor memory accelerator, whose addresses belong to no lane.
BULK_COPIES = ("UTMALDG", "UTMASTG", "UTMAPF", "UTMAREDG", "UBLKCP", "UBLKPF", "UBLKRED")
_GROUP_PRODUCT = "GMMA"  #: opcodes with it have a flag in front of the memory width

LIST, STRIDE, DELTA = range(3)
ABSENT = -1  #: address mode of a line that has no addresses
BULK = -2  #: of one whose addresses are passed over


@dataclass(frozen=True)
class Recorded:
    """A static instruction as the tracer wrote it, RZ (255) included, uniform registers from ``UNIFORM`` on.

    ``width`` is the size that the line claims for a memory access, zero for everything else. ``immediate`` is an
    immediate operand that is not zero, from version 5 on, kept where no addresses stand between.
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


@dataclass
class LineFormat:
    """What stands on the lines of one file. Which count of immediates it is, its first line without addresses tells."""

    has_source_lines: bool
    immediates: tuple[int, ...]  #: how many may stand at the end of a line, ascending


class LineError(ValueError):
    """A line that breaks the format; the message says the rule."""


def parse_head(text: str, layout: LineFormat) -> Head:
    """Parse a line, or its part before the first `` 0x``, without what is said of values. Raises :class:`LineError`."""
    fields = _Fields(text.split())
    if layout.has_source_lines:
        fields.number("source line", 1 << 31)
    pc = int(fields.match("PC", _HEX, "hexadecimal"), 16)
    mask = int(fields.match("mask", _MASK, "eight hexadecimal digits"), 16)
    dests = fields.registers("destination", 1)
    opcode = fields.match("opcode", _OPCODE, "a dotted mnemonic in capitals")
    sources = fields.registers("source", _MOST_SOURCES)
    dest = dests[0] if dests else None
    if opcode.startswith(BULK_COPIES):
        fields.number("memory width", 64)
        return Head(Recorded(pc, opcode, dest, sources, 0, None), mask, BULK, 0)
    if _GROUP_PRODUCT in opcode:
        fields.numbers("flag, memory width or immediate", 2 + layout.immediates[-1])
        fields.end()
        return Head(Recorded(pc, opcode, dest, sources, 0, None), mask, ABSENT, mask.bit_count())
    width = fields.number("memory width", 64)
    mode = fields.number("address mode", DELTA) if width else ABSENT
    immediate = None if width and not fields.left else _immediate(fields, layout, settles=not width)
    fields.end()
    if mode == STRIDE and not _is_run(mask):
        raise LineError(f"address mode 1 must have one run of active lanes, not mask {mask:08x}")
    return Head(Recorded(pc, opcode, dest, sources, width, None if width else immediate), mask, mode, mask.bit_count())


def _immediate(fields: _Fields, layout: LineFormat, settles: bool) -> int | None:
    """The first immediate that is not zero; None in a version without."""
    found = fields.numbers("immediate", layout.immediates[-1])
    if len(found) < layout.immediates[0]:
        raise LineError("the line must go on with its immediate, and ends")
    if settles:
        layout.immediates = (len(found),)
    return next(filter(None, found), 0) if found else None


def parse_addresses(tail: str, head: Head, layout: LineFormat) -> list[int]:
    """Numbers behind the head of an executed access; ``tail`` starts behind the first ``0x``.

    Mode 0: one address per lane; mode 1: base and stride; mode 2: base, then the distance to each following lane.
    Raises :class:`LineError`.
    """
    fields = tail.split()
    wanted = 2 if head.mode == STRIDE else head.lanes
    if len(fields) - wanted not in layout.immediates:
        raise LineError(_wrong_count(head, wanted, len(fields), layout))
    try:
        list(map(int, fields[wanted:]))
        if head.mode == LIST:
            numbers = [int(field, 16) for field in fields[:wanted]]
        else:
            numbers = [int(fields[0], 16), *map(int, fields[1:wanted])]
    except ValueError:
        raise LineError(f"addresses must be hexadecimal, strides and distances decimal, not {tail.strip()!r}") from None
    absolute = numbers if head.mode == LIST else numbers[:1]
    if min(absolute) < 0 or max(absolute) >> 64 or (head.mode == STRIDE and numbers[1].bit_length() > 63):
        raise LineError(f"addresses and strides must have at most 64 bits, not {tail.strip()!r}")
    return numbers


def parse_values(text: str, recorded: Recorded) -> list[tuple[int, list[int]]]:
    """Vector registers and what they held in each lane before the instruction; ``text`` starts behind ``Val``.

    Raises :class:`LineError`.
    """
    fields = _Fields(text.split())
    found: list[tuple[int, list[int]]] = []
    for register in (*([] if recorded.dest is None else [recorded.dest]), *recorded.sources):
        for number, words in enumerate(fields.values(register), register):
            if number < ZERO:
                found.append((number, words))
    fields.end()
    return found


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
    immediate = {0: "", 1: " and then the immediate"}.get(layout.immediates[0], " and then the immediates")
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

    def numbers(self, name: str, most: int) -> list[int]:
        """Decimals with or without sign, as many as there are, but not more than ``most``."""
        return [int(self.match(name, _DECIMAL, "a decimal")) for _ in range(min(most, self.left))]

    def registers(self, name: str, most: int) -> tuple[int, ...]:
        """A count and so many registers. A negative number is what the tracer writes for no register: RZ."""
        return tuple(
            self._register(f"{name} register") for _ in range(self.number(f"number of {name} registers", most))
        )

    def _register(self, name: str) -> int:
        field = self.match(name, _REGISTER, "R0 to R255 or UR0 to UR255")
        uniform, digits = _REGISTER.fullmatch(field).groups()  # type: ignore[union-attr]
        if int(digits) > ZERO:
            raise LineError(f"{name} must be R0 to R255 or UR0 to UR255, not {field!r}")
        number = int(digits) if int(digits) >= 0 else ZERO
        return number + UNIFORM if uniform else number

    def values(self, register: int) -> list[list[int]]:
        """A count, 1 or 32, and so many hexadecimal numbers: words of all lanes, of two registers if they are long."""
        name = f"R{register}" if register < UNIFORM else f"UR{register - UNIFORM}"
        count = self.match(f"number of values of {name}", _COUNT, "1 or 32")
        found = [self.match(f"a value of {name}", _VALUE, "8 or 16 hexadecimal digits") for _ in range(int(count))]
        found *= LANES // len(found)
        return [[int(digits[at : at + 8], 16) for digits in found] for at in range(len(found[0]) - 8, -1, -8)]

    def end(self) -> None:
        """Nothing may be left."""
        if self.left:
            raise LineError(f"the line must end here, not go on with {self._fields[self._next]!r}")
