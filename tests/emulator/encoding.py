"""Literals of an instruction in its encoding, to be compared with those that its text prints.

The places were deduced with ``nvdisasm``, which prints what changing single bits of an encoding changes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from warpfile.compiler.model import Address, Constant, Immediate, Instruction, Label
from warpfile.emulator.source import float32_bits, float64_bits

Field = tuple[tuple[int, int], ...]  #: parts as (lowest bit, width), low part first

_WORD: Field = ((32, 32),)
_TARGET: Field = ((34, 48),)  #: words from the next instruction
_ADDRESS: Field = ((40, 24),)
_BANK: Field = ((54, 5),)
_CONSTANT: Field = ((38, 16),)
#: Fields of the last literals of an opcode; all others are the word.
_LAST: dict[str, tuple[Field, ...]] = {
    "BAR": (((54, 4),),),
    "LEA": (((75, 5),),),
    "LOP3": (((72, 8),),),
    "PLOP3": (((64, 3), (72, 5)), ((16, 8),)),
    "SHFL": (((53, 5),), ((40, 13),)),
}
_DOUBLES = frozenset(("DADD", "DMUL", "DFMA", "DSETP"))


def code_of(cubin: Path) -> dict[str, bytes]:
    """Contents of the text sections of an ELF file, by function."""
    data = cubin.read_bytes()
    (start,) = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", data, start + size * index) for index in range(count)]
    first = headers[names][4]
    found = {}
    for name, _, _, _, place, length in headers:
        title = data[first + name : data.index(b"\0", first + name)].decode()
        if title.startswith(".text."):
            found[title.removeprefix(".text.")] = data[place : place + length]
    return found


def literals(instruction: Instruction, encoding: int) -> Iterator[tuple[int, int]]:
    """Every literal of the operands as the text has it and as the encoding has it."""
    values = [operand for operand in instruction.operands if isinstance(operand, Immediate)]
    if instruction.opcode.endswith("2") and len(values) == 2:  # halves, the high one first
        word = [int(np.float16(value.value).view(np.uint16)) for value in values]
        values, pair = [], (word[0] << 16 | word[1], _value(encoding, _WORD))
        yield pair
    last = _LAST.get(instruction.opcode.removeprefix("U"), ())
    fields = [*[_WORD] * (len(values) - len(last)), *last][-len(values) :] if values else []
    for value, field in zip(values, fields, strict=True):
        yield _bits(instruction, value) & _mask(field), _value(encoding, field)
    for operand in instruction.operands:
        if isinstance(operand, Constant):
            yield operand.bank, _value(encoding, _BANK)
            yield operand.offset & _mask(_CONSTANT), _value(encoding, _CONSTANT)
        elif isinstance(operand, Address):
            yield operand.offset & _mask(_ADDRESS), _value(encoding, _ADDRESS)
        elif isinstance(operand, Label):
            distance = (operand.offset - instruction.offset - 16) // 4
            yield distance & _mask(_TARGET), _value(encoding, _TARGET)


def _bits(instruction: Instruction, literal: Immediate) -> int:
    """What the emulator takes the printed literal for; a double stands for its upper word."""
    if isinstance(literal.value, int):
        return literal.value
    is_double = instruction.opcode in _DOUBLES or {"RCP64H", "RSQ64H", "F64"} & set(instruction.modifiers)
    return float64_bits(literal) >> 32 if is_double else float32_bits(literal)


def _value(encoding: int, field: Field) -> int:
    value = place = 0
    for lowest, width in field:
        value |= (encoding >> lowest & (1 << width) - 1) << place
        place += width
    return value


def _mask(field: Field) -> int:
    return (1 << sum(width for _, width in field)) - 1
