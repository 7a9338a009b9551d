"""Executed instructions of a warp as the pass sees them, for traces without a listing.

docs/schemes/shrf.md, section 7. A warp's stream is code without branches. A definition of some of the live lanes is
partial.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from warpfile.compiler.passes.long_latency import is_fence, is_long
from warpfile.compiler.passes.shrf.listing import step_of
from warpfile.compiler.passes.shrf.values import Flow, Step
from warpfile.spec.trace import TOKENS, Kind, StaticInstruction, Trace

_REGISTERS = 256


def strands_of(trace: Trace, rng: random.Random | None = None) -> Iterator[tuple[int, Flow]]:
    """Every strand of every warp: its first record, and its steps with one more at the end that begins the next.

    With ``rng`` there are more strands.
    """
    for start, end in zip(trace.warp_start[:-1].tolist(), trace.warp_start[1:].tolist(), strict=True):
        records = [trace.program[number] for number in trace.instruction[start:end].tolist()]
        execute, live = trace.execute[start:end].tolist(), trace.live[start:end].tolist()
        steps = [_step(*one) for one in zip(records, execute, live, strict=True)]
        alive = _live(steps)
        heads = _beginnings(records, rng)
        for first, last in zip(heads, [*heads[1:], len(steps)], strict=True):
            yield start + first, _flow(steps[first:last], alive[first : last + 1])


def _step(static: StaticInstruction, execute: int, live: int) -> Step:
    return step_of(static, execute != live) if execute else Step()


def _flow(steps: Sequence[Step], live: Sequence[int]) -> Flow:
    count = len(steps)
    behind = [(index + 1,) for index in range(count)]
    return Flow((*steps, Step()), (*behind, ()), frozenset((0, count)), live)


def _live(steps: Sequence[Step]) -> list[int]:
    """Registers that are read before they are written, before each step and behind the last one."""
    found, state = [0], 0
    for step in reversed(steps):
        if not step.partial:
            for register in (*step.lost, *((step.dest,) if step.dest >= 0 else ())):
                state &= ~(1 << register)
        for register in step.sources:
            state |= 1 << register
        found.append(state)
    return found[::-1]


def _beginnings(records: Sequence[StaticInstruction], rng: random.Random | None) -> list[int]:
    """Rules 1 and 4 on the stream."""
    found, pending, behind = [], 0, True
    for index, static in enumerate(records):
        touched = -1 if is_fence(static) else _names(static)
        if behind or pending & touched or (rng is not None and rng.random() < 0.05):
            found.append(index)
            pending = 0
        behind = static.kind is Kind.BARRIER
        if is_long(static):
            pending |= _results(static)
    return found


def _names(static: StaticInstruction) -> int:
    return (
        sum(1 << register for register in {*static.sources, *static.dests})
        | (static.token_reads | static.token_writes) << _REGISTERS
    )


def _results(static: StaticInstruction) -> int:
    assert static.token_writes < 1 << TOKENS
    return sum(1 << register for register in static.dests) | static.token_writes << _REGISTERS
