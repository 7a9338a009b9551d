"""Parser of SASS listings: plain ``nvdisasm``, ``nvdisasm -c`` and ``cuobjdump -sass``."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from compiler.errors import ListingError
from compiler.model import Function, Instruction, Label, Listing, Predicate, Routine, Symbol
from compiler.opcodes import is_known
from compiler.operand_text import label_operand, parse_operand, split_operands
from compiler.sections import Section

_SECTION = re.compile(r"\s*\.section\s+([^,\s]+)")
_CUOBJDUMP = re.compile(r"\s*Function\s*:\s*(\S+)")
_CODE = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+([^/\s.].*)$")
_ENCODING = re.compile(r"\s*/\*\s*0x[0-9a-f]{16}\s*\*/\s*$")
_BODY = re.compile(r"(?:@(!?)(U?)P([0-6T])\s+)?([A-Z][A-Z0-9_]*)((?:\.[A-Za-z0-9_]+)*)(?:\s+(.*))?$")
_LABEL = re.compile(r"([^\s:/]+):\s*$")
_TARGETS = re.compile(r"\(\*\"BRANCH_TARGETS ([^\"]*)\"\*\)")
_TYPE = re.compile(r"\s*\.type\s+([^,\s]+),@function")
_REGISTERS = re.compile(r"SHI_REGISTERS=(\d+)")
_DIRECT_BRANCHES = ("BRA", "BSSY", "CALL")
_STEP = 0x10


@dataclass
class _Code:
    """Raw lines of one text section, before labels can be resolved."""

    name: str
    raw: list[tuple[int, int, str]] = field(default_factory=list)  #: line, offset, text
    labels: dict[str, int] = field(default_factory=dict)
    routines: list[str] = field(default_factory=list)
    registers: int | None = None

    @property
    def end(self) -> int:
        return self.raw[-1][1] + _STEP if self.raw else 0


def load_listing(path: Path) -> Listing:
    """Parse the listing in a file. Raises :class:`ListingError`; the operating system's errors pass through."""
    data = path.read_bytes()
    if data.startswith(b"\x7fELF"):
        raise ListingError(str(path), 1, "must be a text, not a cubin; make one with 'nvdisasm FILE.cubin'")
    return parse(data.decode("utf-8", errors="replace"), str(path))


def parse(text: str, name: str) -> Listing:
    """Parse a listing's text; ``name`` stands for it in messages."""
    reader = _Reader(name)
    for number, line in enumerate(text.splitlines(), start=1):
        reader.line(number, line)
    if not any(code.raw for code in reader.code.values()):
        raise ListingError(name, 1, "must hold at least one function with instructions as printed by nvdisasm")
    return reader.listing(text)


class _Reader:
    """Splits a listing into sections, then builds the functions."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.code: dict[str, _Code] = {}
        self.data: dict[str, Section] = {}
        self.current: _Code | Section | None = None

    def line(self, number: int, line: str) -> None:
        """Take one line of the listing."""
        if match := _SECTION.match(line):
            self._open(match[1].strip('"'))
        elif match := _CUOBJDUMP.match(line):
            self._open(".text." + match[1])
        elif isinstance(self.current, Section):
            self.current.add(line)
        else:
            self._code_line(number, line)

    def _open(self, section: str) -> None:
        if section.startswith(".text."):
            self.current = self.code.setdefault(section, _Code(section[len(".text.") :]))
        else:
            self.current = self.data.setdefault(section, Section(section))

    def _code_line(self, number: int, line: str) -> None:
        if _ENCODING.match(line):
            return
        if match := _CODE.match(line):
            self._instruction(number, int(match[1], 16), match[2])
        elif match := _LABEL.match(line):
            if self.current is not None:
                self._label(number, match[1])
        elif match := _TYPE.match(line):
            if isinstance(self.current, _Code) and match[1] not in self.current.routines:
                self.current.routines.append(match[1])
        elif match := _REGISTERS.search(line):
            if isinstance(self.current, _Code):
                self.current.registers = int(match[1])
        elif re.match(r"\s*/\*[0-9a-f]{4,}\*/", line):
            raise ListingError(self.name, number, f"an instruction must follow the offset, not {line.strip()!r}")

    def _label(self, number: int, label: str) -> None:
        assert isinstance(self.current, _Code)
        if label in self.current.labels:
            raise ListingError(self.name, number, f"label must be defined once, {label!r} was defined before")
        self.current.labels[label] = self.current.end

    def _instruction(self, number: int, offset: int, text: str) -> None:
        if not isinstance(self.current, _Code):
            raise ListingError(self.name, number, "instruction must stand in a .text section or under 'Function :'")
        body, semicolon, _ = text.partition(";")
        if not semicolon:
            raise ListingError(self.name, number, f"instruction must end with ';', not {text.strip()!r}")
        if offset != self.current.end:
            raise ListingError(self.name, number, f"offset must be {self.current.end:#06x}, not {offset:#06x}")
        self.current.raw.append((number, offset, " ".join(body.split())))

    def listing(self, text: str) -> Listing:
        """Everything that was read, as frozen data."""
        warnings: list[str] = []
        functions = {code.name: self._function(code, warnings) for code in self.code.values() if code.raw}
        global_data, symbols = self._globals()
        return Listing(self.name, text, functions, bool(self.data), global_data, symbols, tuple(warnings))

    def _function(self, code: _Code, warnings: list[str]) -> Function:
        labels = code.labels | {} if code.name in code.labels else code.labels | {code.name: 0}
        instructions = tuple(self._decode(line, offset, text, labels) for line, offset, text in code.raw)
        for instruction in instructions:
            if not is_known(instruction.opcode):
                warnings.append(f"{self.name}, line {instruction.line}: opcode {instruction.full_opcode} is not known")
        info = self.data.get(f".nv.info.{code.name}")
        relocated = self.data.get(".nv.constant4")
        return Function(
            name=code.name,
            instructions=instructions,
            labels=labels,
            routines=_routines(code, labels),
            constants=self._constants(code.name),
            relocations=dict(relocated.relocations) if relocated else {},
            static_shared=self._static_shared(code.name),
            registers=code.registers,
            parameters=info.parameters() if info else None,
        )

    def _decode(self, line: int, offset: int, text: str, labels: dict[str, int]) -> Instruction:
        try:
            return decode_instruction(line, offset, text, labels)
        except ValueError as error:
            raise ListingError(self.name, line, str(error)) from None

    def _constants(self, function: str) -> dict[int, bytes]:
        names = {2: f".nv.constant2.{function}", 3: ".nv.constant3", 4: ".nv.constant4"}
        return {bank: bytes(self.data[name].data) for bank, name in names.items() if name in self.data}

    def _static_shared(self, function: str) -> int | None:
        section = self.data.get(f".nv.shared.{function}")
        if section is not None:
            return len(section.data)
        return 0 if self.data else None

    def _globals(self) -> tuple[bytes, dict[str, Symbol]]:
        data, symbols = bytearray(), {}
        for name in (".nv.global.init", ".nv.global"):
            if section := self.data.get(name):
                data.extend(bytes(-len(data) % 256))
                symbols.update(section.symbols(len(data)))
                data.extend(section.data)
        return bytes(data), symbols


def decode_instruction(line: int, offset: int, text: str, labels: dict[str, int]) -> Instruction:
    """One instruction from its text without offset and semicolon. Raises :class:`ValueError` with the rule."""
    targets: tuple[Label, ...] = ()
    body = text
    if match := _TARGETS.search(text):
        targets = tuple(label_operand(name.strip(), labels) for name in match[1].split(","))
        body = _TARGETS.sub("", text).strip()
    match = _BODY.match(body.strip())
    if match is None:
        raise ValueError(f"instruction must be '[@guard] OPCODE[.MODIFIER]... operands', not {text!r}")
    negate, uniform, number, opcode, modifiers, operands = match.groups()
    guard = None
    if number is not None:
        guard = Predicate(7 if number == "T" else int(number), uniform=bool(uniform), negate=bool(negate))
    parts = split_operands(operands or "")
    if opcode in _DIRECT_BRANCHES and parts and re.fullmatch(r"0x[0-9a-f]+", parts[-1]) and "ABS" not in modifiers:
        parsed = [*(parse_operand(part, labels) for part in parts[:-1]), Label(parts[-1], int(parts[-1], 16))]
    else:
        parsed = [parse_operand(part, labels) for part in parts]
    return Instruction(offset, line, opcode, tuple(modifiers.split(".")[1:]), tuple(parsed), guard, targets, text)


def _routines(code: _Code, labels: dict[str, int]) -> tuple[Routine, ...]:
    names = code.routines or [code.name]
    starts = sorted({(labels[name], name) for name in names if name in labels})
    ends = [start for start, _ in starts[1:]] + [code.end]
    return tuple(Routine(name, start, end) for (start, name), end in zip(starts, ends, strict=True))
