"""Near and far operands of Malekeh, from the listing: is a register read again within a few instructions?

The reuse distance of an access is the number of instructions until the next one that reads the register, unless the
register is overwritten in between; an access is near where it is at most the threshold. Distances from an executed
trace are in :mod:`compiler.passes.malekeh.exact`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from warpfile.compiler.cfg import Cfg, build_cfg
from warpfile.compiler.liveness import general_registers, goes_anywhere, named
from warpfile.compiler.model import Function, Instruction
from warpfile.compiler.opcodes import is_known
from warpfile.compiler.program import static_instruction
from warpfile.compiler.worklist import Worklist, predecessors
from warpfile.spec.beat import distinct_sources

_REGISTERS = 255


@dataclass(frozen=True)
class NearHint:
    """Near bits of one instruction.

    Bit i of ``sources`` belongs to the i-th distinct source register in order of first occurrence, bit k of ``dests``
    to register ``dest + k``.
    """

    sources: int
    dests: int


@dataclass(frozen=True)
class _Step:
    """Registers that one instruction reads, writes and surely overwrites in all lanes that run it.

    ``is_end``: control goes on at code that is not in the listing, and no distance is known across it.
    """

    sources: tuple[int, ...]
    dests: tuple[int, ...] = ()
    kills: tuple[int, ...] = ()
    is_end: bool = False


def near_hints(function: Function, *, threshold: int) -> dict[int, NearHint]:
    """Hints by offset, for every instruction with a general register as operand.

    Largest solution, saturated at ``threshold + 1``, of

        before(i)[r] = 0 if i reads r, else far if i surely overwrites r, else 1 + after(i)[r]
        after(i)[r]  = minimum of before(s)[r] over the instructions s that may follow

    where 1 + after(i)[r] is the distance from i. The nearest use on any path counts, also one behind a back edge. A
    source that its own instruction surely overwrites is far. A guarded write overwrites nothing, a guarded read counts.
    Distances are followed into callees and back, but not across a call of code outside the listing. An opaque opcode
    has no hint; it may read all it names.
    """
    if threshold < 1:
        raise ValueError(f"threshold must be at least 1, not {threshold}")
    far = threshold + 1
    cfg = build_cfg(function)
    steps = [_step(instruction) for instruction in function.instructions]
    hints: dict[int, NearHint] = {}
    for block, after in zip(cfg.blocks, _distances(cfg, steps, far), strict=True):
        for index in reversed(block.instructions):
            step, instruction = steps[index], function.instructions[index]
            if (step.sources or step.dests) and is_known(instruction.opcode):
                hints[instruction.offset] = _hint(step, after, far)
            after = _before(step, after, far)
    return dict(sorted(hints.items()))


def _step(instruction: Instruction) -> _Step:
    if not is_known(instruction.opcode):
        return _Step(general_registers(named(instruction)))
    static = static_instruction(instruction)
    is_sure = not instruction.is_guarded
    return _Step(
        sources=distinct_sources(static.sources),
        dests=static.dests,
        kills=static.dests if is_sure else (),
        is_end=goes_anywhere(instruction) and is_sure,
    )


def _distances(cfg: Cfg, steps: Sequence[_Step], far: int) -> list[np.ndarray]:
    """``after`` of the last instruction of every block."""
    sources = predecessors(cfg.flow_successors)
    after = [np.full(_REGISTERS, far) for _ in cfg.blocks]
    work = Worklist(cfg.flow_order[::-1])
    while work:
        index = work.pop()
        before = after[index]
        for position in reversed(cfg.blocks[index].instructions):
            before = _before(steps[position], before, far)
        for source in sources[index]:
            if np.any(before < after[source]):
                after[source] = np.minimum(before, after[source])
                work.push(source)
    return after


def _before(step: _Step, after: np.ndarray, far: int) -> np.ndarray:
    before = np.full_like(after, far) if step.is_end else np.minimum(after + 1, far)
    before[list(step.kills)] = far
    before[list(step.sources)] = 0
    return before


def _hint(step: _Step, after: np.ndarray, far: int) -> NearHint:
    is_near = after + 1 < far
    if step.is_end:
        is_near[:] = False
    dests = _bits(is_near[register] for register in step.dests)
    is_near[list(step.kills)] = False
    return NearHint(_bits(is_near[register] for register in step.sources), dests)


def _bits(flags: Iterable[bool]) -> int:
    return sum(1 << position for position, flag in enumerate(flags) if flag)
