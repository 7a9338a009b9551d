"""Traces of a few lines of machine code with their control codes, for worked examples: from the text to the pins."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from tests.golden.scenario import hand_trace
from warpfile.compiler.control_codes import control_bits
from warpfile.compiler.model import Instruction, Register
from warpfile.compiler.parser import parse
from warpfile.compiler.passes.modern.read_positions import positions
from warpfile.compiler.program import static_instruction
from warpfile.spec.trace import StaticInstruction, Trace

_CODE = re.compile(r"S(\d+)|(Y)|W(\d)|R(\d)|wait(\d+)")
NONE = 7


def coded_trace(*lines: str, warps: int = 1) -> Trace:
    """Warps that execute these lines, ``TEXT | CODE``, and an EXIT.

    CODE has any of ``S4`` (stall, 1 without), ``Y`` (yield), ``W0`` and ``R1`` (counters of results and of sources),
    ``wait01`` (counters that must be 0). Marks of reuse are those of the text.
    """
    texts, codes = zip(
        *((text.strip(), code) for text, _, code in (line.partition("|") for line in (*lines, "EXIT"))), strict=True
    )
    listing = "\t\tFunction : hand\n" + "".join(
        f"        /*{16 * n:04x}*/   {text} ;\n" for n, text in enumerate(texts)
    )
    instructions = parse(listing, "hand").function("hand").instructions
    program = [coded_instruction(one, code) for one, code in zip(instructions, codes, strict=True)]
    trace = hand_trace(*[program[:-1]] * warps, listing=listing)
    exits = {id(static): program[-1] for static in trace.program if static.opcode == "TEST"}
    return replace(trace, program=tuple(exits.get(id(static), static) for static in trace.program))


def coded_instruction(instruction: Instruction, code: str) -> StaticInstruction:
    """An instruction with a CODE."""
    stall, yields, barriers, wait = 1, False, [NONE, NONE], 0
    for found in _CODE.finditer(code):
        stall = int(found[1] or stall)
        yields = yields or bool(found[2])
        barriers = [int(found[3] or barriers[0]), int(found[4] or barriers[1])]
        wait |= sum(1 << int(digit) for digit in found[5] or "")
    bits = stall | (not yields) << 4 | barriers[0] << 5 | barriers[1] << 8 | wait << 11 | _reuse(instruction) << 17
    return replace(static_instruction(instruction), control=control_bits(bits << 105))


def _reuse(instruction: Instruction) -> int:
    marked = {one.number for one in instruction.operands if isinstance(one, Register) and one.reuse}
    return sum(1 << at for at, group in enumerate(positions(instruction)) if marked & set(group[:1]))


#: The worked example of docs/schemes/modern.md, section 13.
EXAMPLE: Sequence[str] = (
    "FFMA R11, R10, R12, R14",
    "FFMA R13, R16.reuse, R18, R21",
    "FFMA R15, R16, R20, R23 | S4",
    "FADD R17, R15, R19 | S5",
    "LDG.E.SYS R24, [R16.64] | S2 W0 R1",
    "IADD3 R16, R18, R20, R22 | wait1",
    "IADD3 R25, R24, R19, R18 | wait0",
)
