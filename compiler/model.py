"""A SASS listing as frozen data: operands, instructions, functions.

Operands are compositional: every mark that nvdisasm can print on an operand is a field, whatever the opcode.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

from warpfile.compiler.control_codes import ControlCode, control_code

ZERO_REGISTER = 255
ZERO_UNIFORM = 63
TRUE_PREDICATE = 7


class File(Enum):
    """Register file that a register operand names."""

    GENERAL = "R"
    UNIFORM = "UR"


@dataclass(frozen=True)
class Register:
    """General or uniform register; RZ has number 255, URZ 63. ``marks`` are suffixes such as ``64`` or ``X4``."""

    file: File
    number: int
    negate: bool = False
    invert: bool = False
    absolute: bool = False
    reuse: bool = False
    marks: tuple[str, ...] = ()

    @property
    def is_zero(self) -> bool:
        """RZ or URZ: reads zero, drops writes."""
        return self.number == (ZERO_REGISTER if self.file is File.GENERAL else ZERO_UNIFORM)


@dataclass(frozen=True)
class Predicate:
    """Predicate register; PT and UPT have number 7."""

    number: int
    uniform: bool = False
    negate: bool = False

    @property
    def is_true(self) -> bool:
        """PT or UPT, negated or not: a constant."""
        return self.number == TRUE_PREDICATE


@dataclass(frozen=True)
class Immediate:
    """Literal. Hexadecimal text is a bit pattern, decimal text a floating-point value.

    ``bits`` of a decimal literal are those of the encoding, where the listing shows it: of a double the upper word, of
    a pair of halves one half.
    """

    value: int | float
    text: str
    bits: int | None = None

    @property
    def is_pattern(self) -> bool:
        """Whether the value is the operand's bits rather than a number to be encoded."""
        return isinstance(self.value, int)

    @property
    def hides_bits(self) -> bool:
        """A NaN of which the text tells neither payload nor sign (``-QNAN`` is also printed for 0xfff00000)."""
        return self.value != self.value and self.bits is None


@dataclass(frozen=True)
class Constant:
    """``c[bank][index + offset]``. ``index`` is a register or None, ``bank_register`` that of ``cx[UR4][...]``."""

    bank: int
    offset: int
    index: Register | None = None
    bank_register: Register | None = None
    negate: bool = False
    invert: bool = False
    absolute: bool = False


@dataclass(frozen=True)
class Address:
    """``[base + uniform + offset]``; the base's marks give its width (``64``, ``U32``) or scale (``X4`` to ``X16``).

    ``descriptor`` is the uniform pair of ``desc[UR4][R2.64]``, which only listings for sm_80 and later have.
    """

    base: Register | None = None
    uniform: Register | None = None
    offset: int = 0
    descriptor: Register | None = None

    @property
    def scale(self) -> int:
        """Factor of the base register."""
        marks = self.base.marks if self.base else ()
        return next((int(mark[1:]) for mark in marks if mark in ("X4", "X8", "X16")), 1)


@dataclass(frozen=True)
class Label:
    """A code or function label; ``offset`` is its place in the section."""

    name: str
    offset: int


@dataclass(frozen=True)
class Name:
    """Anything else that has a name: special registers, B0, SB0, PR."""

    text: str


#: Opcodes with an optional second predicate before their operands (``@P0 EXIT P1``), as nvdisasm prints them.
CONDITIONAL = frozenset("BRA BRX BREAK BSSY BSYNC CALL EXIT RET WARPSYNC YIELD".split())

Operand = Register | Predicate | Immediate | Constant | Address | Label | Name


@dataclass(frozen=True)
class Instruction:
    """One machine instruction. ``offset`` counts from the start of its section; ``line`` is that of the listing."""

    offset: int
    line: int
    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[Operand, ...]
    guard: Predicate | None
    targets: tuple[Label, ...]  #: of an indirect branch (BRANCH_TARGETS)
    text: str
    encoding: int | None = None  #: all 128 bits, where the listing shows them

    @cached_property
    def control(self) -> ControlCode | None:
        """Scheduling hints of the encoding, where the listing shows it."""
        return None if self.encoding is None else control_code(self.encoding)

    def reads(self, bank: int, offset: int) -> bool:
        """Whether an operand is the word at an offset of a constant bank, an index left out."""
        return any(isinstance(one, Constant) and (one.bank, one.offset) == (bank, offset) for one in self.operands)

    @property
    def full_opcode(self) -> str:
        """Opcode with its modifiers, e.g. ``LDG.E.SYS``."""
        return ".".join((self.opcode, *self.modifiers))

    @property
    def is_guarded(self) -> bool:
        """Whether some lanes may skip it. ``@PT`` is no guard, ``@!PT`` is one."""
        return self.guard is not None and not (self.guard.is_true and not self.guard.negate)

    @property
    def condition(self) -> Predicate | None:
        """Second predicate: the instruction acts in the lanes where both it and the guard hold."""
        first = self.operands[0] if self.operands and self.opcode in CONDITIONAL else None
        return first if isinstance(first, Predicate) else None

    @property
    def is_conditional(self) -> bool:
        """Whether a guard or a condition may exempt some lanes."""
        given = self.condition
        return self.is_guarded or (given is not None and not (given.is_true and not given.negate))

    @property
    def is_indirect_call(self) -> bool:
        """CALL.REL with the callee in registers, as a distance from the symbol that it names."""
        is_relative = self.opcode == "CALL" and "ABS" not in self.modifiers
        return is_relative and any(isinstance(operand, Register) for operand in self.operands)


@dataclass(frozen=True)
class Routine:
    """Function symbol inside a section: the kernel itself or a subroutine placed behind it. ``end`` is exclusive."""

    name: str
    start: int
    end: int


@dataclass(frozen=True)
class Parameter:
    """Kernel parameter: ``offset`` from the start of the parameters and size, both in bytes."""

    ordinal: int
    offset: int
    size: int


@dataclass(frozen=True)
class Symbol:
    """A variable of global memory: place in the module's data and size in bytes."""

    offset: int
    size: int


@dataclass(frozen=True)
class Function:
    """A kernel with everything of its section. ``None`` where the listing does not show a fact."""

    name: str
    instructions: tuple[Instruction, ...]
    labels: Mapping[str, int]
    routines: tuple[Routine, ...]
    constants: Mapping[int, bytes] = field(default_factory=dict)  #: by bank, what the listing shows
    relocations: Mapping[int, str] = field(default_factory=dict)  #: bank 4: offset -> symbol of global memory
    static_shared: int | None = None
    registers: int | None = None
    parameters: tuple[Parameter, ...] | None = None
    parameter_base: int | None = None  #: where they start in constant bank 0
    architecture: int | None = None  #: as of the listing
    block: tuple[int, int, int] | None = None  #: threads in x, y, z that a CTA must have (``.reqntid``)
    block_limit: tuple[int, int, int] | None = None  #: whose product a CTA may have at most (``__launch_bounds__``)


@dataclass(frozen=True)
class Listing:
    """All functions of one text. ``shows_data``: whether sections other than code are in it (not so for ``-c``).

    ``architecture`` is 75 for code for sm_75.
    """

    name: str
    text: str
    functions: Mapping[str, Function]
    shows_data: bool
    global_data: bytes = b""
    symbols: Mapping[str, Symbol] = field(default_factory=dict)
    constant_symbols: Mapping[str, Symbol] = field(default_factory=dict)  #: variables of constant bank 3
    warnings: tuple[str, ...] = ()
    architecture: int | None = None  #: None where the listing does not tell

    def function(self, name: str) -> Function:
        """The function of that name; a :class:`ValueError` lists the names there are."""
        if name not in self.functions:
            known = ", ".join(self.functions)
            raise ValueError(f"{self.name}: function must be one of {known}, not {name!r}")
        return self.functions[name]
