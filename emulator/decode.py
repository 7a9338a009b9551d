"""From parsed instructions to closures, once per launch.

A *builder* takes a :class:`emulator.source.Decoder` and returns the closure that executes the instruction. Builders are
registered by opcode with the modifiers they understand, so that an unknown modifier is an error and never ignored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from warpfile.compiler.architectures import whereabouts
from warpfile.compiler.errors import UnknownOpcodeError
from warpfile.compiler.model import ZERO_REGISTER, ZERO_UNIFORM, Function, Predicate
from warpfile.compiler.opcodes import FORMS
from warpfile.compiler.operands import effects
from warpfile.compiler.program import static_instructions
from warpfile.compiler.unsupported import unsupported
from warpfile.emulator.constants import ConstantBanks
from warpfile.emulator.destination import Decoder
from warpfile.emulator.errors import ExecutionError
from warpfile.emulator.lanes import ALL
from warpfile.emulator.warp import Control, Guard, Run, Step, Warp
from warpfile.spec.trace import Access, StaticInstruction

RunBuilder = Callable[[Decoder], Run]
ControlBuilder = Callable[[Decoder], Control]

#: Modifiers without effect on the result: cache and ordering hints.
HINTS = frozenset("SYS GPU CTA SM VC STRONG WEAK CONSTANT MMIO EF EL LU EU NA PRIVATE".split())


@dataclass(frozen=True)
class _Entry:
    builder: Callable[[Decoder], Run] | Callable[[Decoder], Control]
    modifiers: frozenset[str]
    is_control: bool
    marks: frozenset[str] = frozenset()


_TABLE: dict[str, _Entry] = {}


def opcode(names: str, modifiers: str = "", marks: str = "") -> Callable[[RunBuilder], RunBuilder]:
    """Register a builder for opcodes that only compute; ``marks`` are suffixes of source registers."""

    def register(builder: RunBuilder) -> RunBuilder:
        for name in names.split():
            _TABLE[name] = _Entry(builder, frozenset(modifiers.split()), False, frozenset(marks.split()))
        return builder

    return register


def control(names: str, modifiers: str = "") -> Callable[[ControlBuilder], ControlBuilder]:
    """Register a builder for opcodes that decide what runs next; ``*`` takes any modifier and operand."""

    def register(builder: ControlBuilder) -> ControlBuilder:
        for name in names.split():
            _TABLE[name] = _Entry(builder, frozenset(modifiers.split()), True)
        return builder

    return register


def supported_opcodes() -> frozenset[str]:
    """Base opcodes that can be executed."""
    return frozenset(_TABLE)


def modifiers_of(opcode: str) -> frozenset[str]:
    """Modifiers with an effect that the builder of an opcode understands."""
    return _TABLE[opcode].modifiers if opcode in _TABLE else frozenset()


def decode(function: Function, banks: ConstantBanks, listing: str) -> tuple[list[Step], tuple[StaticInstruction, ...]]:
    """Steps and static instructions of a function.

    Raises :class:`ExecutionError` naming listing, line and opcode for what cannot be executed.
    """
    if found := unsupported(function):
        feature, instruction = found
        where = f"{instruction.full_opcode} {whereabouts(instruction.offset, function.architecture)}"
        raise ExecutionError(
            f"{listing}, line {instruction.line}: kernel must not use {feature}: not executed ({where})"
        )
    try:
        statics = static_instructions(function)
    except UnknownOpcodeError as error:
        offset = next(one.offset for one in function.instructions if one.line == error.line)
        where = whereabouts(offset, function.architecture)
        raise ExecutionError(f"{listing}, line {error.line}: {error.problem} ({where})") from None
    steps = []
    for index, static in enumerate(statics):
        decoder = Decoder(function, index, banks)
        try:
            steps.append(_step(decoder, static))
        except (ValueError, IndexError, AttributeError, KeyError) as error:
            line = decoder.instruction.line
            reason = error if isinstance(error, ValueError) else "operands are not of the expected kinds"
            where = whereabouts(static.offset, function.architecture)
            raise ExecutionError(f"{listing}, line {line}: {static.text!r} {where}: {reason}") from None
    return steps, statics


def _step(decoder: Decoder, static: StaticInstruction) -> Step:
    instruction = decoder.instruction
    entry = _TABLE.get(instruction.opcode)
    if entry is None:
        raise ValueError(f"opcode {instruction.full_opcode} cannot be executed")
    allowed = entry.modifiers
    if FORMS[instruction.opcode].access is not Access.NONE:
        allowed = allowed | HINTS
    for modifier in instruction.modifiers if "*" not in allowed else ():
        if modifier not in allowed:
            raise ValueError(f"modifier .{modifier} of {instruction.opcode} cannot be executed")
    _check_groups(decoder)
    closure = entry.builder(decoder)
    if "*" not in allowed:
        decoder.check_complete(entry.marks)
    return Step(
        index=decoder.index,
        guard=_guard(instruction.guard if instruction.is_guarded else None, decoder.condition),
        run=None if entry.is_control else closure,  # type: ignore[arg-type]
        control=closure if entry.is_control else None,  # type: ignore[arg-type]
        dest=static.dest,
        dest_count=static.dest_count,
        is_memory=static.access is not Access.NONE,
        is_cta_barrier=instruction.opcode == "BAR",
    )


def _check_groups(decoder: Decoder) -> None:
    """No group of consecutive registers may run into RZ or URZ."""
    found = effects(decoder.instruction)
    for name, last, numbers in (
        ("RZ", ZERO_REGISTER, (*found.defs, *found.uses)),
        ("URZ", ZERO_UNIFORM, (*found.uniform_defs, *found.uniform_uses)),
    ):
        if any(number >= last for number in numbers):
            raise ValueError(f"operand of several registers must end below {name}")


def _guard(*predicates: Predicate | None) -> Guard | None:
    """Lanes where all of the predicates hold; None where there are none."""
    guards = [_lanes(one) for one in predicates if one is not None]
    if len(guards) < 2:
        return guards[0] if guards else None
    first, second = guards
    return lambda warp: first(warp) & second(warp)


def _lanes(predicate: Predicate) -> Guard:
    number, flip = predicate.number, ALL if predicate.negate else 0

    def of_lanes(warp: Warp) -> int:
        return warp.predicates[number] ^ flip

    def of_warp(warp: Warp) -> int:
        return warp.uniform_predicates[number] ^ flip

    return of_warp if predicate.uniform else of_lanes
