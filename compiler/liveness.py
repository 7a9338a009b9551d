"""Liveness of registers of all four files, with the conventions of ``nvdisasm -plr``.

Sets of registers are integers: bits 0..254 general registers, then predicates, uniform registers, uniform predicates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import compress, count

from warpfile.compiler.cfg import Cfg
from warpfile.compiler.memoized import memoized
from warpfile.compiler.model import Instruction, Label, Register
from warpfile.compiler.opcodes import is_known
from warpfile.compiler.operands import Effects, effects
from warpfile.compiler.worklist import Worklist, postorder, predecessors

PREDICATE_BIT = 256
UNIFORM_BIT = 264
UNIFORM_PREDICATE_BIT = 328
#: All registers of the four files, without RZ, PT, URZ and UPT.
EVERYTHING = (1 << 255) - 1 | 0x7F << PREDICATE_BIT | (1 << 63) - 1 << UNIFORM_BIT | 0x7F << UNIFORM_PREDICATE_BIT
_STACK_POINTER = 1
_WIDEST = 4
_FLAGS = bytes.maketrans(b"01", b"\0\1")


@dataclass(frozen=True)
class Transfer:
    """What one instruction or block does to a set of live registers: ``live_in = uses | (live_out & ~kills)``."""

    uses: int
    kills: int


@dataclass(frozen=True)
class Liveness:
    """Live registers before and after every instruction, as bit sets."""

    live_in: tuple[int, ...]
    live_out: tuple[int, ...]


@memoized
def liveness(cfg: Cfg) -> Liveness:
    """Least solution of ``live_in = uses | (live_out - kills)``, ``live_out = union of live_in of the successors``.

    A guarded definition is no kill, because the lanes that skip it keep the old value. EXIT uses R1. Values are
    followed into callees and back; before a CALL whose callee is unknown, or a BRX whose table is, everything is live,
    and with indirect calls before every RET.
    """
    instructions = cfg.function.instructions
    lost = "RET" if cfg.has_indirect_calls else ""
    transfers = [Transfer(EVERYTHING, 0) if one.opcode == lost else transfer(one) for one in instructions]
    blocks = [compose(transfers[block.start : block.end]) for block in cfg.blocks]
    outs = solve(blocks, cfg.flow_successors)
    live_in, live_out = [0] * len(instructions), [0] * len(instructions)
    for block in cfg.blocks:
        live = outs[block.index]
        for index in reversed(block.instructions):
            live_out[index] = live
            live = transfers[index].uses | (live & ~transfers[index].kills)
            live_in[index] = live
    return Liveness(tuple(live_in), tuple(live_out))


def solve(blocks: Sequence[Transfer], successors: Sequence[Sequence[int]]) -> list[int]:
    """Least ``live_out`` of every block."""
    before = predecessors(successors)
    outs = [0] * len(blocks)
    work = Worklist(postorder(successors))
    while work:
        index = work.pop()
        block = blocks[index]
        live = block.uses | (outs[index] & ~block.kills)
        for source in before[index]:
            if live & ~outs[source]:
                outs[source] |= live
                work.push(source)
    return outs


def compose(transfers: Iterable[Transfer]) -> Transfer:
    """Transfer of instructions one after the other."""
    uses = kills = 0
    for step in transfers:
        uses |= step.uses & ~kills
        kills |= step.kills
    return Transfer(uses, kills)


@memoized
def transfer(instruction: Instruction) -> Transfer:
    """Transfer of one instruction. An opaque opcode may use everything it names and kills nothing."""
    if not is_known(instruction.opcode):
        return Transfer(named(instruction), 0)
    found = effects(instruction)
    uses = used(found)
    if instruction.opcode == "EXIT":
        uses |= 1 << _STACK_POINTER
    if goes_anywhere(instruction):
        uses = EVERYTHING
    return Transfer(uses, 0 if instruction.is_guarded else defined(found))


def goes_anywhere(instruction: Instruction) -> bool:
    """Whether control goes on at code that the listing does not name: unknown callees, BRX without its table."""
    if instruction.opcode == "BRX":
        return not instruction.targets
    if instruction.opcode != "CALL":
        return False
    is_named = any(isinstance(operand, Label) for operand in instruction.operands)
    return instruction.is_indirect_call or not is_named


def used(found: Effects) -> int:
    """Set of registers an instruction uses."""
    return _set(found.uses, found.predicate_uses, found.uniform_uses, found.uniform_predicate_uses)


def defined(found: Effects) -> int:
    """Set of registers an instruction defines."""
    return _set(found.defs, found.predicate_defs, found.uniform_defs, found.uniform_predicate_defs)


def general_registers(registers: int) -> tuple[int, ...]:
    """Numbers of the general registers in a set, ascending."""
    return _members(registers, 0, PREDICATE_BIT)


def predicates(registers: int) -> tuple[int, ...]:
    """Numbers of the predicates in a set, ascending."""
    return _members(registers, PREDICATE_BIT, UNIFORM_BIT)


def uniform_registers(registers: int) -> tuple[int, ...]:
    """Numbers of the uniform registers in a set, ascending."""
    return _members(registers, UNIFORM_BIT, UNIFORM_PREDICATE_BIT)


def uniform_predicates(registers: int) -> tuple[int, ...]:
    """Numbers of the uniform predicates in a set, ascending."""
    return _members(registers, UNIFORM_PREDICATE_BIT, UNIFORM_PREDICATE_BIT + 8)


@lru_cache(1 << 14)
def _members(registers: int, first: int, end: int) -> tuple[int, ...]:
    return members(registers >> first & (1 << end - first) - 1)


def members(numbers: int) -> tuple[int, ...]:
    """Members of a bit set of many, ascending; in time that is linear in its width."""
    return tuple(compress(count(), f"{numbers:b}"[::-1].encode().translate(_FLAGS)))


def bits(registers: int) -> Iterator[int]:
    """Members of a set of few registers, ascending."""
    while registers:
        lowest = registers & -registers
        yield lowest.bit_length() - 1
        registers ^= lowest


def _set(general: Iterable[int], preds: Iterable[int], uniforms: Iterable[int], uniform_preds: Iterable[int]) -> int:
    result = 0
    for first, numbers in (
        (0, general),
        (PREDICATE_BIT, preds),
        (UNIFORM_BIT, uniforms),
        (UNIFORM_PREDICATE_BIT, uniform_preds),
    ):
        for number in numbers:
            result |= 1 << first + number
    return result


@memoized
def named(instruction: Instruction) -> int:
    """Every register an opaque instruction could mean by its operands, at the widest."""
    result = used(effects_of_guard(instruction))
    for operand in instruction.operands:
        registers = [getattr(operand, name, None) for name in ("base", "uniform", "index", "bank_register")]
        for register in (operand, *registers):
            if isinstance(register, Register) and not register.is_zero:
                first = register.number + (0 if register.file.value == "R" else UNIFORM_BIT)
                result |= ((1 << _WIDEST) - 1) << first
    return result & EVERYTHING


def effects_of_guard(instruction: Instruction) -> Effects:
    """The predicates that an instruction's guard and its condition read."""
    both = [one for one in (instruction.guard, instruction.condition) if one is not None and not one.is_true]
    return Effects(
        predicate_uses=tuple(one.number for one in both if not one.uniform),
        uniform_predicate_uses=tuple(one.number for one in both if one.uniform),
    )
