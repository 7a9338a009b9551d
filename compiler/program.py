"""From a parsed function to the instructions that a trace stores (``spec.trace.StaticInstruction``)."""

from __future__ import annotations

from warpfile.compiler.control_codes import control_bits
from warpfile.compiler.memoized import memoized
from warpfile.compiler.model import Function, Instruction
from warpfile.compiler.opcodes import BRANCHES, Form
from warpfile.compiler.operand_widths import access_bytes
from warpfile.compiler.operands import Effects, effects, form_of
from warpfile.spec.trace import (
    NO_CODE,
    UNIFORM_PREDICATE_TOKEN,
    UNIFORM_REGISTER_TOKEN,
    Access,
    Kind,
    Port,
    Space,
    StaticInstruction,
)

_UNIFORM_GROUPS = 8


def static_instructions(function: Function) -> tuple[StaticInstruction, ...]:
    """All instructions of the function's section, in order; index = offset / 16.

    Raises :class:`compiler.errors.UnknownOpcodeError` for an opcode with unknown operands.
    """
    return tuple(static_instruction(instruction) for instruction in function.instructions)


@memoized
def static_instruction(instruction: Instruction) -> StaticInstruction:
    """One instruction as the machine sees it."""
    form = form_of(instruction)
    found = effects(instruction)
    has_addresses = form.space not in (Space.NONE, Space.TEXTURE)
    return StaticInstruction(
        offset=instruction.offset,
        opcode=instruction.full_opcode,
        text=instruction.text,
        port=_port(form, found),
        kind=_kind(instruction),
        sources=found.uses,
        dest=found.defs[0] if found.defs else 0,
        dest_count=len(found.defs),
        token_reads=_tokens(found.predicate_uses, found.uniform_predicate_uses, found.uniform_uses),
        token_writes=_tokens(found.predicate_defs, found.uniform_predicate_defs, found.uniform_defs),
        space=form.space,
        access=form.access,
        bytes=access_bytes(instruction) if has_addresses else 0,
        approximate=form.approximate,
        control=NO_CODE if instruction.encoding is None else control_bits(instruction.encoding),
    )


def _port(form: Form, found: Effects) -> Port:
    if form.access is not Access.NONE:
        return Port.LSU
    return form.port if found.defs or found.uses else Port.NONE


def _kind(instruction: Instruction) -> Kind:
    if instruction.opcode == "EXIT" and not instruction.is_conditional:
        return Kind.EXIT
    if instruction.opcode == "BAR" and instruction.modifiers[:1] in (("SYNC",), ("RED",)):
        return Kind.BARRIER
    return Kind.BRANCH if instruction.opcode in BRANCHES else Kind.NORMAL


def _tokens(predicates: tuple[int, ...], uniform_predicates: tuple[int, ...], uniforms: tuple[int, ...]) -> int:
    mask = 0
    for number in predicates:
        mask |= 1 << number
    if uniform_predicates:
        mask |= 1 << UNIFORM_PREDICATE_TOKEN
    for number in uniforms:
        mask |= 1 << UNIFORM_REGISTER_TOKEN + number % _UNIFORM_GROUPS
    return mask
