"""What the formation of units sees of code: blocks, the registers of each instruction, and where units must begin."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from warpfile.compiler.cfg import STEP, Cfg, build_cfg
from warpfile.compiler.liveness import PREDICATE_BIT, goes_anywhere, named
from warpfile.compiler.model import Function, Instruction
from warpfile.compiler.opcodes import is_known
from warpfile.compiler.passes.long_latency import is_long
from warpfile.compiler.program import static_instruction
from warpfile.spec.trace import Kind, StaticInstruction

GENERAL = (1 << PREDICATE_BIT) - 1


@dataclass(frozen=True)
class Code:
    """Instructions by number, in blocks.

    ``registers``: by instruction, the set of those that it names. A block begins at each of ``starts`` (ascending) and
    ends before the next. ``edges`` lead from the last instruction of a block to the first of one. Control enters at
    ``entries``; they and the other ``heads``, all of them starts, begin a unit whatever leads there. ``calls`` are
    alone in their block; at ``waits`` a warp may leave the active set. ``names`` are for messages.
    """

    registers: tuple[int, ...]
    starts: tuple[int, ...]
    edges: frozenset[tuple[int, int]]
    entries: frozenset[int]
    heads: frozenset[int]
    calls: frozenset[int] = frozenset()
    waits: frozenset[int] = frozenset()
    names: tuple[str, ...] = ()

    @cached_property
    def _targets(self) -> dict[int, set[int]]:
        """By last instruction of a block, where its edges lead."""
        block_ends = (*self.starts[1:], len(self.registers))
        found: dict[int, set[int]] = {end - 1: set() for end in block_ends}
        for source, target in self.edges:
            found[source].add(target)
        return found

    def behind(self, index: int) -> set[int]:
        """Instructions that may come next."""
        return self._targets.get(index, {index + 1})

    def headed(self, points: Iterable[int]) -> Code:
        """The same code, where units begin at more instructions."""
        heads = self.heads | frozenset(points)
        new = heads.difference(self.starts)
        falls = {(point - 1, point) for point in new}
        return replace(self, starts=tuple(sorted(new.union(self.starts))), edges=self.edges | falls, heads=heads)

    def must_fit(self, limit: int, instructions: Iterable[int]) -> None:
        """Raise ``ValueError`` if one of these instructions names more registers than a unit may have."""
        widest = max(instructions, key=lambda index: self.registers[index].bit_count(), default=0)
        count = self.registers[widest].bit_count()
        if count > limit:
            name = self.names[widest] if self.names else f"instruction {widest}"
            raise ValueError(f"interval_registers must be at least {count}, the registers of {name}, not {limit}")


def code_of(function: Function) -> Code:
    """The code of a function's section.

    A CALL has one edge, to the instruction behind it, where a unit begins as it does at the callee and at the CALL.
    """
    cfg = build_cfg(function)
    instructions = function.instructions
    calls = frozenset(index for index, one in enumerate(instructions) if one.opcode == "CALL")
    entries = frozenset(_entries(cfg))
    code = Code(
        registers=tuple(_registers(one) for one in instructions),
        starts=tuple(block.start for block in cfg.blocks),
        edges=frozenset(_edges(cfg)),
        entries=entries,
        heads=entries,
        calls=calls,
        waits=frozenset(index for index, one in enumerate(instructions) if _waits(one)),
        names=tuple(f"{one.text!r} at {one.offset:#x}" for one in instructions),
    )
    return code.headed(point for call in calls for point in (call, call + 1) if point < len(instructions))


def _registers(instruction: Instruction) -> int:
    """General registers that an instruction reads or writes; all that an unknown one may name."""
    if not is_known(instruction.opcode):
        return named(instruction) & GENERAL
    static = static_instruction(instruction)
    return sum(1 << register for register in {*static.sources, *static.dests})


def _waits(instruction: Instruction) -> bool:
    """Whether it is a long-latency operation or a barrier."""
    return is_known(instruction.opcode) and may_leave(static_instruction(instruction))


def may_leave(static: StaticInstruction) -> bool:
    """Whether a warp may leave the active set at an instruction."""
    return is_long(static) or static.kind is Kind.BARRIER


def _edges(cfg: Cfg) -> Iterator[tuple[int, int]]:
    for source, target in cfg.edges:
        last, first = cfg.blocks[source].end - 1, cfg.blocks[target].start
        if cfg.function.instructions[last].opcode != "CALL" or first == last + 1:
            yield last, first


def _entries(cfg: Cfg) -> Iterator[int]:
    """Where routines begin, and where a jump may land whose targets the listing does not tell."""
    called = (target for _, target in cfg.call_edges)
    yield from (cfg.blocks[block].start for block in (*cfg.entries.values(), *called))
    if any(one.opcode == "BRX" and goes_anywhere(one) for one in cfg.function.instructions):
        inside = len(cfg.function.instructions)
        yield from (offset // STEP for offset in cfg.function.labels.values() if offset // STEP < inside)
