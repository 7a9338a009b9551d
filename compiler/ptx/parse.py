"""PTX as nvcc prints it: one kernel, its declarations and its instructions.

Source of the grammar: PTX ISA 9.0, chapters 4 and 5. Only what nvcc prints for code without calls is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from warpfile.compiler.ptx.errors import PtxError

_COMMENT = re.compile(r"//[^\n]*")
_ENTRY = re.compile(r"\.entry\s+([\w$]+)\s*\(([^)]*)\)([^{]*)\{")
_PARAMETER = re.compile(r"\.param\s+(?:\.align\s+(\d+)\s+)?\.(\w+)(?:\s+\.ptr[^,]*?)?\s+([\w$]+)(?:\[(\d+)\])?$")
_SHARED = re.compile(r"\.shared\s+\.align\s+(\d+)\s+\.b8\s+([\w$]+)\[(\d*)\]")
_REGISTERS = re.compile(r"\.reg\s+\.(\w+)\s+(.*)$", re.DOTALL)
_RANGE = re.compile(r"(%?[\w$]+?)(?:<(\d+)>)?$")
_LABEL = re.compile(r"([\w$]+):(?!:)")
_OPERATION = re.compile(r"(?:@(!?)(%?[\w$]+)\s+)?([a-z][\w.]*(?:::\w+)*)\s*(.*)$", re.DOTALL)
_REFUSED = {".func": "a function that is called", ".const": "constants of a module", ".global": "global variables"}
_QUIET = (".pragma", ".maxn", ".minn", ".loc")
SIZES = {"8": 1, "16": 2, "32": 4, "64": 8}


@dataclass(frozen=True)
class Operation:
    """One instruction: ``guard`` is a register, with ``!`` where it must be false; ``opcode`` split at dots."""

    line: int
    opcode: tuple[str, ...]
    operands: tuple[str, ...]
    guard: str = ""


@dataclass(frozen=True)
class Kernel:
    """One kernel. ``body`` holds operations, and labels as texts; offsets and sizes are in bytes."""

    name: str
    parameters: dict[str, int]
    types: dict[str, str]  #: of registers, such as ``pred`` and ``b32``
    shared: dict[str, int] = field(default_factory=dict)
    shared_bytes: int = 0
    body: tuple[Operation | str, ...] = ()


def parse_ptx(text: str) -> Kernel:
    """The only kernel of a PTX module. Raises :class:`PtxError`."""
    text = _COMMENT.sub("", text)
    for word, what in _REFUSED.items():
        if found := re.search(rf"^\s*(?:\.visible\s+|\.weak\s+)?\{word}\s", text, re.MULTILINE):
            raise PtxError(_line(text, found.end()), f"must be a kernel without {what}")
    entries = list(_ENTRY.finditer(text))
    if len(entries) != 1:
        raise PtxError(1, f"must hold one kernel, not {len(entries)}")
    entry = entries[0]
    reader = _Reader(_parameters(_line(text, entry.start()), entry[2]))
    for found in _SHARED.finditer(text[: entry.start()]):
        reader.share(found)
    start = entry.end()
    for line, statement in _statements(text, start, text.rindex("}")):
        reader.statement(line, statement)
    return reader.kernel(entry[1])


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


def _parameters(line: int, text: str) -> dict[str, int]:
    """Offsets of the parameters, each at a multiple of its size or of its ``.align``."""
    found, end = {}, 0
    for part in filter(None, (part.strip() for part in text.split(","))):
        match = _PARAMETER.match(part)
        if match is None:
            raise PtxError(line, f"parameter must be '.param .TYPE NAME', not {part!r}")
        size = SIZES[match[2].lstrip("bsuf")]
        end += -end % int(match[1] or size)
        found[match[3]] = end
        end += size * int(match[4] or 1)
    return found


def _statements(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    """Statements of a body with their lines. Braces around statements, which inline assembly has, say nothing."""
    while start < end:
        blank = re.compile(r"[\s{}]*").match(text, start, end)
        start = blank.end() if blank else start
        if start >= end:
            return
        label = _LABEL.match(text, start, end)
        stop = label.end() if label else text.find(";", start, end)
        if stop < 0:
            raise PtxError(_line(text, start), "statement must end with ';'")
        yield _line(text, start), text[start:stop].strip()
        start = stop if label else stop + 1


def split(text: str) -> list[str]:
    """Operands, cut at commas outside of brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "{[(") - (letter in "}])")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


class _Reader:
    """Gathers declarations and instructions of one body."""

    def __init__(self, parameters: dict[str, int]) -> None:
        self.parameters = parameters
        self.types: dict[str, str] = {}
        self.shared: dict[str, int] = {}
        self.end = 0
        self.dynamic: list[tuple[str, int]] = []
        self.body: list[Operation | str] = []

    def statement(self, line: int, text: str) -> None:
        """Take one statement."""
        if text.endswith(":"):
            self.body.append(text[:-1])
        elif match := _REGISTERS.match(text):
            self._registers(match[1], match[2])
        elif match := _SHARED.match(text):
            self.share(match)
        elif not text.startswith(_QUIET):
            self._operation(line, text)

    def share(self, match: re.Match[str]) -> None:
        """Place a variable of shared memory; one without a size is what the launch adds at the end."""
        align, name = int(match[1]), match[2]
        if not match[3]:
            self.dynamic.append((name, align))
            return
        self.end += -self.end % align
        self.shared[name] = self.end
        self.end += int(match[3])

    def _registers(self, kind: str, names: str) -> None:
        for part in split(names):
            found = _RANGE.match(part)
            if found and found[2]:
                self.types |= {f"{found[1]}{number}": kind for number in range(int(found[2]))}
            else:
                self.types[part] = kind

    def _operation(self, line: int, text: str) -> None:
        match = _OPERATION.match(text)
        if match is None:
            raise PtxError(line, f"must be an instruction, not {text.splitlines()[0]!r}")
        negate, register, opcode, operands = match.groups()
        guard = f"{negate}{register}" if register else ""
        self.body.append(Operation(line, tuple(opcode.split(".")), tuple(split(operands)), guard))

    def kernel(self, name: str) -> Kernel:
        """Everything that was read."""
        for variable, align in self.dynamic:
            self.end += -self.end % align
            self.shared[variable] = self.end
        return Kernel(name, self.parameters, self.types, self.shared, self.end, tuple(self.body))
