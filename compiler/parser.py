"""Parser of SASS listings: plain ``nvdisasm``, ``nvdisasm -c`` and ``cuobjdump -sass``."""

from __future__ import annotations

import codecs
import re
import struct
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from warpfile.compiler.architectures import EXECUTED, generation, gpu_name, remark, whereabouts
from warpfile.compiler.code_section import STEP, CodeSection, linked
from warpfile.compiler.cubin import machine_code
from warpfile.compiler.errors import ListingError
from warpfile.compiler.fat_listing import of_one_gpu
from warpfile.compiler.instruction_text import decode_instruction
from warpfile.compiler.model import Function, Instruction, Label, Listing, Routine, Symbol
from warpfile.compiler.opcodes import is_known
from warpfile.compiler.sections import Section
from warpfile.spec.reading import read_input

_NO_CODE: Mapping[str, bytes] = MappingProxyType({})
LARGEST_LISTING = 1 << 26  #: bytes, more than half a million instructions
MOST_LINES = 1 << 21
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_GOING = frozenset({"BRA", "BRX", "CALL"})  #: control goes to their labels
_SECTION = re.compile(r"\s*\.section\s+([^,\s]+)")
_CUOBJDUMP = re.compile(r"\s*Function\s*:\s*(\S+)")
_BINARIES = (b"\x7fELF", b"\x50\xed\x55\xba")  #: ELF files and bare fat binaries
_CODE = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+([^/\s.].*)$")
_ENCODING = re.compile(r"\s*/\*\s*0x([0-9a-f]{16})\s*\*/\s*$")
_LABEL = re.compile(r"([^\s:/]+):\s*$")
_TYPE = re.compile(r"\s*\.type\s+([^,\s]+),@function")
_ARCHITECTURE = re.compile(r"\s*(?:\.target\s+|code for )sm_([0-9]{2,3})")
_REGISTERS = re.compile(r"SHI_REGISTERS=([0-9]{1,9})")


def load_listing(path: Path, architecture: int | None = None) -> Listing:
    """Parse the listing in a file. Encodings that it does not show are those of the cubin beside it, if there is one.

    ``architecture`` is as in :func:`parse`. Raises :class:`ListingError` or ``InputError``; the
    system's errors pass through.
    """
    data = read_input(path, LARGEST_LISTING)
    if data.startswith(_BINARIES):
        how = "make one with 'nvdisasm FILE.cubin', or of another file with 'cuobjdump -sass FILE'"
        raise ListingError(str(path), 1, f"must be a text, not a cubin or another binary; {how}")
    if path.suffix in (".cu", ".ptx"):
        raise ListingError(str(path), 1, f"must be a listing, not {path.suffix}; 'warpfile import FILE' makes one")
    encoding = "utf-16" if data.startswith(_UTF16) else "utf-8-sig"  # both are what Windows makes of a redirection
    return parse(data.decode(encoding, errors="replace"), str(path), _code_beside(path), architecture)


def _code_beside(path: Path) -> Mapping[str, bytes]:
    cubin = path.with_suffix(".cubin")
    if cubin == path or not cubin.is_file():
        return _NO_CODE
    try:
        return machine_code(read_input(cubin, LARGEST_LISTING))
    except ValueError as error:
        raise ListingError(str(cubin), 1, str(error)) from None


def parse(text: str, name: str, code: Mapping[str, bytes] = _NO_CODE, architecture: int | None = None) -> Listing:
    """Parse a listing's text; ``name`` stands for it in messages. ``code`` has that of its functions, if known.

    Where ``cuobjdump`` shows code for several GPUs, ``architecture`` says which is meant: 90 for sm_90.
    """
    if (lines := text.count("\n")) > MOST_LINES:
        raise ListingError(name, 1, f"must have at most {MOST_LINES:,} lines, not {lines:,}")
    reader = _Reader(name, code)
    for number, line in enumerate(of_one_gpu(text.splitlines(), name, architecture), start=1):
        reader.line(number, line)
    if architecture not in (None, reader.architecture or architecture):
        raise ListingError(name, 1, f"has code for sm_{reader.architecture}, not for sm_{architecture}")
    if not any(code.raw for code in reader.code.values()):
        raise ListingError(name, 1, "must hold at least one function with instructions as printed by nvdisasm")
    return reader.listing(text)


class _Reader:
    """Splits a listing into sections, then builds the functions."""

    def __init__(self, name: str, known: Mapping[str, bytes]) -> None:
        self.name = name
        self.known = known
        self.code: dict[str, CodeSection] = {}
        self.data: dict[str, Section] = {}
        self.current: CodeSection | Section | None = None
        self.architecture: int | None = None

    def line(self, number: int, line: str) -> None:
        """Take one line of the listing."""
        if match := _SECTION.match(line):
            self._open(match[1].strip('"'))
        elif match := _CUOBJDUMP.match(line):
            self._open(".text." + match[1])
        elif self.current is None and (match := _ARCHITECTURE.match(line)):
            self._target(number, int(match[1]))
        elif isinstance(self.current, Section):
            self._data_line(number, line, self.current)
        else:
            self._code_line(number, line)

    def _target(self, number: int, architecture: int) -> None:
        if architecture not in EXECUTED:
            said = (
                f"must be of code for sm_{EXECUTED.start} to sm_{EXECUTED.stop - 1}, not for {gpu_name(architecture)}"
            )
            raise ListingError(self.name, number, said)
        self.architecture = architecture

    def _data_line(self, number: int, line: str, section: Section) -> None:
        try:
            section.add(line)
        except ValueError as error:
            raise ListingError(self.name, number, str(error)) from None

    def _open(self, section: str) -> None:
        if section.startswith(".text."):
            self.current = self.code.setdefault(section, CodeSection(section[len(".text.") :]))
        else:
            self.current = self.data.setdefault(section, Section(section))

    def _code_line(self, number: int, line: str) -> None:
        if match := _ENCODING.match(line):
            if isinstance(self.current, CodeSection) and self.current.raw:
                self.current.encodings.setdefault(self.current.raw[-1][1], []).append(int(match[1], 16))
        elif match := _CODE.match(line):
            self._instruction(number, int(match[1], 16), match[2])
        elif match := _LABEL.match(line):
            if self.current is not None:
                self._label(number, match[1])
        elif match := _TYPE.match(line):
            if isinstance(self.current, CodeSection) and match[1] not in self.current.routines:
                self.current.routines.append(match[1])
        elif match := _REGISTERS.search(line):
            if isinstance(self.current, CodeSection):
                self.current.registers = int(match[1])
        elif re.match(r"\s*/\*[0-9a-f]{4,}\*/", line):
            raise ListingError(self.name, number, f"an instruction must follow the offset, not {line.strip()!r}")

    def _label(self, number: int, label: str) -> None:
        assert isinstance(self.current, CodeSection)
        if label in self.current.labels:
            raise ListingError(self.name, number, f"label must be defined once, {label!r} was defined before")
        self.current.labels[label] = self.current.end

    def _instruction(self, number: int, offset: int, text: str) -> None:
        if not isinstance(self.current, CodeSection):
            raise ListingError(self.name, number, "instruction must stand in a .text section or under 'Function :'")
        body, semicolon, rest = text.partition(";")
        if not semicolon:
            raise ListingError(self.name, number, f"instruction must end with ';', not {text.strip()!r}")
        if offset != self.current.end:
            raise ListingError(self.name, number, f"offset must be {self.current.end:#06x}, not {offset:#06x}")
        if match := _ENCODING.match(rest):
            self.current.encodings[offset] = [int(match[1], 16)]
        self.current.raw.append((number, offset, " ".join(body.split())))

    def listing(self, text: str) -> Listing:
        """Everything that was read, as frozen data."""
        found = remark(self.architecture)
        warnings = [f"{self.name}: {found}"] if found else []
        sections = {code.name: code for code in self.code.values() if code.raw}
        for code in sections.values():
            self._show_encodings(code)
        functions = {name: self._function(linked(code, sections), warnings) for name, code in sections.items()}
        global_data, symbols = self._globals()
        constants = self.data.get(".nv.constant3")
        return Listing(
            name=self.name,
            text=text,
            functions=functions,
            shows_data=bool(self.data),
            global_data=global_data,
            symbols=symbols,
            constant_symbols=constants.symbols(0) if constants else {},
            warnings=tuple(dict.fromkeys(warnings)),
            architecture=self.architecture,
        )

    def _show_encodings(self, code: CodeSection) -> None:
        """What the listing leaves out of a section, from its machine code."""
        known = self.known.get(code.name)
        if code.encodings or known is None:
            return
        if len(known) != code.end:
            raise ListingError(
                self.name,
                code.raw[0][0],
                f"the cubin beside it must be the one that was listed: {code.name} has"
                f" {len(known)} bytes of code there and {code.end} here",
            )
        words = struct.iter_unpack("<QQ", known)
        code.encodings = {offset: list(pair) for offset, pair in zip(range(0, code.end, STEP), words, strict=True)}

    def _function(self, code: CodeSection, warnings: list[str]) -> Function:
        labels = code.labels | {} if code.name in code.labels else code.labels | {code.name: 0}
        instructions = tuple(self._decode(code, *raw, labels) for raw in code.raw)
        for instruction in instructions:
            if problem := _unknown(instruction):
                where = whereabouts(instruction.offset, self.architecture)
                warnings.append(f"{self.name}, line {instruction.line}: {problem} ({where})")
        info = self.data.get(f".nv.info.{code.name}")
        relocated = self.data.get(".nv.constant4")
        return Function(
            name=code.name,
            instructions=instructions,
            labels=labels,
            routines=_routines(code, labels, instructions),
            constants=self._constants(code.name),
            relocations=dict(relocated.relocations) if relocated else {},
            static_shared=self._static_shared(code.name),
            registers=code.registers,
            parameters=info.parameters() if info else None,
            parameter_base=info.parameter_base() if info else None,
            block=info.threads("EIATTR_REQNTID") if info else None,
            block_limit=info.threads("EIATTR_MAX_THREADS") if info else None,
            architecture=self.architecture,
        )

    def _decode(self, code: CodeSection, line: int, offset: int, text: str, labels: dict[str, int]) -> Instruction:
        words = code.encodings.get(offset, [])
        encoding = words[1] << 64 | words[0] if len(words) == 2 else None
        try:
            instruction = decode_instruction(line, offset, text, labels, encoding)
            # What only names a place, as BSSY does, may name the end.
            end = code.end if instruction.opcode in _GOING else code.end + STEP
            for label in (*instruction.operands, *instruction.targets):
                if isinstance(label, Label) and (label.offset % STEP or not 0 <= label.offset < end):
                    raise ValueError(f"label must be in the section at a multiple of {STEP}, not {label.offset:#x}")
            return instruction
        except ValueError as error:
            raise ListingError(self.name, line, str(error)) from None

    def _constants(self, function: str) -> dict[int, bytes]:
        names = {2: f".nv.constant2.{function}", 3: ".nv.constant3", 4: ".nv.constant4"}
        return {bank: bytes(self.data[name].data) for bank, name in names.items() if name in self.data}

    def _static_shared(self, function: str) -> int | None:
        section = self.data.get(f".nv.shared.{function}")
        if section is not None:
            return max(0, len(section.data) - generation(self.architecture).shared)
        return 0 if self.data else None

    def _globals(self) -> tuple[bytes, dict[str, Symbol]]:
        data, symbols = bytearray(), {}
        for name in (".nv.global.init", ".nv.global"):
            if section := self.data.get(name):
                data.extend(bytes(-len(data) % 256))
                symbols.update(section.symbols(len(data)))
                data.extend(section.data)
        return bytes(data), symbols


def _unknown(instruction: Instruction) -> str | None:
    """What of an instruction the analyses can only guess."""
    if not is_known(instruction.opcode):
        return f"opcode {instruction.full_opcode} is not known"
    if instruction.opcode == "BRX" and not instruction.targets:
        return "targets of BRX are not shown, control flow behind it is not known"
    is_named = any(isinstance(operand, Label) for operand in instruction.operands)
    if instruction.opcode == "CALL" and "ABS" not in instruction.modifiers and not is_named:
        return f"callee of {instruction.text} is not in the section"
    return None


def _routines(code: CodeSection, labels: dict[str, int], instructions: tuple[Instruction, ...]) -> tuple[Routine, ...]:
    """Function symbols of the section; where none are shown, the section's start and the targets of its calls."""
    places = {labels[name]: name for name in code.routines or [code.name] if name in labels}
    if not code.routines:
        for call in (instruction for instruction in instructions if instruction.opcode == "CALL"):
            for label in (operand for operand in call.operands if isinstance(operand, Label)):
                places.setdefault(label.offset, label.name)
    starts = sorted(places.items()) or [(0, code.name)]
    ends = [start for start, _ in starts[1:]] + [code.end]
    return tuple(Routine(name, start, end) for (start, name), end in zip(starts, ends, strict=True))
