"""Registers per thread of matrix instructions, from the shape and element types in the mnemonic."""

from __future__ import annotations

import re
from collections.abc import Sequence

OPCODES = frozenset("HMMA IMMA BMMA DMMA QMMA".split())
_REGISTER_BITS = 32 * 32
_ELEMENT_BITS = {"HMMA": 16, "IMMA": 8, "BMMA": 1, "DMMA": 64, "QMMA": 8}
_SHAPE = re.compile(r"(8|16)(8)(4|8|16|32|64|128|256)")


def fragments(opcode: str, modifiers: Sequence[str]) -> tuple[int, int, int] | None:
    """Registers of A, B and the accumulator (also the result); None where the mnemonic has no known shape.

    An m x n x k instruction spreads its matrices over 32 threads: A holds m * k elements, B k * n, the accumulator
    m * n. A sparse A (``SP``) holds half. A step of Volta's HMMA.884 takes and gives pairs.
    """
    found = next((match for mark in modifiers if (match := _SHAPE.fullmatch(mark))), None)
    if found is None:
        return None
    m, n, k = map(int, found.groups())
    if opcode == "HMMA" and (m, k) == (8, 4):
        return 2, 2, 2
    bits = _element_bits(opcode, modifiers)
    result_bits = 64 if opcode == "DMMA" else 16 if _accumulates_halves(opcode, modifiers) else 32
    first = m * k * bits // (2 if "SP" in modifiers else 1)
    return _registers(first), _registers(k * n * bits), _registers(m * n * result_bits)


def _element_bits(opcode: str, modifiers: Sequence[str]) -> int:
    if "TF32" in modifiers:
        return 32
    if opcode == "IMMA" and {"S4", "U4"} & set(modifiers):
        return 4
    return _ELEMENT_BITS[opcode]


def _accumulates_halves(opcode: str, modifiers: Sequence[str]) -> bool:
    return opcode in ("HMMA", "QMMA") and "F32" not in modifiers


def _registers(bits: int) -> int:
    return max(1, bits // _REGISTER_BITS)
