"""Dead operand bits: sources whose registers need not be kept behind an instruction.

M. Sadrosadati et al., ASPLOS 2018, section 3.2. A bit tells of the lanes that are there; the hardware honours it only
if these are all that have not exited. An instruction that also writes the register makes it live again.
"""

from __future__ import annotations

import numpy as np

from warpfile.compiler.cfg import STEP
from warpfile.compiler.model import Function
from warpfile.compiler.operands import source_operands
from warpfile.compiler.passes.dead_bits import of_records
from warpfile.compiler.passes.last_reads import bit_mask, dead_sources
from warpfile.spec.beat import distinct_sources
from warpfile.spec.trace import Trace


def dead_operands(function: Function) -> dict[int, int]:
    """By offset, the mask of the distinct sources that an operand marks as dead.

    An operand has one bit, set if all its registers are dead. What is live: :func:`..last_reads.dead_sources`.
    """
    found = {}
    for offset, mask in dead_sources(function).items():
        operands = source_operands(function.instructions[offset // STEP])
        sources = distinct_sources(register for operand in operands for register in operand)
        dead = {register for bit, register in enumerate(sources) if mask >> bit & 1}
        marked = {register for operand in operands if dead.issuperset(operand) for register in operand}
        found[offset] = bit_mask(register in marked for register in sources)
    return found


def dead_by_listing(trace: Trace, function: Function) -> np.ndarray:
    """int64[n]: by executed instruction, the mask of its distinct sources that are dead behind it."""
    return of_records(trace, dead_operands(function))
