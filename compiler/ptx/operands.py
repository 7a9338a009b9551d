"""Operands of PTX as text in SASS notation, with virtual registers."""

from __future__ import annotations

import re
from dataclasses import dataclass

from warpfile.compiler.ptx.parse import Kernel

NUMBER = re.compile(r"-?(0[xX][0-9a-fA-F]+|\d+)U?$")
_FLOAT = re.compile(r"0[fFdD]([0-9a-fA-F]{8,16})$")
_PLACE = re.compile(r"\[\s*([%\w$]+)\s*(?:\+\s*(-?\d+))?\s*\]$")


@dataclass(frozen=True)
class Operand:
    """Text of an operand, the registers that it names, and the value of a literal.

    Of a floating-point literal that are its bits, and ``sign`` is the one of its sign.
    """

    text: str
    registers: tuple[str, ...] = ()
    value: int | None = None
    sign: int = 0

    def word(self, half: str) -> str:
        """Text of the operand or of one of its words."""
        if not half:
            return self.text
        if self.value is not None:
            return literal(self.value >> 32 * int(half) & 0xFFFFFFFF)
        return f"{self.text}:{half}"

    def negated(self, half: str) -> str:
        """The same with another sign."""
        if self.value is None:
            return f"-{self.word(half)}"
        return literal(self.value ^ self.sign if self.sign else -self.value)


def literal(value: int) -> str:
    """A number as listings print it."""
    return f"-0x{-value:x}" if value < 0 else f"0x{value:x}"


def operand_of(kernel: Kernel, text: str) -> Operand:
    """A register, a literal, a symbol of shared memory, or an address. Raises ``ValueError`` for anything else."""
    name = text.lstrip("!").lstrip("%")
    if text.lstrip("!") in kernel.types:
        return Operand(f"{'!' * text.startswith('!')}%{name}", (name,))
    if NUMBER.match(text):
        value = int(text.rstrip("U"), 0)
        return Operand(literal(value), value=value)
    if match := _FLOAT.match(text):
        return Operand(f"0x{match[1].lower()}", value=int(match[1], 16), sign=1 << 4 * len(match[1]) - 1)
    if text in kernel.shared:
        return Operand(literal(kernel.shared[text]), value=kernel.shared[text])
    if match := _PLACE.match(text):
        return _address(kernel, match[1], int(match[2] or 0))
    raise ValueError(f"operand must be a register, a literal or shared memory, not {text!r}")


def _address(kernel: Kernel, base: str, offset: int) -> Operand:
    if base in kernel.shared:
        return Operand(f"[{literal(kernel.shared[base] + offset)}]")
    register = operand_of(kernel, base)
    if not register.registers:
        raise ValueError(f"address must have a register, not {base!r}")
    return Operand(f"[{register.text}{f'+{literal(offset)}' if offset else ''}]", register.registers)
