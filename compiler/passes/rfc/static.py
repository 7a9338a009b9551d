"""What the register file cache need not keep: registers read for the last time, for good or in their strand.

M. Gebhart et al., ISCA 2011, sections 3.1 and 5.3. A strand is the code between two points where the cache is flushed
(:mod:`compiler.passes.rfc.suspend`). Hints from an executed trace are in :mod:`compiler.passes.rfc.exact`.

Deviation: a flag belongs to one register, not to an operand of several.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from warpfile.compiler.cfg import Cfg, build_cfg
from warpfile.compiler.liveness import EVERYTHING, Transfer, compose, defined, goes_anywhere, named, solve, used
from warpfile.compiler.model import Function, Instruction
from warpfile.compiler.opcodes import is_known
from warpfile.compiler.operands import effects
from warpfile.compiler.program import static_instruction
from warpfile.spec.beat import distinct_sources
from warpfile.spec.trace import Kind


def dead_sources(function: Function) -> dict[int, int]:
    """By offset, for every instruction with general sources, the mask of those that are dead behind it.

    Bit i belongs to the i-th distinct source register in order of first occurrence. Least solution of the equations of
    :func:`compiler.liveness.liveness` with other boundaries: everything is live before and behind calls and returns,
    whose subroutines have conventions of their own, and before jumps to anywhere; nothing is at EXIT. It is liveness of
    a thread, and holds for the warp only if all lanes that have not exited are there (``converged``).
    """
    cfg = build_cfg(function)
    live = _after(cfg, _transfer, lambda instruction: EVERYTHING if _is_lost(instruction) else None)
    return _last_reads(function, live)


def strand_hints(function: Function, suspends: frozenset[int]) -> tuple[frozenset[int], dict[int, int]]:
    """What the cache need not keep, with suspensions before the instructions at the offsets ``suspends``.

    First the offsets of the instructions of whose general destinations none is read again in the strand
    (``no_allocate``), then masks as in :func:`dead_sources` of the sources that are not (``evict_first``). Strands end
    before the instructions in ``suspends``, whose own reads come behind the flush, and behind BAR.SYNC. Otherwise the
    equations are those of :func:`dead_sources`; no value depends on these hints.
    """
    cfg = build_cfg(function)

    def transfer(instruction: Instruction) -> Transfer:
        if instruction.offset in suspends:
            return Transfer(0, EVERYTHING)
        found = _transfer(instruction)
        return Transfer(found.uses, EVERYTHING) if _is_barrier(instruction) else found

    def known_after(instruction: Instruction) -> int | None:
        if _is_barrier(instruction):
            return 0
        return EVERYTHING if _is_lost(instruction) else None

    needed = _after(cfg, transfer, known_after)
    unread = [
        instruction.offset
        for index, instruction in enumerate(function.instructions)
        if (dests := _dests(instruction)) and not any(needed[index] >> register & 1 for register in dests)
    ]
    return frozenset(unread), _last_reads(function, needed)


def _transfer(instruction: Instruction) -> Transfer:
    if _is_lost(instruction):
        return Transfer(EVERYTHING, 0)
    if not is_known(instruction.opcode):
        return Transfer(named(instruction), 0)
    found = effects(instruction)
    return Transfer(used(found), 0 if instruction.is_guarded else defined(found))


def _is_lost(instruction: Instruction) -> bool:
    """Whether anything may be read behind it: subroutines, callers, and code that is not in the listing."""
    return instruction.opcode in ("CALL", "RET") or goes_anywhere(instruction)


def _is_barrier(instruction: Instruction) -> bool:
    return is_known(instruction.opcode) and static_instruction(instruction).kind is Kind.BARRIER


def _after(
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


def _last_reads(function: Function, after: Sequence[int]) -> dict[int, int]:
    """Masks of the distinct sources that are not in the set behind their instruction."""
    masks = {}
    for instruction, registers in zip(function.instructions, after, strict=True):
        if is_known(instruction.opcode) and (sources := static_instruction(instruction).sources):
            masks[instruction.offset] = _bits(not registers >> register & 1 for register in distinct_sources(sources))
    return masks


def _dests(instruction: Instruction) -> tuple[int, ...]:
    return effects(instruction).defs if is_known(instruction.opcode) else ()


def _bits(flags: Iterable[bool]) -> int:
    return sum(1 << position for position, flag in enumerate(flags) if flag)
