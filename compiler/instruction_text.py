"""From the text of one instruction, without offset and semicolon, to its value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from warpfile.compiler.model import (
    ZERO_UNIFORM,
    Address,
    File,
    Immediate,
    Instruction,
    Label,
    Name,
    Operand,
    Predicate,
    Register,
)
from warpfile.compiler.opcodes import is_known
from warpfile.compiler.operand_shapes import fits
from warpfile.compiler.operand_text import label_operand, parse_operand, split_operands

_BODY = re.compile(r"(?:@(!?)(U?)P([0-6T])\s+)?([A-Z][A-Z0-9_]*)((?:\.[A-Za-z0-9_]+)*)(?:\s+(.*))?$")
_TARGETS = re.compile(r"\(\*\"BRANCH_TARGETS ([^\"]*)\"\*\)")
_REMARK = re.compile(r"\(\*\"[^\"]*\"\*\)")
_PLACE = re.compile(r"0x[0-9a-f]+$")
_IMMEDIATE_BIT = 32  #: lowest bit of a 32-bit literal in the encoding
_HAS_UNIFORM_BIT = 91  #: of a memory instruction: an address has a uniform register
#: Lowest bit of the number of a descriptor's first register, in loads, and in what stores, as sm_90 has it.
_LOADED_DESCRIPTOR_BIT, _DESCRIPTOR_BIT = 32, 64
_WITH_PLACE = ("BRA", "BSSY", "CALL", "RET")


def decode_instruction(
    line: int, offset: int, text: str, labels: Mapping[str, int], encoding: int | None = None
) -> Instruction:
    """The instruction that a text means. Raises :class:`ValueError` with the rule that the text breaks.

    One whose operands are not those of its base opcode has an opcode of its own, which is unknown.
    """
    targets: tuple[Label, ...] = ()
    body = text
    if match := _TARGETS.search(text):
        targets = tuple(label_operand(name.strip(), labels) for name in match[1].split(","))
        body = _TARGETS.sub("", text)
    body = _REMARK.sub("", body)
    match = _BODY.match(body.strip())
    if match is None:
        raise ValueError(f"instruction must be '[@guard] OPCODE[.MODIFIER]... operands', not {text!r}")
    negate, uniform, number, opcode, modifiers, operands = match.groups()
    guard = None
    if number is not None:
        guard = Predicate(7 if number == "T" else int(number), uniform=bool(uniform), negate=bool(negate))
    marks = tuple(modifiers.split(".")[1:])
    parsed = _operands(opcode, marks, split_operands(operands or ""), labels)
    if encoding is not None:
        parsed = tuple(_with_descriptor(opcode, one, encoding) for one in _with_bits(parsed, encoding))
    found = Instruction(offset, line, opcode, marks, parsed, guard, targets, text, encoding)
    if is_known(opcode) and not fits(found):
        return replace(found, opcode=f"{found.full_opcode} with other operands", modifiers=())
    return found


def _operands(
    opcode: str, modifiers: tuple[str, ...], parts: list[str], labels: Mapping[str, int]
) -> tuple[Operand, ...]:
    """Operands; ``cuobjdump`` prints the offset of a branch's target where ``nvdisasm`` has a label.

    Operands of an unknown opcode that have no known form, and callees outside of the section, are kept as names.
    """
    last: tuple[Operand, ...] = ()
    if opcode in _WITH_PLACE and parts and _PLACE.match(parts[-1]) and "ABS" not in modifiers:
        last = (Label(parts[-1], int(parts[-1], 16)),)
        parts = parts[:-1]
    if is_known(opcode) and opcode != "CALL":
        return (*(parse_operand(part, labels) for part in parts), *last)
    return (*(_lenient(part, labels) for part in parts), *last)


def _with_bits(operands: tuple[Operand, ...], encoding: int) -> tuple[Operand, ...]:
    """Decimal literals with their bits: one has the whole immediate field, two are its high and its low half."""
    count = sum(isinstance(one, Immediate) and not one.is_pattern for one in operands)
    word = encoding >> _IMMEDIATE_BIT & 0xFFFFFFFF
    bits = {1: [word], 2: [word & 0xFFFF, word >> 16]}.get(count, [])
    return tuple(
        replace(one, bits=bits.pop()) if bits and isinstance(one, Immediate) and not one.is_pattern else one
        for one in operands
    )


def _with_descriptor(opcode: str, operand: Operand, encoding: int) -> Operand:
    """Address with the descriptor that nvdisasm prints from sm_90 on only; the code of sm_80 to sm_89 has it too.

    Before sm_80 the general part of an address is marked as 64 bit only where it has a uniform part.
    """
    if not isinstance(operand, Address) or operand.base is None or "64" not in operand.base.marks:
        return operand
    if operand.uniform or operand.descriptor or not encoding >> _HAS_UNIFORM_BIT & 1:
        return operand
    is_load = opcode.startswith("LD") and opcode != "LDGSTS"
    first = _LOADED_DESCRIPTOR_BIT if is_load else _DESCRIPTOR_BIT
    return replace(operand, descriptor=Register(File.UNIFORM, encoding >> first & ZERO_UNIFORM))


def _lenient(text: str, labels: Mapping[str, int]) -> Operand:
    try:
        return parse_operand(text, labels)
    except ValueError:
        return Name(text)
