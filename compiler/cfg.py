"""Control-flow graph of a function, with the conventions of ``nvdisasm -bbcfg``.

A label begins a block, also one without a jump to it. CALL.REL ends a block and has its fallthrough edge, and one
to the callee only where that is the routine itself; RET and an unguarded EXIT have none, a guarded EXIT falls through;
BRX goes to its whole table; BSSY, BSYNC, BREAK, WARPSYNC and YIELD do not end a block. Calls are kept apart as call and
return edges, for analyses that follow values through them. An indirect CALL ends no block and has no such edges: it may
reach every subroutine of the section, and every RET may return behind it (``has_indirect_calls``).
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from warpfile.compiler.memoized import memoized
from warpfile.compiler.model import Function, Instruction, Label
from warpfile.compiler.opcodes import BLOCK_ENDS
from warpfile.compiler.worklist import postorder

STEP = 0x10


@dataclass(frozen=True)
class Block:
    """Instructions ``start`` to ``end`` (exclusive, as indices), always executed in sequence."""

    index: int
    start: int
    end: int
    routine: str

    @property
    def instructions(self) -> range:
        """Indices of the block's instructions."""
        return range(self.start, self.end)


@dataclass(frozen=True)
class Cfg:
    """Blocks in order of offsets; edges are pairs of block numbers, taken branches before fallthroughs."""

    function: Function
    blocks: tuple[Block, ...]
    edges: tuple[tuple[int, int], ...]
    call_edges: tuple[tuple[int, int], ...]  #: from a CALL's block to the callee's first block
    return_edges: tuple[tuple[int, int], ...]  #: from a RET's block to the blocks behind the calls of its routine

    @cached_property
    def successors(self) -> tuple[tuple[int, ...], ...]:
        """Successors of every block over ``edges``."""
        return _adjacent(len(self.blocks), self.edges)

    @cached_property
    def predecessors(self) -> tuple[tuple[int, ...], ...]:
        """Predecessors of every block over ``edges``."""
        return _adjacent(len(self.blocks), [(target, source) for source, target in self.edges])

    @cached_property
    def block_of(self) -> tuple[int, ...]:
        """Block number of every instruction."""
        return tuple(block.index for block in self.blocks for _ in block.instructions)

    @cached_property
    def entries(self) -> dict[str, int]:
        """First block of every routine."""
        found: dict[str, int] = {}
        for block in self.blocks:
            found.setdefault(block.routine, block.index)
        return found

    def last(self, block: Block) -> Instruction:
        """The instruction that ends a block."""
        return self.function.instructions[block.end - 1]

    @cached_property
    def flow_edges(self) -> tuple[tuple[int, int], ...]:
        """Edges along which control really flows: into callees and back instead of over a CALL that is resolved."""
        resolved = {source for source, _ in self.call_edges}
        guarded = {block.index for block in self.blocks if self.last(block).is_conditional}
        direct = [(source, target) for source, target in self.edges if source not in resolved or source in guarded]
        return (*direct, *self.call_edges, *self.return_edges)

    @cached_property
    def flow_successors(self) -> tuple[tuple[int, ...], ...]:
        """Successors of every block over ``flow_edges``."""
        return _adjacent(len(self.blocks), self.flow_edges)

    @cached_property
    def flow_order(self) -> tuple[int, ...]:
        """All blocks, each behind its predecessors over ``flow_edges`` where no loop forbids it."""
        return tuple(reversed(postorder(self.flow_successors)))

    @cached_property
    def indirect_callers(self) -> frozenset[int]:
        """Blocks with an indirect call, which may enter every subroutine of the section."""
        instructions = self.function.instructions
        return frozenset(self.block_of[i] for i, one in enumerate(instructions) if one.is_indirect_call)

    @property
    def has_indirect_calls(self) -> bool:
        """Whether subroutines may be entered from, and return to, places that no edge tells."""
        return bool(self.indirect_callers)

    @cached_property
    def padding(self) -> frozenset[int]:
        """Blocks behind the code: the branch to itself that nothing reaches, and the NOPs after it.

        nvdisasm lists their instructions and leaves them out of its graph.
        """
        found: list[int] = []
        for block in reversed(self.blocks):
            if all(self.function.instructions[index].opcode == "NOP" for index in block.instructions):
                found.append(block.index)
            elif self.predecessors[block.index] == self.successors[block.index] == (block.index,):
                return frozenset((*found, block.index))
            else:
                break
        return frozenset()

    def reachable(self) -> frozenset[int]:
        """Blocks that control can reach from the function's start, calls included."""
        seen = {0, *(self.entries.values() if self.has_indirect_calls else ())}
        work = list(seen)
        while work:
            for target in self.flow_successors[work.pop()]:
                if target not in seen:
                    seen.add(target)
                    work.append(target)
        return frozenset(seen)


@memoized
def build_cfg(function: Function) -> Cfg:
    """The graph of all routines of the function's section."""
    blocks = tuple(_blocks(function))
    by_start = {block.start: block.index for block in blocks}
    edges: dict[tuple[int, int], None] = {}
    calls: list[tuple[int, int]] = []
    for block in blocks:
        last = function.instructions[block.end - 1]
        is_call = last.opcode == "CALL" and not last.is_indirect_call
        called = [by_start[label.offset // STEP] for label in _labels(last)] if is_call else []
        calls += [(block.index, target) for target in called]
        recursive = [target for target in called if blocks[target].routine == block.routine]
        for target in (*(by_start[label.offset // STEP] for label in _targets(last)), *recursive):
            edges[(block.index, target)] = None
        if _falls_through(last) and block.end in by_start:
            edges[(block.index, by_start[block.end])] = None
    return Cfg(function, blocks, tuple(edges), tuple(calls), tuple(_returns(function, blocks, calls, by_start)))


def _blocks(function: Function) -> Iterator[Block]:
    count = len(function.instructions)
    leaders = {0, count} | {offset // STEP for offset in function.labels.values()}
    for index, instruction in enumerate(function.instructions):
        if _ends_block(instruction):
            leaders.add(index + 1)
            leaders |= {label.offset // STEP for label in (*_targets(instruction), *_labels(instruction))}
    starts = sorted(leader for leader in leaders if leader <= count)
    places = [routine.start for routine in function.routines]
    for number, (start, end) in enumerate(pairwise(starts)):
        yield Block(number, start, end, _routine(function, places, start * STEP))


def _routine(function: Function, places: list[int], offset: int) -> str:
    """Name of the routine around an offset; ``places`` are where they start, ascending."""
    at = bisect(places, offset) - 1
    return function.routines[at].name if at >= 0 and offset < function.routines[at].end else function.name


def _labels(instruction: Instruction) -> list[Label]:
    return [operand for operand in instruction.operands if isinstance(operand, Label)]


def _targets(instruction: Instruction) -> list[Label]:
    """Where a branch may go if taken; calls and returns are not branches here."""
    if instruction.opcode == "BRX":
        return list(instruction.targets)
    return _labels(instruction) if instruction.opcode == "BRA" else []


def _ends_block(instruction: Instruction) -> bool:
    """Calls of code that is not in the listing (CALL.ABS) or that it does not name are no block's end for nvdisasm."""
    is_lost = instruction.is_indirect_call or "ABS" in instruction.modifiers
    return instruction.opcode in BLOCK_ENDS and not (instruction.opcode == "CALL" and is_lost)


def _falls_through(instruction: Instruction) -> bool:
    """Whether control may go on behind the last instruction of a block."""
    if instruction.opcode not in BLOCK_ENDS or instruction.opcode == "CALL" or instruction.is_conditional:
        return True
    return instruction.opcode == "BRA" and bool({"DIV", "CONV"} & set(instruction.modifiers))


def _returns(
    function: Function, blocks: tuple[Block, ...], calls: list[tuple[int, int]], by_start: dict[int, int]
) -> Iterator[tuple[int, int]]:
    for block in blocks:
        if function.instructions[block.end - 1].opcode != "RET":
            continue
        for caller, callee in calls:
            if blocks[callee].routine == block.routine and blocks[caller].end in by_start:
                yield block.index, by_start[blocks[caller].end]


def _adjacent(count: int, edges: list[tuple[int, int]] | tuple[tuple[int, int], ...]) -> tuple[tuple[int, ...], ...]:
    table: list[list[int]] = [[] for _ in range(count)]
    for source, target in edges:
        table[source].append(target)
    return tuple(tuple(targets) for targets in table)
