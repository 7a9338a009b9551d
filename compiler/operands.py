"""Definitions and uses of an instruction, operand by operand."""

from __future__ import annotations

from dataclasses import dataclass

from warpfile.compiler.errors import UnknownOpcodeError
from warpfile.compiler.memoized import memoized
from warpfile.compiler.model import Address, Constant, File, Immediate, Instruction, Name, Operand, Predicate, Register
from warpfile.compiler.opcodes import FORMS, Dest, Form
from warpfile.compiler.operand_widths import address_registers, dest_registers, source_registers
from warpfile.compiler.textures import SURFACES, TEXTURES, handle_registers, surface_registers, texture_registers

PREDICATES_MASK = 0x7F
_PACKED = frozenset("HADD2 HMUL2 HFMA2 HSET2 HSETP2".split())  #: two half floats in a register


@dataclass(frozen=True)
class Roles:
    """Operands by role. ``dest`` is None where the opcode has none or the text leaves it out."""

    dest: Register | None
    predicate_dests: tuple[Predicate, ...]
    sources: tuple[Operand, ...]


@dataclass(frozen=True)
class Effects:
    """Registers an instruction defines and uses, by file, without the constant ones (RZ, PT, URZ, UPT).

    ``uses`` is in operand order, wide operands low register first, repetitions kept. Guards are predicate uses.
    """

    defs: tuple[int, ...] = ()
    uses: tuple[int, ...] = ()
    predicate_defs: tuple[int, ...] = ()
    predicate_uses: tuple[int, ...] = ()
    uniform_defs: tuple[int, ...] = ()
    uniform_uses: tuple[int, ...] = ()
    uniform_predicate_defs: tuple[int, ...] = ()
    uniform_predicate_uses: tuple[int, ...] = ()


def form_of(instruction: Instruction) -> Form:
    """Operand structure; :class:`UnknownOpcodeError` for an opcode that has none."""
    if instruction.opcode not in FORMS:
        problem = f"opcode must be one with known operands, not {instruction.full_opcode}"
        raise UnknownOpcodeError("listing", instruction.line, problem)
    return FORMS[instruction.opcode]


def roles(instruction: Instruction) -> Roles:
    """Split the operands: predicates around the destination are defined as long as the form allows."""
    form = form_of(instruction)
    operands = list(instruction.operands)
    predicates: list[Predicate] = []
    dest = None

    def take_predicates() -> None:
        while operands and isinstance(operands[0], Predicate) and len(predicates) < form.predicates:
            predicates.append(operands.pop(0))  # type: ignore[arg-type]

    take_predicates()
    file = File.UNIFORM if form.dest is Dest.UNIFORM else File.GENERAL
    if form.dest is not Dest.NONE and operands:
        first = operands[0]
        if isinstance(first, Register) and first.file is file:
            dest = first
            operands.pop(0)
            take_predicates()
    return Roles(dest, tuple(predicates), tuple(operands))


@memoized
def effects(instruction: Instruction) -> Effects:
    """Definitions and uses of one instruction. Raises :class:`UnknownOpcodeError`."""
    parts = roles(instruction)
    uses = _Uses()
    if instruction.guard is not None:
        uses.predicate(instruction.guard)
    if instruction.opcode in TEXTURES | SURFACES:
        return _texture_effects(instruction, uses)
    for position, operand in enumerate(parts.sources):
        uses.operand(instruction, position, operand)
    defs = _expand(parts.dest, dest_registers(instruction)) if parts.dest else ()
    is_uniform = parts.dest is not None and parts.dest.file is File.UNIFORM
    predicate_defs = [p.number for p in parts.predicate_dests if not p.is_true and not p.uniform]
    uniform_predicate_defs = [p.number for p in parts.predicate_dests if not p.is_true and p.uniform]
    packed = _packed_predicates(instruction)
    if instruction.opcode == "R2P":
        predicate_defs += packed
    elif instruction.opcode == "P2R":
        uses.predicates += packed
    return Effects(
        defs=() if is_uniform else defs,
        uses=tuple(uses.general),
        predicate_defs=tuple(predicate_defs),
        predicate_uses=tuple(uses.predicates),
        uniform_defs=defs if is_uniform else (),
        uniform_uses=tuple(uses.uniform),
        uniform_predicate_defs=tuple(uniform_predicate_defs),
        uniform_predicate_uses=tuple(uses.uniform_predicates),
    )


def source_operands(instruction: Instruction) -> tuple[tuple[int, ...], ...]:
    """General registers of every source operand that has some; those of a texture operation count as one operand."""
    if instruction.opcode in TEXTURES | SURFACES:
        return tuple(filter(None, [effects(instruction).uses]))
    return tuple(filter(None, operand_registers(instruction)))


def operand_registers(instruction: Instruction) -> tuple[tuple[int, ...], ...]:
    """General registers of every source operand of the text but predicates, none where it has none.

    Both numbers of an immediate pair of half floats are one operand.
    """
    found, sources = [], roles(instruction).sources
    for position, operand in enumerate(sources):
        uses = _Uses()
        uses.operand(instruction, position, operand)
        second = instruction.opcode in _PACKED and all(
            isinstance(one, Immediate) for one in sources[position - 1 :][:2]
        )
        if not (isinstance(operand, Predicate) or (position and second)):
            found.append(tuple(uses.general))
    return tuple(found)


def _texture_effects(instruction: Instruction, uses: _Uses) -> Effects:
    find = texture_registers if instruction.opcode in TEXTURES else surface_registers
    defs, general = find(instruction)
    predicates, uniform_predicates = tuple(uses.predicates), tuple(uses.uniform_predicates)
    return Effects(
        defs,
        general,
        predicate_uses=predicates,
        uniform_uses=handle_registers(instruction),
        uniform_predicate_uses=uniform_predicates,
    )


def _expand(register: Register, count: int) -> tuple[int, ...]:
    return () if register.is_zero else tuple(range(register.number, register.number + count))


def _packed_predicates(instruction: Instruction) -> list[int]:
    """Predicates that P2R or R2P moves: those in the literal mask, all of them if it is a register."""
    last = instruction.operands[-1] if instruction.operands else None
    mask = last.value if isinstance(last, Immediate) and isinstance(last.value, int) else PREDICATES_MASK
    return [number for number in range(7) if mask >> number & 1]


class _Uses:
    """Collects the registers that operands read."""

    def __init__(self) -> None:
        self.general: list[int] = []
        self.uniform: list[int] = []
        self.predicates: list[int] = []
        self.uniform_predicates: list[int] = []

    def operand(self, instruction: Instruction, position: int, operand: Operand) -> None:
        """Take one source operand."""
        if isinstance(operand, Register):
            self.register(operand, source_registers(instruction, position, operand))
        elif isinstance(operand, Predicate):
            self.predicate(operand)
        elif isinstance(operand, Address):
            self.address(instruction, operand)
        elif isinstance(operand, Constant):
            for register in (operand.bank_register, operand.index):
                if register is not None:
                    self.register(register, 2 if register is operand.bank_register else 1)
        elif isinstance(operand, Name) and instruction.opcode == "DEPBAR":
            return

    def address(self, instruction: Instruction, address: Address) -> None:
        """Take the registers of a memory address, general part first."""
        general, uniform = address_registers(instruction, address)
        if address.base is not None:
            self.register(address.base, general)
        if address.uniform is not None:
            self.register(address.uniform, uniform)
        if address.descriptor is not None:
            self.register(address.descriptor, 2)

    def register(self, register: Register, count: int) -> None:
        """Take ``count`` consecutive registers."""
        target = self.general if register.file is File.GENERAL else self.uniform
        target.extend(_expand(register, count))

    def predicate(self, predicate: Predicate) -> None:
        """Take a predicate unless it is constant."""
        if not predicate.is_true:
            (self.uniform_predicates if predicate.uniform else self.predicates).append(predicate.number)
