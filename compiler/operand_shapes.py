"""Whether an instruction has the operands that its base opcode is known to have.

Modifiers may give an opcode other operands, as .ENL2 gives LDG a second destination. Who read those like the known ones
would take one register for another; so such an instruction is one of an opcode of its own, which is not known.
"""

from __future__ import annotations

import re

from warpfile.compiler.model import Address, Constant, Instruction, Predicate, Register
from warpfile.compiler.opcodes import FORMS, Dest
from warpfile.compiler.operands import roles
from warpfile.spec.trace import Access, Space

_LETTERS = {Address: "A", Constant: "C", Register: "R", Predicate: "P"}
#: Source operands of memory instructions; a predicate at the end says whether zeros are loaded instead.
_SOURCES = {Access.LOAD: "[AC]P?", Access.STORE: "AR", Access.ATOMIC: "AR{0,2}"}
#: Of copies into shared memory; what the predicate of .ZFILL does is not known.
_COPY, _FILLING_COPY = "AAP?", "AA"
#: Opcodes whose text leaves out a destination that is not wanted, or that have none with other operands.
_MAY_LACK_DESTINATION = frozenset("ATOMS BMOV VOTE VOTEU".split())
#: What modifiers with digits may give of a memory access: its size, its type, how much of a line the second level
#: loads.
_SIZES = frozenset(
    "U8 S8 U16 S16 32 64 128 U32 S32 U64 S64 F16 F32 F64 F16x2 F16x4 F16x8 F32x2 F32x4 BF16x2 BF16x4 BF16x8 BF16_V2 "
    "16 2 4 M88 MT88 LTC64B LTC128B LTC256B".split()
)
_DIGIT = re.compile(r"\d")


def fits(instruction: Instruction) -> bool:
    """Whether the operands of an instruction, whose base opcode is known, are those of its form."""
    form, parts = FORMS[instruction.opcode], roles(instruction)
    if form.dest is not Dest.NONE and parts.dest is None and instruction.opcode not in _MAY_LACK_DESTINATION:
        return False
    if form.access is Access.NONE or form.space is Space.TEXTURE:
        return True
    kinds = "".join(_LETTERS.get(type(operand), "-") for operand in parts.sources)
    sizes = (mark for mark in instruction.modifiers if _DIGIT.search(mark))
    wanted = _SOURCES[form.access]
    if instruction.opcode == "LDGSTS":
        wanted = _FILLING_COPY if "ZFILL" in instruction.modifiers else _COPY
    return re.fullmatch(wanted, kinds) is not None and _SIZES.issuperset(sizes)
