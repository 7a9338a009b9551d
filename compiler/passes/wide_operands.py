"""Source operands of several registers, which have consecutive numbers."""

from __future__ import annotations

from collections.abc import Iterator

from warpfile.compiler.model import Address, Constant, File, Instruction, Operand, Register
from warpfile.compiler.operand_widths import address_registers, source_registers
from warpfile.compiler.operands import roles


def power(count: int) -> int:
    """The least power of two that is not below."""
    return 1 << (count - 1).bit_length()


def wide_sources(instruction: Instruction) -> Iterator[range]:
    """Numbers of the registers of every source operand that has more than one."""
    for position, operand in enumerate(roles(instruction).sources):
        for register, count in _parts(instruction, position, operand):
            if count > 1 and register.file is File.GENERAL and not register.is_zero:
                yield range(register.number, register.number + count)


def _parts(instruction: Instruction, position: int, operand: Operand) -> Iterator[tuple[Register, int]]:
    """Registers of a source operand and how many each stands for."""
    if isinstance(operand, Register):
        yield operand, source_registers(instruction, position, operand)
    elif isinstance(operand, Address) and operand.base is not None:
        yield operand.base, address_registers(instruction, operand)[0]
    elif isinstance(operand, Constant) and operand.index is not None:
        yield operand.index, 1
