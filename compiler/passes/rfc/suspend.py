"""Where a warp suspends: before it touches the result of a long-latency operation that may still be in flight.

M. Gebhart et al., ISCA 2011, section 3.2: the compiler marks the instructions before which a warp leaves the active
set. Deviations: overwriting such a result counts as touching it, and fences and NANOSLEEP suspend, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from warpfile.compiler.cfg import Cfg, build_cfg
from warpfile.compiler.liveness import bits, defined
from warpfile.compiler.model import Function, Instruction
from warpfile.compiler.opcodes import is_known
from warpfile.compiler.operands import effects
from warpfile.compiler.passes.long_latency import always_suspends, is_long, touches
from warpfile.compiler.program import static_instruction
from warpfile.compiler.worklist import Worklist
from warpfile.spec.trace import Kind


def suspend_before(function: Function) -> frozenset[int]:
    """Offsets of the instructions before which a warp suspends.

    They are those that read or write, as register or predicate, a result that may still be pending. Least solution of

        in(i)  = union of out(p) over the predecessors p, callees and callers included
        out(i) = in(i) - {l : i touches a result of l} | {i if it is a long-latency operation}

    so that of all instructions that touch results of l only the first on each path is found: behind it they have
    arrived, as all have behind MEMBAR. MEMBAR and NANOSLEEP always suspend. BAR.SYNC never does, as it has to arrive
    first. Guards change nothing: the scoreboard holds back an instruction whatever its guard says.
    """
    cfg = build_cfg(function)
    instructions = function.instructions
    results = {index: defined(effects(instructions[index])) for index in _long_operations(function)}
    operations = _Touches(results.values())
    touched = [operations.of(touches(instruction)) for instruction in instructions]
    pending = _pending(cfg, touched, [operations.number.get(results.get(i, 0), 0) for i in range(len(instructions))])
    return frozenset(
        instruction.offset
        for index, instruction in enumerate(instructions)
        if _suspends(instruction, bool(pending[index] & touched[index]))
    )


class _Touches:
    """Long-latency operations by their results: those that define the same registers are touched together, as one."""

    def __init__(self, results: Iterable[int]) -> None:
        self.number = {registers: 1 << place for place, registers in enumerate(dict.fromkeys(results))}
        self._with: dict[int, int] = {}
        for registers, number in self.number.items():
            for register in bits(registers):
                self._with[register] = self._with.get(register, 0) | number

    def of(self, registers: int) -> int:
        """Set of the operations that have one of the registers among their results."""
        found = 0
        for register in bits(registers):
            found |= self._with.get(register, 0)
        return found


def _long_operations(function: Function) -> Iterator[int]:
    for index, instruction in enumerate(function.instructions):
        if is_known(instruction.opcode) and is_long(static_instruction(instruction)):
            yield index


def _suspends(instruction: Instruction, touches_pending: bool) -> bool:
    if not is_known(instruction.opcode):
        return touches_pending
    static = static_instruction(instruction)
    return static.kind is not Kind.BARRIER and (touches_pending or always_suspends(static))


def _pending(cfg: Cfg, ends: Sequence[int], begins: Sequence[int]) -> list[int]:
    """Set of operations that may be pending before every instruction; those in ``ends`` are over behind it."""
    ins, before = [0] * len(cfg.blocks), [0] * len(ends)
    work = Worklist(cfg.flow_order)
    while work:
        block = cfg.blocks[work.pop()]
        state = ins[block.index]
        for index in block.instructions:
            before[index] = state
            state = state & ~ends[index] | begins[index]
        for target in cfg.flow_successors[block.index]:
            if state & ~ins[target]:
                ins[target] |= state
                work.push(target)
    return before
