"""Where strands begin: a warp is not descheduled between two beginnings (docs/schemes/shrf.md, section 7)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from warpfile.compiler.cfg import STEP, Cfg
from warpfile.compiler.divergence import Branch, divergence
from warpfile.compiler.liveness import defined
from warpfile.compiler.model import Function, Instruction
from warpfile.compiler.opcodes import is_known
from warpfile.compiler.operands import effects
from warpfile.compiler.passes.backward import around_backward
from warpfile.compiler.passes.long_latency import is_fence, is_long, touches
from warpfile.compiler.program import static_instruction
from warpfile.compiler.regions import by_rejoin
from warpfile.spec.trace import Kind

_APART = ("CALL", "NANOSLEEP", "WARPSYNC", "YIELD")
_JUMPS = ("BRX", "JMX", "RET")


def behind_each(cfg: Cfg) -> list[list[int]]:
    """By instruction, those that may come next; behind a CALL also the one that it returns to."""
    found = [[index + 1] for index in range(len(cfg.function.instructions))]
    for block in cfg.blocks:
        found[block.end - 1] = [cfg.blocks[target].start for target in dict.fromkeys(cfg.successors[block.index])]
    return found


def beginnings(cfg: Cfg) -> frozenset[int]:
    """Instructions before which a strand begins, by number."""
    behind = behind_each(cfg)
    before = predecessors(behind)
    found = frozenset(_fixed(cfg, behind))
    while True:
        found = _pending(cfg.function, before, found)
        more = frozenset(_around_divergence(cfg, behind, found)) - found
        if not more:
            return found
        found |= more


def predecessors(behind: Sequence[Iterable[int]]) -> list[list[int]]:
    """By instruction, those that may come before it."""
    before: list[list[int]] = [[] for _ in behind]
    for source, targets in enumerate(behind):
        for target in targets:
            before[target].append(source)
    return before


def _fixed(cfg: Cfg, behind: list[list[int]]) -> Iterator[int]:
    """Rules 2 and 4: what does not depend on what is outstanding."""
    instructions = cfg.function.instructions
    yield 0
    yield from (cfg.blocks[block].start for block in (*cfg.entries.values(), *(one for _, one in cfg.call_edges)))
    edges = [(source, target) for source, targets in enumerate(behind) for target in targets]
    yield from around_backward(edges, lambda source: behind[source])
    labels = {offset // STEP for offset in cfg.function.labels.values() if offset // STEP < len(instructions)}
    for index, instruction in enumerate(instructions):
        known = is_known(instruction.opcode)
        if not known or instruction.opcode in _APART:
            yield index
        if (
            not known
            or instruction.opcode in (*_APART, *_JUMPS)
            or _is_barrier(instruction)
            or _parts(instruction, behind[index])
        ):
            yield from behind[index]
            if index + 1 < len(instructions):
                yield index + 1
        if instruction.opcode in _JUMPS:
            yield from labels


def _parts(instruction: Instruction, behind: Sequence[int]) -> bool:
    """Whether it parts lanes that go on at one place: some wait in a BSYNC, or branch to what follows anyway."""
    to_one_place = instruction.opcode == "BRA" and len(set(behind)) == 1
    return instruction.is_conditional and (instruction.opcode == "BSYNC" or to_one_place)


def _is_barrier(instruction: Instruction) -> bool:
    return instruction.opcode == "BAR" or static_instruction(instruction).kind is Kind.BARRIER


def _pending(function: Function, before: list[list[int]], found: frozenset[int]) -> frozenset[int]:
    """Rules 1 and 3, in the order of the code: results of the present strand that may be outstanding."""
    begins, outs = set(found), [0] * len(before)
    for index, instruction in enumerate(function.instructions):
        state = 0
        if index not in begins:
            coming = {outs[source] for source in before[index]}
            state = coming.pop() if len(coming) == 1 else 0
            if coming or state & touches(instruction) or (state and _waits(instruction)):
                begins.add(index)
                state = 0
        if is_known(instruction.opcode) and is_long(static_instruction(instruction)):
            state |= defined(effects(instruction))
        outs[index] = state
    return frozenset(begins)


def _waits(instruction: Instruction) -> bool:
    return is_known(instruction.opcode) and is_fence(static_instruction(instruction))


def _around_divergence(cfg: Cfg, behind: list[list[int]], begins: frozenset[int]) -> Iterator[int]:
    """Rule 5: what is behind branches that may part lanes which meet a beginning before they meet again."""
    own = {cfg.block_of[index] for index in begins}
    inner = {cfg.block_of[index] for index in begins if index != cfg.blocks[cfg.block_of[index]].start}
    branches = [branch for branch in divergence(cfg).branches if not branch.is_uniform]
    groups = {one.block: regions for regions, group in by_rejoin(cfg, (b.influence for b in branches)) for one in group}
    for branch in branches:
        sides = branch.influence.sides
        if not sides:
            yield from range(len(behind))  # it goes anywhere
            continue
        regions, reached = groups[branch.block], 0
        for side in sides:
            reached |= regions.region(side)
        if {*regions.members(reached)} & (own | inner):
            yield from _apart(cfg, branch, regions.members(reached), behind)


def _apart(cfg: Cfg, branch: Branch, region: Iterable[int], behind: list[list[int]]) -> Iterator[int]:
    yield from (cfg.blocks[side].start for side in branch.influence.sides)
    if branch.influence.rejoin is not None:
        yield cfg.blocks[branch.influence.rejoin].start
        return
    for block in region:
        for index in cfg.blocks[block].instructions:
            if cfg.function.instructions[index].opcode == "BSYNC":
                yield from behind[index]
