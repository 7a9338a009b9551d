"""Which definitions reach a use, of registers of all four files.

Registers are brought into static single assignment form: a *version* is a definition, or a merge of versions where
paths meet (R. Cytron et al., "Efficiently computing static single assignment form", TOPLAS 1991). A use has one
version; the definitions that reach it are those that its version is made of. Nothing is kept for other points.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from warpfile.compiler.cfg import Cfg
from warpfile.compiler.dominance import dominators
from warpfile.compiler.liveness import EVERYTHING, bits, defined, goes_anywhere, named, transfer, used
from warpfile.compiler.memoized import memoized
from warpfile.compiler.model import Instruction
from warpfile.compiler.opcodes import is_known
from warpfile.compiler.operands import effects

_ENTRY = -1  #: virtual block before everything that no other block leads to
_MERGE = -1


@dataclass
class Reaching:
    """Versions by number: the instruction of each (or a merge), and the older ones that it lets through."""

    instruction: list[int] = field(default_factory=list)
    older: list[list[int]] = field(default_factory=list)
    uses: dict[tuple[int, int], int] = field(default_factory=dict)  #: version by instruction and register
    _found: dict[int, tuple[int, ...]] = field(default_factory=dict)

    def of(self, index: int, register: int) -> tuple[int, ...]:
        """Instructions whose definition of a register (a bit of ``compiler.liveness``) may reach its use, ascending.

        Empty for a register that the instruction ``index`` does not use.
        """
        version = self.uses.get((index, register))
        if version is None:
            return ()
        if version not in self._found:
            seen, work = {version}, [version]
            while work:
                for one in self.older[work.pop()]:
                    if one not in seen:
                        seen.add(one)
                        work.append(one)
            self._found[version] = tuple(sorted({self.instruction[one] for one in seen} - {_MERGE}))
        return self._found[version]

    def version(self, instruction: int, older: list[int]) -> int:
        """A new version."""
        self.instruction.append(instruction)
        self.older.append(older)
        return len(self.older) - 1


def reaching_definitions(cfg: Cfg) -> Reaching:
    """Definitions that reach the uses of every instruction, over all paths from anywhere.

    A guarded definition lets the older one through. An opaque opcode may define what it names, an unknown callee every
    register. Values are followed into callees and back.
    """
    naming = _Naming(cfg)
    naming.walk()
    return naming.found


@memoized
def may_define(instruction: Instruction) -> int:
    """Registers an instruction may define, guarded or not."""
    if not is_known(instruction.opcode):
        return named(instruction)
    if instruction.opcode == "CALL" and goes_anywhere(instruction):
        return EVERYTHING
    return defined(effects(instruction))


@memoized
def _used(instruction: Instruction) -> int:
    return used(effects(instruction)) if is_known(instruction.opcode) else named(instruction)


class _Naming:
    """A walk down the dominator tree that gives every definition and use its version."""

    def __init__(self, cfg: Cfg) -> None:
        self.cfg, self.found = cfg, Reaching()
        self.roots = _roots(cfg)
        self.before: list[list[int]] = [[] for _ in cfg.blocks]
        for source, target in cfg.flow_edges:
            self.before[target].append(source)
        for root in self.roots:
            self.before[root].append(_ENTRY)
        above = dominators(_ENTRY, self._behind, self.before.__getitem__)
        self.below: dict[int, list[int]] = {}
        for block, parent in above.items():
            self.below.setdefault(parent, []).append(block)
        self.merges = self._merges(above)
        self.current: dict[int, int] = {}

    def _behind(self, block: int) -> tuple[int, ...]:
        return self.roots if block == _ENTRY else self.cfg.flow_successors[block]

    def _merges(self, above: dict[int, int]) -> list[dict[int, int]]:
        """By block, version of every register whose definitions meet there, as far as the register is used."""
        instructions, frontiers = self.cfg.function.instructions, _frontiers(self.before, above)
        somewhere = 0
        for instruction in instructions:
            somewhere |= _used(instruction)
        blocks_of: dict[int, list[int]] = {}
        for block in self.cfg.blocks:
            registers = 0
            for index in block.instructions:
                registers |= may_define(instructions[index])
            for register in bits(registers & somewhere):
                blocks_of.setdefault(register, []).append(block.index)
        merges: list[dict[int, int]] = [{} for _ in self.cfg.blocks]
        for register, work in blocks_of.items():
            while work:
                for place in frontiers[work.pop()]:
                    if register not in merges[place]:
                        merges[place][register] = self.found.version(_MERGE, [])
                        work.append(place)
        return merges

    def walk(self) -> None:
        """Name everything; on the way back up, what held above a block holds again."""
        work: list[tuple[int, dict[int, int | None] | None]] = [(root, None) for root in self.below.get(_ENTRY, [])]
        while work:
            block, hidden = work.pop()
            if hidden is None:
                work.append((block, self._enter(block)))
                work += [(child, None) for child in self.below.get(block, [])]
                continue
            for register, version in hidden.items():
                if version is None:
                    del self.current[register]
                else:
                    self.current[register] = version

    def _enter(self, block: int) -> dict[int, int | None]:
        """Name what is in a block; returns the versions that this hides."""
        hidden: dict[int, int | None] = {}

        def hide(register: int, version: int) -> None:
            hidden.setdefault(register, self.current.get(register))
            self.current[register] = version

        for register, version in self.merges[block].items():
            hide(register, version)
        for index in self.cfg.blocks[block].instructions:
            instruction = self.cfg.function.instructions[index]
            for register in bits(_used(instruction)):
                if register in self.current:
                    self.found.uses[index, register] = self.current[register]
            kills = transfer(instruction).kills
            for register in bits(may_define(instruction)):
                lets_through = register in self.current and not kills >> register & 1
                hide(register, self.found.version(index, [self.current[register]] if lets_through else []))
        for target in self.cfg.flow_successors[block]:
            for register, version in self.merges[target].items():
                if register in self.current:
                    self.found.older[version].append(self.current[register])
        return hidden


def _roots(cfg: Cfg) -> tuple[int, ...]:
    """The first block, and one of every part of the graph that cannot be reached from those before."""
    roots, seen = [], set[int]()
    for block in range(len(cfg.blocks)):
        if block not in seen:
            roots.append(block)
            work = [block]
            seen.add(block)
            while work:
                new = [one for one in cfg.flow_successors[work.pop()] if one not in seen]
                seen.update(new)
                work += new
    return tuple(roots)


def _frontiers(before: list[list[int]], above: dict[int, int]) -> list[list[int]]:
    """Dominance frontier of every block: where what it dominates ends."""
    frontiers: list[list[int]] = [[] for _ in before]
    for block, sources in enumerate(before):
        for source in sources if len(sources) > 1 else ():
            # What is above a block that has this frontier already has it, too.
            while source not in (above[block], _ENTRY) and frontiers[source][-1:] != [block]:
                frontiers[source].append(block)
                source = above[source]
    return frontiers
