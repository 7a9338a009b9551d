"""How many consecutive registers each operand of an instruction takes, from its modifiers."""

from __future__ import annotations

import re

from warpfile.compiler.model import Address, Instruction, Operand, Register

_MEMORY = frozenset("LD LDG LDS LDL ST STG STS STL LDC ULDC LDCU ATOM ATOMG ATOMS RED REDG".split())
_CONSTANTS = frozenset("LDC ULDC LDCU".split())
#: Integer instructions that sm_120 also has for pairs, with .64 or a 64-bit type.
_INTEGER = frozenset("MOV UMOV IADD IADD3 UIADD3 IMNMX ISETP UISETP SEL USEL".split())
#: Doubles, and pairs of single precision, which only sm_100 has.
_PAIRS = frozenset("DADD DMUL DFMA DSETP FADD2 FMUL2 FFMA2".split())
#: Bits of the factors of matrix products, unless modifiers say otherwise.
_MATRIX = {"HMMA": 16, "IMMA": 8, "BMMA": 1, "DMMA": 64}
_WIDE_TYPES = frozenset(("F64", "S64", "U64"))
_WIDE_DATA = _WIDE_TYPES | {"64", "F32x2", "F16x4", "BF16x4"}
_QUADS = frozenset(("128", "F32x4", "F16x8", "BF16x8"))
_TYPES = _WIDE_TYPES | frozenset("F32 F16 BF16 S32 U32 S16 U16 S8 U8".split())


def data_registers(instruction: Instruction) -> int:
    """Registers of an operand: 1, 2 for ``.64``, 64-bit types and pairs of them, 4 for ``.128`` and its like."""
    if _QUADS & set(instruction.modifiers):
        return 4
    return 2 if _WIDE_DATA & set(instruction.modifiers) else 1


def access_bytes(instruction: Instruction) -> int:
    """Bytes that a memory instruction moves per address (LDSM and STSM: a row of a matrix)."""
    if instruction.opcode in ("LDSM", "STSM"):
        return 16
    for mark, size in (("U8", 1), ("S8", 1), ("U16", 2), ("S16", 2)):
        if mark in instruction.modifiers:
            return size
    return 4 * data_registers(instruction)


def matrices(instruction: Instruction) -> int:
    """Matrices that LDSM or STSM moves, a register each."""
    return next((int(mark) for mark in ("4", "2") if mark in instruction.modifiers), 1)


def conversion_types(instruction: Instruction) -> tuple[str, str]:
    """Destination and source type of I2F, F2I, F2F, FRND and I2I.

    nvdisasm leaves the 32-bit default out and prints the destination first where both are of one kind.
    """
    kinds = {"I2F": ("F32", "S32"), "F2I": ("S32", "F32"), "F2F": ("F32", "F32"), "FRND": ("F32", "F32")}
    dest, source = kinds.get(instruction.opcode, ("S32", "S32"))
    types = [mark for mark in instruction.modifiers if mark in _TYPES]
    if instruction.opcode in ("F2F", "I2I"):
        padded = [*types, dest, source]
        return padded[0], padded[1]
    if instruction.opcode == "FRND":
        return (types[0], types[0]) if types else (dest, source)
    for mark in types:
        is_float = "F" in mark
        if is_float == (instruction.opcode == "I2F"):
            dest = mark
        else:
            source = mark
    return dest, source


def dest_registers(instruction: Instruction) -> int:
    """Registers of the destination operand."""
    opcode, modifiers = instruction.opcode, instruction.modifiers
    if opcode in _MEMORY:
        return data_registers(instruction)
    if opcode in ("I2F", "F2I", "F2F", "FRND", "I2I"):
        return 2 if conversion_types(instruction)[0] in _WIDE_TYPES else 1
    if opcode in _PAIRS or (opcode in ("IMAD", "UIMAD") and "WIDE" in modifiers):
        return 2
    if opcode in _INTEGER:
        return data_registers(instruction)
    if opcode in ("CS2R", "CS2UR"):
        return 1 if "32" in modifiers else 2
    if opcode == "LEPC":
        return 2
    if opcode == "LDSM":
        return matrices(instruction)
    if opcode == "MOVM":
        return 2 if "U4TO8" in modifiers else 1
    return fragment_registers(instruction)[2] if opcode in _MATRIX else 1


def source_registers(instruction: Instruction, position: int, operand: Operand) -> int:
    """Registers of the ``position``-th source operand (counted behind the definitions)."""
    opcode, modifiers = instruction.opcode, instruction.modifiers
    if isinstance(operand, Register) and "64" in operand.marks:
        return 2
    if opcode in _MEMORY:
        return 1 if opcode in _CONSTANTS else data_registers(instruction)
    if opcode in _PAIRS:
        return 1 if isinstance(operand, Register) and "F32" in operand.marks else 2
    if opcode in _INTEGER:
        return data_registers(instruction)
    if opcode in ("I2F", "F2I", "F2F", "FRND", "I2I"):
        return 2 if conversion_types(instruction)[1] in _WIDE_TYPES else 1
    if opcode == "MATCH":
        return 2 if "U64" in modifiers else 1
    if opcode in ("IMAD", "UIMAD"):
        return 2 if position == 2 and ("WIDE" in modifiers or "HI" in modifiers) else 1
    if opcode in ("RET", "BRX", "CALL"):
        return 2
    if opcode == "STSM":
        return matrices(instruction)
    return fragment_registers(instruction)[position] if opcode in _MATRIX and position < 3 else 1


def fragment_registers(instruction: Instruction) -> tuple[int, int, int]:
    """Registers of A, B and of C and D of a matrix product of shape m x 8 x k: 32 lanes hold each matrix once.

    The steps of HMMA.884 (sm_70) take pairs.
    """
    modifiers = instruction.modifiers
    shape = next((mark.replace("x", "") for mark in modifiers if re.fullmatch(r"(16|8)x?8x?\d+", mark)), "1688")
    if instruction.opcode == "HMMA" and shape == "884":
        return 2, 2, 2
    rows = 16 if shape.startswith("16") else 8
    depth = int(shape[len(str(rows)) + 1 :] or 8)
    factor, total = _MATRIX[instruction.opcode], 32
    if instruction.opcode == "HMMA":
        factor = 32 if "TF32" in modifiers else 16
        total = 32 if "F32" in modifiers else 16
    elif instruction.opcode == "DMMA":
        total = 64
    elif {"S4", "U4"} & set(modifiers):
        factor = 4
    return max(1, rows * depth * factor // 1024), max(1, 8 * depth * factor // 1024), rows * 8 * total // 1024


def address_registers(instruction: Instruction, address: Address) -> tuple[int, int]:
    """Registers of the address's general and uniform part.

    ``.E`` addresses are 64 bit: the uniform part then is a pair, and so is the general part unless marked ``.U32``
    or, beside a uniform pair, left without ``.64``.
    """
    wide = "E" in instruction.modifiers
    marks = address.base.marks if address.base else ()
    is_shared = instruction.opcode == "LDGSTS" and address is next(iter(instruction.operands), None)
    wide = wide and not is_shared
    general = 2 if "64" in marks or (wide and address.uniform is None and "U32" not in marks) else 1
    return general, 2 if wide else 1
