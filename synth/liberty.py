"""Cell areas from a Liberty file: the part of the format that an area report needs, checked while it is read."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

from warpfile.spec.reading import read_input
from warpfile.synth.boolean import truth_table
from warpfile.synth.dont_use import dont_use

#: The project's own library in NAND2 units (its header derives every area).
NAND2_UNITS = Path(__file__).with_name("nand2.lib")
#: Its latches, which are counted only.
_LATCHES = Path(__file__).with_name("nand2_latches.lib")

_TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|\\\r?\n|\s+|("[^"]*"|[{}();:,]|[^\s{}();:,"]+)', re.DOTALL)
_LARGEST = 1 << 30  #: bytes of a library
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
#: The beginning of a group, or the end of one.
_HEAD = re.compile(r"(\w+)\s*\(([^(){}]*)\)\s*\{|\}")
_BRACE = re.compile(r"[{}]")
_WAVEFORM = re.compile(r"\b(?:output_current|receiver_capacitance)\w*\s*\(")
_UNIT = re.compile(r"\b(time_unit|capacitive_load_unit|voltage_unit|leakage_power_unit)\b([^;]*);")
_NAND2 = (True, True, True, False)
_AND2 = (False, False, False, True)
_BUFFER = (False, True)
_INVERTER = (True, False)


@dataclass
class Cell:
    """One cell: its area, whether it stores, its pins' directions and functions."""

    name: str
    area: float = 0.0
    flip_flop: bool = False
    latch: bool = False
    clock_gate: bool = False
    directions: dict[str, str] = field(default_factory=dict)
    functions: dict[str, str] = field(default_factory=dict)

    @property
    def is_nand2(self) -> bool:
        """Whether it has two inputs and its output is their NAND."""
        return self._computes(_NAND2)

    @property
    def is_and2(self) -> bool:
        """Whether it has two inputs and its output is their AND."""
        return self._computes(_AND2)

    @property
    def is_buffer(self) -> bool:
        """Whether it has one input and its output is the same."""
        return self._computes(_BUFFER)

    @property
    def is_inverter(self) -> bool:
        """Whether it has one input and its output is the opposite."""
        return self._computes(_INVERTER)

    @property
    def inputs(self) -> list[str]:
        """Its input pins."""
        return [pin for pin, direction in self.directions.items() if direction == "input"]

    def _computes(self, table: tuple[bool, ...]) -> bool:
        if len(self.functions) != 1 or 2 ** len(self.inputs) != len(table):
            return False
        try:
            return truth_table(*self.functions.values(), self.inputs) == table
        except ValueError:
            return False


@dataclass(frozen=True)
class Liberty:
    """A cell library: ``name`` for reports, its text, its cells, and the area of its smallest NAND2.

    The project's own has cells that its text has not: latches, which tools are not to use.
    """

    name: str
    text: str
    cells: dict[str, Cell]
    nand2_area: float

    def latched_area(self, bits: int) -> float:
        """Of so many latches behind one clock gate, the smallest of each; without one, a gate is a latch and an AND.

        Cells that :mod:`warpfile.synth.dont_use` names are not among them. Raises ``ValueError`` for a library without
        latches.
        """
        cells = [self.cells[name] for name in self.cells.keys() - dont_use(self.cells)]
        latches = [cell.area for cell in cells if cell.latch and not cell.clock_gate and cell.area > 0]
        if not latches:
            raise ValueError(f"{self.name} must have a latch with an area for operands in latches")
        gates = [cell.area for cell in cells if cell.clock_gate]
        ands = [cell.area for cell in cells if cell.is_and2]
        return bits * min(latches) + min(gates, default=min(latches) + min(ands, default=2 * self.nand2_area))

    @property
    def flip_flops(self) -> frozenset[str]:
        """Names of the cells that are flip-flops."""
        return frozenset(name for name, cell in self.cells.items() if cell.flip_flop)


def read_liberty(path: Path | None = None) -> Liberty:
    """Read a library, plain or gzip-compressed; without a path the project's own in NAND2 units.

    A library of several files is ``FOLDER/FIRST,SECOND,THIRD``: the others lie beside the first.
    Raises ``ValueError`` with one line, "FILE:LINE: what is wrong".
    """
    more = {} if path else _Parser(_LATCHES, _text(_LATCHES)).cells()
    path = path or NAND2_UNITS
    first, *others = _files(path)
    text = _text(first)
    cells = _Parser(first, text).cells()
    for file in others:
        more_text = _text(file)
        cells = _Parser(file, more_text).cells() | cells
        text = _joined(text, more_text, file)
    cells |= more
    nands = [cell.area for cell in cells.values() if cell.is_nand2 and cell.area > 0]
    if not nands:
        raise ValueError(f"{path}:1: no cell is a two-input NAND with an area, so there is no unit for equivalents")
    if not any(cell.flip_flop for cell in cells.values()):
        raise ValueError(f"{path}:1: no cell is a flip-flop")
    return Liberty(path.name, text, cells, min(nands))


def _files(path: Path) -> list[Path]:
    names = path.name.split(",")
    return [path] if path.exists() or len(names) < 2 else [path.with_name(name) for name in names]


def _joined(text: str, other: str, file: Path) -> str:
    """The text of a library with the groups of another one that it has not. ``file`` is the other's, for errors.

    Raises ``ValueError`` where their units differ.
    """
    ours, theirs = (
        {found[1]: re.sub(r"[\s\"]", "", found[2]) for found in _UNIT.finditer(some)} for some in (text, other)
    )
    if wrong := [unit for unit in ours if theirs.get(unit, ours[unit]) != ours[unit]]:
        raise ValueError(f"{file}:1: {wrong[0]} must be that of the first file, {ours[wrong[0]].strip(':')}")
    known = {head for head, _ in _groups(text)}
    more = "\n".join(group for head, group in _groups(other) if head not in known)
    return f"{text[: text.rindex('}')]}\n{more}\n}}\n"


def _without_waveforms(text: str) -> str:
    """The text without tables of currents and of receivers: no tool of ours reads them, and they are most of a file.

    Its lines keep their numbers.
    """
    if not _WAVEFORM.search(text):
        return text
    kept, end, opened, depth = [], 0, -1, 0
    for brace in _HEAD.finditer(text):
        if brace[0] == "}":
            depth -= 1
            if depth == opened:
                kept.append("\n" * text.count("\n", end, brace.end()))
                end, opened = brace.end(), -1
        else:
            if opened < 0 and _WAVEFORM.match(brace[0]):
                kept.append(text[end : brace.start()])
                end, opened = brace.start(), depth
            depth += 1
    return "".join([*kept, text[end:]])


def _groups(text: str) -> Iterator[tuple[tuple[str, str], str]]:
    """Groups right below the library: name and arguments, and the text."""
    text = _COMMENT.sub("", text)
    depth, start, head = 0, 0, ("", "")
    for brace in _HEAD.finditer(text):
        if brace[0] == "}":
            depth -= 1
            if depth == 1:
                yield head, text[start : brace.end()]
        else:
            if depth == 1:
                start, head = brace.start(), (brace[1], brace[2].strip('" '))
            depth += 1


def groups(text: str, kind: str) -> Iterator[tuple[str, str]]:
    """Arguments and body of every group of a kind, at any depth; quotes around all arguments are left out."""
    for found in re.finditer(rf"\b{kind}\s*\(\s*([^()]*?)\s*\)\s*{{", text):
        depth, end = 1, found.end()
        while depth and (brace := _BRACE.search(text, end)):
            depth, end = depth + (1 if brace[0] == "{" else -1), brace.end()
        yield found[1].strip('"'), text[found.end() : end]


def _text(path: Path) -> str:
    try:
        content = read_input(path, _LARGEST)
        if content[:2] == b"\x1f\x8b":
            with gzip.open(BytesIO(content)) as stream:
                content = stream.read(_LARGEST + 1)
        if len(content) > _LARGEST:
            raise ValueError(f"{path}:1: must have at most {_LARGEST:,} bytes when it is decompressed")
        return _without_waveforms(content.decode())
    except OSError as error:
        raise ValueError(f"{path}:1: {error.strerror or error}") from None
    except (EOFError, zlib.error, UnicodeDecodeError):
        raise ValueError(f"{path}:1: neither text nor gzip-compressed text") from None


class _Parser:
    """One pass over the tokens with the stack of open groups (name, first argument, position)."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._text = text
        self._groups: list[tuple[str, str, int]] = []
        self._cells: dict[str, Cell] = {}

    def cells(self) -> dict[str, Cell]:
        statement: list[str] = []
        position, end = 0, len(self._text)
        while position < end:
            match = _TOKEN.match(self._text, position)
            token = match[1] if match else '"'
            if token == '"' or (token or "").startswith("/*"):
                raise self._error(position, "a string or comment is not closed")
            if token and token in "{};":
                self._statement(statement, token, position)
                statement = []
            elif token:
                statement.append(token.strip('"'))
            position = match.end() if match else end
        if self._groups:
            name, argument, opened = self._groups[-1]
            raise self._error(opened, f"group {name}({argument}) is not closed")
        if not self._cells:
            raise ValueError(f"{self._path}:1: no library with cells")
        return self._cells

    def _statement(self, tokens: list[str], end: str, position: int) -> None:
        if len(tokens) > 2 and tokens[1] == ":":
            self._attribute(tokens[0], tokens[2], position)
        if end == "{":
            self._open(tokens, position)
        elif end == "}":
            if not self._groups:
                raise self._error(position, "a brace closes no group")
            self._groups.pop()

    def _open(self, tokens: list[str], position: int) -> None:
        if "(" not in tokens[1:]:
            raise self._error(position, "a group needs a name and parentheses")
        bracket = len(tokens) - 1 - tokens[::-1].index("(")
        name, argument = tokens[bracket - 1], tokens[bracket + 1]
        if not self._groups and name != "library":
            raise self._error(position, f"the outermost group must be library, not {name}")
        self._groups.append((name, argument, position))
        if len(self._groups) == 2 and name == "cell":
            self._cells[argument] = Cell(argument)
        elif len(self._groups) == 3 and (cell := self._cell):
            cell.flip_flop |= name == "ff"
            cell.latch |= name == "latch"

    @property
    def _cell(self) -> Cell | None:
        if len(self._groups) < 2 or self._groups[1][0] != "cell":
            return None
        return self._cells[self._groups[1][1]]

    def _attribute(self, name: str, value: str, position: int) -> None:
        cell = self._cell
        if cell is None:
            return
        if len(self._groups) == 2 and name == "clock_gating_integrated_cell":
            cell.clock_gate = True
        elif len(self._groups) == 2 and name == "area":
            try:
                cell.area = float(value)
            except ValueError:
                raise self._error(position, f"area of {cell.name} must be a number, not {value}") from None
        elif len(self._groups) == 3 and self._groups[2][0] == "pin":
            if name == "direction":
                cell.directions[self._groups[2][1]] = value
            elif name == "function":
                cell.functions[self._groups[2][1]] = value

    def _error(self, position: int, what: str) -> ValueError:
        line = self._text.count("\n", 0, position) + 1
        return ValueError(f"{self._path}:{line}: {what}")
