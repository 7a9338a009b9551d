"""How often loops run, where the code shows it as a constant."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from warpfile.compiler.cfg import Cfg
from warpfile.compiler.dominance import Ancestry, immediate_dominators
from warpfile.compiler.liveness import PREDICATE_BIT
from warpfile.compiler.loops import Loop
from warpfile.compiler.model import Immediate, Instruction, Label, Operand, Predicate, Register
from warpfile.compiler.operands import effects
from warpfile.compiler.reaching import Reaching, reaching_definitions

_LEAVES = ("EXIT", "KILL", "RET", "BRX", "CALL")
_OPPOSITE = {"LT": "GE", "GE": "LT", "GT": "LE", "LE": "GT", "EQ": "NE", "NE": "EQ"}
_WORD = 1 << 32
_ADDS = {"IADD3": 4, "VIADD": 3}  #: operands of what adds


@dataclass(frozen=True)
class _Test:
    """A loop goes on while its counter has a relation to the bound."""

    index: int
    counter: int
    relation: str
    bound: int
    signed: bool

    def trips(self, first: int, step: int) -> int | None:
        """Trips of a loop whose test sees the values first, first + step, ... of a word; None where one would wrap."""
        values = range(-_WORD // 2, _WORD // 2) if self.signed else range(_WORD)
        bound = self._value(self.bound)
        going = {"LT": first < bound, "GE": first >= bound, "GT": first > bound, "LE": first <= bound}
        going |= {"EQ": first == bound, "NE": first != bound}
        if first not in values or not going[self.relation]:
            return 1 if first in values else None
        end = {"LE": bound + 1, "GE": bound - 1}.get(self.relation, bound)
        is_met = self.relation != "NE" or (step and (bound - first) % step == 0)
        if self.relation == "EQ" or (end - first) * step <= 0 or not is_met:
            return None
        count = len(range(first, end, step))
        return count + 1 if first + count * step in values else None

    def _value(self, word: int) -> int:
        word %= _WORD
        return word - _WORD if self.signed and word >= _WORD // 2 else word

    def first(self, start: int, step: int) -> int:
        """The start of a counter, ``step`` further."""
        return self._value(start) + step


def trip_counts(cfg: Cfg, loops: Sequence[Loop]) -> dict[int, int]:
    """By header, the trips of a lane through a loop each time it enters, for loops in which this is a constant.

    These leave only behind their one latch, where an ISETP of a counter and a constant decides. One IADD3 or VIADD adds
    a constant to the counter once per trip, and every way in passes one move of a constant to it. In code with cycles
    that are no natural loops (``loops`` are all of the graph) no trips are known.
    """
    candidates = [loop for loop in loops if _leaves_at_latch(cfg, loop)]
    above = immediate_dominators(cfg)
    if not candidates or _has_other_cycles(cfg, loops, above.keys()):
        return {}
    around: list[set[int]] = [set() for _ in cfg.blocks]
    for loop in loops:
        for block in loop.blocks:
            around[block].add(loop.header)
    finder = _Finder(cfg, around, reaching_definitions(cfg), Ancestry(above))
    found = {loop.header: finder.trips(loop) for loop in candidates}
    return {header: trips for header, trips in found.items() if trips is not None}


def _has_other_cycles(cfg: Cfg, loops: Sequence[Loop], reached: Set[int]) -> bool:
    """Whether cycles are left without the edges back to the headers of natural loops."""
    back = {(latch, loop.header) for loop in loops for latch in loop.latches}
    before = {
        block: {one for one in cfg.predecessors[block] if (one, block) not in back} & reached for block in reached
    }
    try:
        TopologicalSorter(before).prepare()
    except CycleError:
        return True
    return False


def _leaves_at_latch(cfg: Cfg, loop: Loop) -> bool:
    """Whether lanes that leave do so behind the one latch, as far as blocks tell."""
    inside = (cfg.function.instructions[index] for block in loop.blocks for index in cfg.blocks[block].instructions)
    ways = {block for block in loop.blocks for target in cfg.successors[block] if target not in loop.blocks}
    return ways == set(loop.latches) and len(ways) == 1 and not any(one.opcode in _LEAVES for one in inside)


@dataclass(frozen=True)
class _Finder:
    cfg: Cfg
    around: Sequence[Set[int]]  #: by block, the headers of the loops that it is in
    reaching: Reaching
    ancestry: Ancestry

    def trips(self, loop: Loop) -> int | None:
        """Trips of one loop, if they are a constant."""
        test = self._test(loop)
        if test is None:
            return None
        instructions, seen = self.cfg.function.instructions, self.reaching.of(test.index, test.counter)
        inside = [index for index in seen if self.cfg.block_of[index] in loop.blocks]
        if len(inside) != 1 or not self._once(loop, inside[0]):
            return None
        before = [index for index in self.reaching.of(inside[0], test.counter) if index != inside[0]]
        step = _step(instructions[inside[0]], test.counter)
        if step is None or len(before) != 1 or not self._starts(loop, before[0]) or {*seen} - {*inside, *before}:
            return None
        start = _moved(instructions[before[0]])
        return None if start is None else test.trips(test.first(start, 0 if before[0] in seen else step), step)

    def _test(self, loop: Loop) -> _Test | None:
        """What decides at the latch."""
        block = self.cfg.blocks[loop.latches[0]]
        branch = self.cfg.last(block)
        guard, target = branch.guard, branch.operands[-1] if branch.operands else None
        if branch.opcode != "BRA" or guard is None or guard.uniform or not isinstance(target, Label):
            return None
        if branch.condition is not None or {"DIV", "CONV"} & set(branch.modifiers):
            return None
        deciding = self.reaching.of(block.end - 1, PREDICATE_BIT + guard.number)
        if len(deciding) != 1 or not self._once(loop, deciding[0]):
            return None
        goes_back = target.offset == self.cfg.function.instructions[self.cfg.blocks[loop.header].start].offset
        return _compared(self.cfg.function.instructions[deciding[0]], deciding[0], guard, goes_back != guard.negate)

    def _once(self, loop: Loop, index: int) -> bool:
        """Whether each trip executes an instruction once, in all lanes."""
        block = self.cfg.block_of[index]
        is_passed = self.around[block] == self.around[loop.header] and self.ancestry.dominates(block, loop.latches[0])
        return is_passed and not self.cfg.function.instructions[index].is_guarded

    def _starts(self, loop: Loop, index: int) -> bool:
        """Whether every way into a loop passes an instruction outside, also in each round of a loop around both."""
        block = self.cfg.block_of[index]
        is_outside = self.around[block] == self.around[loop.header] - {loop.header}
        return is_outside and self.ancestry.dominates(block, loop.header)


def _compared(instruction: Instruction, index: int, guard: Predicate, sense: bool) -> _Test | None:
    """The test that gives a predicate, for a loop that goes on where the predicate is ``sense``."""
    relation, *others = instruction.modifiers or ("",)
    operands = instruction.operands
    if instruction.opcode != "ISETP" or relation not in _OPPOSITE or {*others} - {"U32", "AND"} or len(operands) != 5:
        return None
    given, _, counter, bound, last = operands
    word = _literal(bound)
    is_plain = isinstance(last, Predicate) and last.is_true and not last.negate
    is_given = isinstance(given, Predicate) and given.number == guard.number and not given.uniform
    if not (is_plain and is_given and isinstance(counter, Register)) or counter.is_zero or word is None:
        return None
    return _Test(index, counter.number, relation if sense else _OPPOSITE[relation], word, "U32" not in others)


def _step(instruction: Instruction, counter: int) -> int | None:
    """What an instruction adds to a register, if that is all it does."""
    if instruction.modifiers or len(instruction.operands) != _ADDS.get(instruction.opcode):
        return None
    if effects(instruction).defs != (counter,):
        return None
    own = [one for one in instruction.operands[1:] if isinstance(one, Register) and one.number == counter]
    rest = [_literal(one) for one in instruction.operands[1:] if one not in own]
    if len(own) != 1 or own[0].negate or own[0].invert or None in rest:
        return None
    step = sum(word for word in rest if word is not None) % _WORD
    return step - _WORD if step >= _WORD // 2 else step


def _moved(instruction: Instruction) -> int | None:
    """The constant that an instruction moves to its destination."""
    if instruction.is_guarded:
        return None
    name, operands = instruction.full_opcode, instruction.operands
    if name in ("CS2R", "CS2R.32"):
        return 0 if str(getattr(operands[-1], "text", "")) == "SRZ" else None
    if name == "IMAD.MOV.U32" and all(_literal(one) == 0 for one in operands[1:3]):
        return _literal(operands[3])
    return _literal(operands[1]) if name == "MOV" else None


def _literal(operand: Operand) -> int | None:
    """The word that an operand is, whatever is in registers."""
    if isinstance(operand, Immediate) and operand.is_pattern:
        return int(operand.value)
    return 0 if isinstance(operand, Register) and operand.is_zero else None
