"""How many consecutive registers each operand of an instruction takes, from its modifiers."""

from __future__ import annotations

from compiler.model import Address, Instruction, Operand, Register

_MEMORY = frozenset("LD LDG LDS LDL ST STG STS STL LDC ULDC ATOM ATOMG ATOMS RED".split())
_DOUBLE = frozenset("DADD DMUL DFMA DSETP".split())
_WIDE_TYPES = frozenset(("F64", "S64", "U64"))
_TYPES = _WIDE_TYPES | frozenset("F32 F16 S32 U32 S16 U16 S8 U8".split())


def data_registers(instruction: Instruction) -> int:
    """Registers of a memory instruction's data: 1, 2 for ``.64``, 4 for ``.128``."""
    if "128" in instruction.modifiers:
        return 4
    return 2 if "64" in instruction.modifiers else 1


def access_bytes(instruction: Instruction) -> int:
    """Bytes that a memory instruction moves per address (LDSM: a row of a matrix)."""
    if instruction.opcode == "LDSM":
        return 16
    for mark, size in (("U8", 1), ("S8", 1), ("U16", 2), ("S16", 2)):
        if mark in instruction.modifiers:
            return size
    return 4 * data_registers(instruction)


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
        is_float = mark.startswith("F")
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
    if opcode in _DOUBLE or (opcode in ("IMAD", "UIMAD") and "WIDE" in modifiers):
        return 2
    if opcode == "CS2R":
        return 1 if "32" in modifiers else 2
    if opcode == "LDSM":
        return int(modifiers[-1]) if modifiers[-1] in ("2", "4") else 1
    if opcode == "HMMA":
        return 4 if "F32" in modifiers else 2
    return 2 if opcode == "IMMA" else 1


def source_registers(instruction: Instruction, position: int, operand: Operand) -> int:
    """Registers of the ``position``-th source operand (counted behind the definitions)."""
    opcode, modifiers = instruction.opcode, instruction.modifiers
    if isinstance(operand, Register) and "64" in operand.marks:
        return 2
    if opcode in _MEMORY:
        return 1 if opcode in ("LDC", "ULDC") else data_registers(instruction)
    if opcode in _DOUBLE:
        return 2
    if opcode in ("I2F", "F2I", "F2F", "FRND", "I2I"):
        return 2 if conversion_types(instruction)[1] in _WIDE_TYPES else 1
    if opcode in ("IMAD", "UIMAD"):
        return 2 if position == 2 and ("WIDE" in modifiers or "HI" in modifiers) else 1
    if opcode in ("RET", "BRX") or (opcode == "CALL" and "ABS" in modifiers):
        return 2
    if opcode == "HMMA":
        return (2, 1, dest_registers(instruction))[position]
    return 2 if opcode == "IMMA" and position == 2 else 1


def address_registers(instruction: Instruction, address: Address) -> tuple[int, int]:
    """Registers of the address's general and uniform part.

    ``.E`` addresses are 64 bit: the uniform part then is a pair, and so is the general part unless marked ``.U32``
    or, beside a uniform pair, left without ``.64``.
    """
    wide = "E" in instruction.modifiers
    marks = address.base.marks if address.base else ()
    general = 2 if "64" in marks or (wide and address.uniform is None and "U32" not in marks) else 1
    return general, 2 if wide else 1
