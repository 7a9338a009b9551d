"""Long-latency operations, and what waits for them."""

from __future__ import annotations

from warpfile.compiler.liveness import EVERYTHING, defined, named, used
from warpfile.compiler.model import Instruction
from warpfile.compiler.opcodes import is_known
from warpfile.compiler.operands import effects
from warpfile.compiler.program import static_instruction
from warpfile.spec.trace import Access, Space, StaticInstruction

_LONG = (Space.GLOBAL, Space.LOCAL, Space.TEXTURE)


def is_long(static: StaticInstruction) -> bool:
    """Whether it is a long-latency operation: its result comes from global or local memory or from a texture unit."""
    is_fetch = static.access in (Access.LOAD, Access.ATOMIC) and static.space in _LONG
    return is_fetch and bool(static.dest_count or static.token_writes)


def is_fence(static: StaticInstruction) -> bool:
    """Whether it waits for all memory operations of the warp."""
    return _base(static) == "MEMBAR"


def always_suspends(static: StaticInstruction) -> bool:
    """Whether a warp suspends before it whatever is pending; a sleeper would keep its place from lock holders."""
    return _base(static) in ("MEMBAR", "NANOSLEEP")


def _base(static: StaticInstruction) -> str:
    return static.opcode.partition(".")[0]


def touches(instruction: Instruction) -> int:
    """Registers of all files whose scoreboard bits hold the instruction back."""
    if not is_known(instruction.opcode):
        return named(instruction)
    static, found = static_instruction(instruction), effects(instruction)
    return EVERYTHING if is_fence(static) else used(found) | defined(found)
