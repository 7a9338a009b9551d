"""Registers that a kernel's code names most often, for the fast partition of the register file.

M. Abdel-Majeed et al., HPCA 2017, section III-A1: the compiler counts how often each register occurs in the code. It
knows nothing of branches taken and of trips through loops; what warps did is in :mod:`compiler.passes.pilot.exact`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from warpfile.compiler.cfg import build_cfg
from warpfile.compiler.loops import loop_depth, natural_loops
from warpfile.compiler.model import Function
from warpfile.compiler.opcodes import is_known
from warpfile.compiler.operands import effects

LOOP_WEIGHT = 10  #: of every loop around an occurrence, if loops count


def occurrences(function: Function, *, loops: bool = False) -> Counter[int]:
    """By general register, how often operands name it in the kernel's routine and in all routines that it may call.

    Each register of a wide operand counts once, one that an instruction names twice counts twice, and guarded
    instructions count like others. An indirect call may call every routine of the section. ``loops``: an occurrence
    in d loops counts as ``LOOP_WEIGHT`` to the power of d. An instruction of unknown operands counts nothing.
    """
    cfg = build_cfg(function)
    routines = {function.name, *(cfg.blocks[index].routine for index in cfg.reachable())}
    found = natural_loops(cfg) if loops else ()
    counts: Counter[int] = Counter()
    for block in cfg.blocks:
        if block.routine not in routines:
            continue
        weight = LOOP_WEIGHT ** loop_depth(found, block.index)
        for instruction in (function.instructions[index] for index in block.instructions):
            if is_known(instruction.opcode):
                operands = effects(instruction)
                for register in (*operands.uses, *operands.defs):
                    counts[register] += weight
    return counts


def hottest(counts: Mapping[int, int], most: int) -> tuple[int, ...]:
    """The registers with the largest counts, at most ``most``, largest first and among equals the lower number first.

    A register that counts nothing is not among them, so that there may be fewer.
    """
    used = [register for register, count in counts.items() if count]
    return tuple(sorted(used, key=lambda register: (-counts[register], register))[:most])
