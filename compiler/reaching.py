"""Reaching definitions of registers of all four files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from warpfile.compiler.cfg import Cfg
from warpfile.compiler.liveness import EVERYTHING, defined, goes_anywhere, named, transfer
from warpfile.compiler.model import Instruction
from warpfile.compiler.opcodes import is_known
from warpfile.compiler.operands import effects


@dataclass(frozen=True)
class Reaching:
    """Definitions by number, and as bit sets those that reach the point before every instruction.

    ``definitions`` has the instruction and the register (a bit of ``compiler.liveness``) of each.
    """

    definitions: tuple[tuple[int, int], ...]
    reach_in: tuple[int, ...]

    @cached_property
    def _of_register(self) -> dict[int, list[int]]:
        table: dict[int, list[int]] = {}
        for number, (_, register) in enumerate(self.definitions):
            table.setdefault(register, []).append(number)
        return table

    def of(self, index: int, register: int) -> tuple[int, ...]:
        """Instructions whose definition of the register may reach the point before ``index``, ascending."""
        numbers = self._of_register.get(register, [])
        return tuple(self.definitions[number][0] for number in numbers if self.reach_in[index] >> number & 1)


def reaching_definitions(cfg: Cfg) -> Reaching:
    """Least solution of ``in = union of out of the predecessors``, ``out = gen | (in - kill)``.

    ``gen`` are the instruction's own definitions, ``kill`` all other ones of the registers it surely defines: a guarded
    definition kills nothing. An opaque opcode may define what it names, an unknown callee every register. Values are
    followed into callees and back.
    """
    instructions = cfg.function.instructions
    may = [may_define(instruction) for instruction in instructions]
    definitions = tuple((index, bit) for index, registers in enumerate(may) for bit in _bits(registers))
    of_register: dict[int, int] = {}
    gens = [0] * len(instructions)
    for number, (index, register) in enumerate(definitions):
        of_register[register] = of_register.get(register, 0) | 1 << number
        gens[index] |= 1 << number
    kills = []
    for instruction in instructions:
        killed = 0
        for register in _bits(transfer(instruction).kills):
            killed |= of_register[register]
        kills.append(killed)
    return Reaching(definitions, _solve(cfg, gens, kills))


def may_define(instruction: Instruction) -> int:
    """Registers an instruction may define, guarded or not."""
    if not is_known(instruction.opcode):
        return named(instruction)
    if instruction.opcode == "CALL" and goes_anywhere(instruction):
        return EVERYTHING
    return defined(effects(instruction))


def _solve(cfg: Cfg, gens: Sequence[int], kills: Sequence[int]) -> tuple[int, ...]:
    successors: list[list[int]] = [[] for _ in cfg.blocks]
    for source, target in cfg.flow_edges:
        successors[source].append(target)
    ins, work = [0] * len(cfg.blocks), list(range(len(cfg.blocks)))
    before = [0] * len(gens)
    while work:
        block = cfg.blocks[work.pop()]
        reach = ins[block.index]
        for index in block.instructions:
            before[index] = reach
            reach = reach & ~kills[index] | gens[index]
        for target in successors[block.index]:
            if reach & ~ins[target]:
                ins[target] |= reach
                work.append(target)
    return tuple(before)


def _bits(registers: int) -> list[int]:
    found = []
    while registers:
        low = registers & -registers
        found.append(low.bit_length() - 1)
        registers ^= low
    return found
