"""What a pass cannot know of an instruction, and so of the code that has it."""

from __future__ import annotations

from warpfile.compiler.liveness import goes_anywhere
from warpfile.compiler.model import Instruction
from warpfile.compiler.opcodes import is_known
from warpfile.compiler.textures import SURFACES, TEXTURES


def unknown(one: Instruction) -> str:
    """Why its registers, or where it leads, are not known; empty if they are."""
    where = f"{one.full_opcode} at {one.offset:#x}"
    if not is_known(one.opcode) or one.opcode in TEXTURES | SURFACES:
        return f"the operands of {where} are not known one by one"
    if goes_anywhere(one):
        return f"{where} leads to code that is not known"
    return ""
