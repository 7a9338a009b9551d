"""From a recorded instruction to the static instruction of a trace: places, widths, port and kind."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from warpfile.compiler.accelsim.line import BULK_COPIES, UNIFORM, ZERO, Recorded
from warpfile.compiler.accelsim.names import Shape, shape_of
from warpfile.compiler.model import Address, File, Immediate, Instruction, Operand, Register
from warpfile.compiler.opcodes import FORMS, Dest, Form
from warpfile.compiler.operand_widths import address_registers, dest_registers, source_registers
from warpfile.compiler.program import static_instruction
from warpfile.spec.trace import Access, Port, StaticInstruction

_WIDEST = 4
_UNKNOWN_NAME = Shape("MOV", ())
#: Opcodes whose widths depend on operands that the tracer does not record.
_OPERAND_SIZED = frozenset("TEX TLD TLD4 TXD TMML TXQ SULD SUST SUATOM SURED".split())
_MATRIX = frozenset("HMMA IMMA BMMA DMMA QMMA".split())
_MATRIX_SHAPE = re.compile(r"(8|16)8(4|8|16|32|64|128|256)")


@dataclass(frozen=True)
class Rebuilt:
    """A static instruction and the names of the repairs it took (``compiler.accelsim.repairs``)."""

    static: StaticInstruction
    repairs: tuple[str, ...]


def rebuild(recorded: Recorded, architecture: int) -> Rebuilt:
    """Rebuild one instruction for a machine, given by its binary version."""
    return _Rebuilding(recorded, architecture).result()


class _Rebuilding:
    """One instruction to rebuild; ``repairs`` grows with every repair.

    ``bare`` has no operands, ``whole`` has the sources, both under a name that the compiler knows.
    """

    def __init__(self, recorded: Recorded, architecture: int) -> None:
        self.recorded = recorded
        self.repairs: dict[str, None] = {}
        self.name, *marks = recorded.opcode.split(".")
        if self.name in BULK_COPIES:
            self._note("bulk_addresses")
        shape = shape_of(self.name, architecture) if self._is_sized(marks) else None
        if shape is None:
            self._note("unknown_opcodes")
            shape = self._guess()
        self.shape = shape
        self.form: Form = FORMS[shape.opcode]
        self.dest, self.sources = self._placed()
        modifiers = tuple(marks) if shape.modifiers is None else shape.modifiers
        self.bare = Instruction(recorded.pc, 0, shape.opcode, modifiers, (), None, (), recorded.opcode)
        self.operands = self._operands()
        self.whole = replace(self.bare, operands=tuple(self.operands))

    def _note(self, repair: str) -> None:
        self.repairs[repair] = None

    def _is_sized(self, marks: list[str]) -> bool:
        """Whether the mnemonic says the widths, as far as it has to."""
        if self.name in _MATRIX:
            return any(map(_MATRIX_SHAPE.fullmatch, marks)) and (self.name != "QMMA" or "F32" in marks)
        return self.name not in _OPERAND_SIZED and (self.name != "LDSM" or bool(marks))

    def _guess(self) -> Shape:
        """Known opcode of the shape that an unknown one was recorded in."""
        if self.recorded.width:
            return Shape("LD" if self.recorded.dest is not None else "ST")
        return _UNKNOWN_NAME if self.recorded.dest is not None else Shape("NOP", ())

    def _placed(self) -> tuple[int | None, list[int]]:
        """Destination and sources, put where the opcode has them.

        The tracer takes operand 0 for the destination if it is a vector register. Where a predicate stands first the
        destination is among the sources; a branch to a register or a barrier has only a source there.
        """
        dest, sources = self.recorded.dest, list(self.recorded.sources)
        if dest is not None and dest >= UNIFORM:
            return None, sources
        if dest is not None and self.form.dest is not Dest.GENERAL:
            self._note("moved_sources")
            return None, [dest, *sources]
        # Of ATOMS none may be there: its predicate is a result of its own.
        is_wanted = self.form.dest is Dest.GENERAL and self.name != "ATOMS"
        if dest is None and is_wanted and self.form.predicates and sources:
            self._note("moved_destinations")
            return sources[0], sources[1:]
        return dest, sources

    def _operands(self) -> list[Operand]:
        """Source operands by position, with an immediate where one is known to stand between."""
        operands: list[Operand] = [_register(number) for number in self.sources]
        if self.name == "LDGSTS":
            return [Address(_register(number)) for number in self.sources]
        if operands and (self.form.access is not Access.NONE or self.recorded.width) and self.shape.opcode != "LDC":
            operands[0] = Address(_register(self.sources[0]))
        if self._has_wide_addend() and len(operands) == 2:
            if self.recorded.immediate:
                operands.insert(1, Immediate(0, ""))
            else:
                self._note("assumed_factors")
        return operands

    def _has_wide_addend(self) -> bool:
        return self.shape.opcode == "IMAD" and bool({"WIDE", "HI"} & set(self.bare.modifiers))

    def result(self) -> Rebuilt:
        """The instruction with all its registers."""
        base = static_instruction(self.bare)
        width, widths = self._widths()
        first, count = self._aligned(self.dest, min(width, _WIDEST))
        sources: list[int] = []
        vector = 0
        for number, registers in zip(self.sources, widths, strict=True):
            if number < UNIFORM:
                low, taken = self._aligned(number, registers)
                sources += range(low, low + taken)
                vector += number != ZERO
        if ZERO in (self.dest, *self.sources):
            self._note("zero_registers")
        if count > 1 or len(sources) > vector:
            self._note("wide_operands")
        static = replace(
            base,
            opcode=self.recorded.opcode,
            text=self._text(),
            port=self._port(base, bool(count or sources)),
            sources=tuple(sources),
            dest=first,
            dest_count=count,
            token_reads=0,
            token_writes=0,
        )
        self._check_access(static)
        return Rebuilt(static, tuple(self.repairs))

    def _widths(self) -> tuple[int, list[int]]:
        """Registers of the destination and of each recorded source."""
        dest = dest_registers(self.bare)
        placed = enumerate(self.operands)
        return dest, [self._width(at, operand) for at, operand in placed if isinstance(operand, Register | Address)]

    def _width(self, position: int, operand: Operand) -> int:
        if not isinstance(operand, Address):
            width = source_registers(self.whole, position, operand)
            is_sparse = self.name in _MATRIX and "SP" in self.bare.modifiers and position == 0
            return max(1, width // 2) if is_sparse else width
        general, _ = address_registers(self.whole, operand)
        if general == 2 and operand.base is not None and operand.base.number % 2 and not operand.base.is_zero:
            self._note("narrow_bases")
            return 1
        return general

    def _aligned(self, number: int | None, count: int) -> tuple[int, int]:
        """First register and as many as fit its alignment; none for RZ."""
        if number is None or number == ZERO:
            return 0, 0
        fitting = count
        while number % min(fitting, _WIDEST) or number + fitting > ZERO:
            fitting //= 2
        if fitting < count:
            self._note("unaligned_operands")
        return number, fitting

    def _port(self, base: StaticInstruction, touches_registers: bool) -> Port:
        if base.access is not Access.NONE:
            return Port.LSU
        if not touches_registers:
            return Port.NONE
        return self.form.port if self.shape.port is None else self.shape.port

    def _check_access(self, static: StaticInstruction) -> None:
        if static.access is Access.NONE:
            if self.recorded.width:
                self._note("dropped_addresses")
        elif self.recorded.width and static.bytes != self.recorded.width:
            self._note("access_sizes")

    def _text(self) -> str:
        """The operands as far as they are known, in the order of a listing."""
        dests = [] if self.dest is None else [_register(self.dest)]
        known = [*dests, *(operand for operand in self.operands if not isinstance(operand, Immediate))]
        return " ".join((self.recorded.opcode, ", ".join(map(_operand_text, known)))).strip()


def _register(number: int) -> Register:
    return Register(File.GENERAL, number) if number < UNIFORM else Register(File.UNIFORM, number - UNIFORM)


def _operand_text(operand: Operand) -> str:
    if isinstance(operand, Address) and operand.base is not None:
        return f"[{_operand_text(operand.base)}]"
    assert isinstance(operand, Register)
    return f"{operand.file.value}{'Z' if operand.is_zero else operand.number}"
