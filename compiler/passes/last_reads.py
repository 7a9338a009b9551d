"""Sources that are read for the last time: dead bits of caches that need not keep them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from warpfile.compiler.cfg import Cfg, build_cfg
from warpfile.compiler.liveness import EVERYTHING, Transfer, compose, defined, goes_anywhere, named, solve, used
from warpfile.compiler.model import Function, Instruction
from warpfile.compiler.opcodes import is_known
from warpfile.compiler.operands import effects
from warpfile.compiler.program import static_instruction
from warpfile.spec.beat import distinct_sources


def dead_sources(function: Function) -> dict[int, int]:
    """By offset, for every instruction with general sources, the mask of those that are dead behind it.

    Bit i belongs to the i-th distinct source register in order of first occurrence. Least solution of the equations of
    :func:`compiler.liveness.liveness` with other boundaries: everything is live before and behind calls and returns,
    whose subroutines have conventions of their own, and before jumps to anywhere; nothing is at EXIT. It is liveness of
    a thread, and holds for the warp only if all lanes that have not exited are there (``converged``).
    """
    live = live_behind(build_cfg(function), plain_transfer, behind_lost)
    return last_reads(function, live)


def plain_transfer(instruction: Instruction) -> Transfer:
    """What an instruction does to a set of live registers; before one that is lost everything is live."""
    if is_lost(instruction):
        return Transfer(EVERYTHING, 0)
    if not is_known(instruction.opcode):
        return Transfer(named(instruction), 0)
    found = effects(instruction)
    return Transfer(used(found), 0 if instruction.is_guarded else defined(found))


def is_lost(instruction: Instruction) -> bool:
    """Whether anything may be read behind it: subroutines, callers, and code that is not in the listing."""
    return instruction.opcode in ("CALL", "RET") or goes_anywhere(instruction)


def behind_lost(instruction: Instruction) -> int | None:
    """Everything is live behind an instruction that is lost; behind others what the equations say (None)."""
    return EVERYTHING if is_lost(instruction) else None


def live_behind(
    cfg: Cfg, transfer: Callable[[Instruction], Transfer], known: Callable[[Instruction], int | None]
) -> list[int]:
    """Backward solution behind every instruction, except where ``known`` gives it."""
    instructions = cfg.function.instructions
    transfers = [transfer(instruction) for instruction in instructions]
    outs = solve([compose(transfers[block.start : block.end]) for block in cfg.blocks], cfg.successors)
    after = [0] * len(instructions)
    for block in cfg.blocks:
        state = outs[block.index]
        for index in reversed(block.instructions):
            fixed = known(instructions[index])
            after[index] = state if fixed is None else fixed
            state = transfers[index].uses | state & ~transfers[index].kills
    return after


def last_reads(function: Function, after: Sequence[int]) -> dict[int, int]:
    """Masks of the distinct sources that are not in the set behind their instruction."""
    masks = {}
    for instruction, registers in zip(function.instructions, after, strict=True):
        if is_known(instruction.opcode) and (sources := static_instruction(instruction).sources):
            masks[instruction.offset] = bit_mask(
                not registers >> register & 1 for register in distinct_sources(sources)
            )
    return masks


def bit_mask(flags: Iterable[bool]) -> int:
    """The flags as bits, the first one lowest."""
    return sum(1 << position for position, flag in enumerate(flags) if flag)
