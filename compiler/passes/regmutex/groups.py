"""Registers that must stay neighbours: operands of two and four registers, until they are read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from warpfile.compiler.cfg import Cfg
from warpfile.compiler.liveness import Transfer, compose, solve, transfer
from warpfile.compiler.model import Instruction
from warpfile.compiler.operands import effects
from warpfile.compiler.passes.wide_operands import power, wide_sources


@dataclass(frozen=True)
class Groups:
    """By register, the size of the aligned block that it may have to stay in; and before and behind every instruction
    the registers (a bit set) whose value an operand of several registers may still read.
    """

    size: dict[int, int]
    wide_in: tuple[int, ...]
    wide_out: tuple[int, ...]

    @cached_property
    def largest(self) -> int:
        """Registers of the largest block."""
        return max(self.size.values(), default=1)

    def block(self, register: int) -> range:
        """The block of a register; one alone without such an operand."""
        size = self.size.get(register, 1)
        return range(register - register % size, register - register % size + size)


def find_groups(cfg: Cfg) -> Groups:
    """Groups of a function.

    Neighbours are also the destinations of an instruction that leaves them as they are in some lanes, or that reads
    one of them: an instruction has one name for a register. Raises ``ValueError`` for one that is not aligned.
    """
    wide = [list(_wide(one)) for one in cfg.function.instructions]
    size: dict[int, int] = {}
    for group in sorted((group for groups in wide for group in groups), key=len):
        unit = power(len(group))
        if group[0] % unit:
            raise ValueError(f"the operand from R{group[0]} on is not aligned")
        size |= dict.fromkeys(range(group[0], group[0] + unit), unit)
    uses = [sum(1 << register for register in {r for group in groups for r in group}) for groups in wide]
    steps = [Transfer(use, _kills(one)) for use, one in zip(uses, cfg.function.instructions, strict=True)]
    outs = solve([compose(steps[block.start : block.end]) for block in cfg.blocks], cfg.flow_successors)
    wide_in, wide_out = [0] * len(steps), [0] * len(steps)
    for block in cfg.blocks:
        state = outs[block.index]
        for index in reversed(block.instructions):
            wide_out[index] = state
            state = steps[index].uses | (state & ~steps[index].kills)
            wide_in[index] = state
    return Groups(size, tuple(wide_in), tuple(wide_out))


def _kills(instruction: Instruction) -> int:
    """What begins a value that may stand elsewhere than the one before: not a register that is read as well."""
    read = sum(1 << register for register in set(effects(instruction).uses))
    return transfer(instruction).kills & ~read


def _wide(instruction: Instruction) -> Iterator[range]:
    """Operands of several registers that must be neighbours already."""
    yield from wide_sources(instruction)
    found = effects(instruction)
    if len(found.defs) > 1 and (instruction.is_guarded or set(found.defs) & set(found.uses)):
        yield range(found.defs[0], found.defs[0] + len(found.defs))
