"""Registers of texture and surface instructions, as ``nvdisasm -plr`` marks them.

Results come in two groups: the first two words go to the second destination, the rest to the first one. What is read
(coordinates, array layer, level of detail, and for ``.B`` a handle) is spread over two vector operands.
"""

from __future__ import annotations

from warpfile.compiler.model import Address, File, Immediate, Instruction, Name, Register

TEXTURES = frozenset("TEX TLD TLD4 TXD TMML".split())
SURFACES = frozenset("SULD SUST SUATOM SURED".split())
_COORDINATES = {"1D": 1, "2D": 2, "3D": 3, "CUBE": 3}
_EXTRA = frozenset("LL LB LBA LC DC AOFFI MS PTP".split())
_SIZES = {"64": 2, "128": 4}


def texture_registers(instruction: Instruction) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """General registers that a texture instruction defines (lower words first) and uses, without RZ."""
    registers = [one for one in instruction.operands if isinstance(one, Register) and one.file is File.GENERAL]
    if len(registers) < 3:
        return (), tuple(number for register in registers for number in _span(register, 1))
    high, low, *sources = registers
    results = _results(instruction)
    defs = _span(low, min(2, results)) + _span(high, max(0, results - 2))
    uses: tuple[int, ...] = ()
    for register, count in zip(sources, _sizes(instruction), strict=False):
        uses += _span(register, count)
    return defs, uses


def surface_registers(instruction: Instruction) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The same for a surface instruction: ``[coordinates]``, data, and a handle unless that is a literal."""
    mark = next((mark for mark in instruction.modifiers if mark.removesuffix("_ARRAY") in _COORDINATES), "3D")
    coordinates = _COORDINATES[mark.removesuffix("_ARRAY")] + mark.endswith("_ARRAY")
    size = next((_SIZES[name] for name in instruction.modifiers if name in _SIZES), 1)
    operands = list(instruction.operands)
    defs: tuple[int, ...] = ()
    if operands and isinstance(operands[0], Register):
        defs = _span(operands.pop(0), size)  # type: ignore[arg-type]
    uses: tuple[int, ...] = ()
    widths = [1] if instruction.opcode == "SULD" else [size, 1]
    for operand in operands:
        if isinstance(operand, Address) and operand.base is not None:
            uses += _span(operand.base, coordinates)
        elif isinstance(operand, Register) and operand.file is File.GENERAL:
            uses += _span(operand, widths.pop(0) if widths else 1)
    return defs, uses


def handle_registers(instruction: Instruction) -> tuple[int, ...]:
    """Uniform registers with the handle, which sm_90 and later name: of a texture and a sampler, or of a surface."""
    count = 1 if instruction.opcode in SURFACES else 2
    uniform = (one for one in instruction.operands if isinstance(one, Register) and one.file is File.UNIFORM)
    return tuple(number for register in uniform for number in _span(register, count))


def _results(instruction: Instruction) -> int:
    """Words of the result: bits of the component mask, which is left out where it is full."""
    last = instruction.operands[-1]
    is_mask = isinstance(last, Immediate) and isinstance(last.value, int)
    return int(last.value).bit_count() if is_mask else 4  # type: ignore[union-attr]


def _sizes(instruction: Instruction) -> tuple[int, int]:
    """Registers of both source operands."""
    kinds = [operand.text for operand in instruction.operands if isinstance(operand, Name)]
    kind = next((kind for kind in kinds if kind.removeprefix("ARRAY_") in _COORDINATES), "3D")
    coordinates = _COORDINATES[kind.removeprefix("ARRAY_")] + kind.startswith("ARRAY_")
    extra = sum(modifier in _EXTRA for modifier in instruction.modifiers)
    handle = int("B" in instruction.modifiers)
    if "SCR" in instruction.modifiers:
        total = coordinates + extra + handle
        return total - total // 2, total // 2
    if instruction.opcode == "TXD":
        return coordinates + handle, 2 * coordinates
    return coordinates, extra + handle


def _span(register: Register, count: int) -> tuple[int, ...]:
    return () if register.is_zero else tuple(range(register.number, register.number + count))
