"""What the register file cache need not keep: registers read for the last time, for good or in their strand.

M. Gebhart et al., ISCA 2011, sections 3.1 and 5.3. A strand is the code between two points where the cache is flushed
(:mod:`compiler.passes.rfc.suspend`). Hints from an executed trace are in :mod:`compiler.passes.rfc.exact`.

Deviation: a flag belongs to one register, not to an operand of several.
"""

from __future__ import annotations

from warpfile.compiler.cfg import build_cfg
from warpfile.compiler.liveness import EVERYTHING, Transfer
from warpfile.compiler.model import Function, Instruction
from warpfile.compiler.opcodes import is_known
from warpfile.compiler.operands import effects
from warpfile.compiler.passes.last_reads import behind_lost, last_reads, live_behind, plain_transfer
from warpfile.compiler.program import static_instruction
from warpfile.spec.trace import Kind


def strand_hints(function: Function, suspends: frozenset[int]) -> tuple[frozenset[int], dict[int, int]]:
    """What the cache need not keep, with suspensions before the instructions at the offsets ``suspends``.

    First the offsets of the instructions of whose general destinations none is read again in the strand
    (``no_allocate``), then masks as in :func:`compiler.passes.last_reads.dead_sources` of the sources that are not
    (``evict_first``). Strands end before the instructions in ``suspends``, whose own reads come behind the flush, and
    behind BAR.SYNC. Otherwise the equations are those of ``dead_sources``; no value depends on these hints.
    """
    cfg = build_cfg(function)

    def transfer(instruction: Instruction) -> Transfer:
        if instruction.offset in suspends:
            return Transfer(0, EVERYTHING)
        found = plain_transfer(instruction)
        return Transfer(found.uses, EVERYTHING) if _is_barrier(instruction) else found

    def known_after(instruction: Instruction) -> int | None:
        return 0 if _is_barrier(instruction) else behind_lost(instruction)

    needed = live_behind(cfg, transfer, known_after)
    unread = [
        instruction.offset
        for index, instruction in enumerate(function.instructions)
        if (dests := _dests(instruction)) and not any(needed[index] >> register & 1 for register in dests)
    ]
    return frozenset(unread), last_reads(function, needed)


def _is_barrier(instruction: Instruction) -> bool:
    return is_known(instruction.opcode) and static_instruction(instruction).kind is Kind.BARRIER


def _dests(instruction: Instruction) -> tuple[int, ...]:
    return effects(instruction).defs if is_known(instruction.opcode) else ()
