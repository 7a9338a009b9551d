"""Code as far as the warps of a trace executed it, for traces without a listing."""

from __future__ import annotations

from warpfile.compiler.passes.lanes import START, Lanes
from warpfile.compiler.passes.ltrf.code import Code, may_leave
from warpfile.spec.trace import Trace


def observed(trace: Trace) -> Code:
    """The code whose instructions are those of the trace's program, with the edges that some lane went over.

    Where lanes go from a CALL or a RET is no edge; a unit begins there, as it does at every CALL.
    """
    program = trace.program
    opcodes = [static.opcode.partition(".")[0] for static in program]
    entries, edges = set[int](), set[tuple[int, int]]()
    for source, target in _steps(trace):
        if source == START or opcodes[source] in ("CALL", "RET"):
            entries.add(target)
        else:
            edges.add((source, target))
    calls = frozenset(index for index, opcode in enumerate(opcodes) if opcode == "CALL")
    straight = {(index, index + 1) for index in range(len(program) - 1)}
    jumps = edges - straight
    leaders = {0, *entries, *calls, *(target for _, target in jumps), *(source + 1 for source, _ in jumps)}
    leaders |= {index + 1 for index, following in straight if (index, following) not in edges}
    starts = leaders & set(range(len(program)))
    return Code(
        registers=tuple(sum(1 << one for one in {*static.sources, *static.dests}) for static in program),
        starts=tuple(sorted(starts)),
        edges=frozenset((source, target) for source, target in edges if target in starts),
        entries=frozenset(entries),
        heads=frozenset(entries | calls),
        calls=calls,
        waits=frozenset(index for index, static in enumerate(program) if may_leave(static)),
        names=tuple(repr(static.text) for static in program),
    )


def _steps(trace: Trace) -> set[tuple[int, int]]:
    """From which instruction of the program lanes went to which, from START to the first."""
    found, lanes = set[tuple[int, int]](), Lanes(0)
    starts = set(trace.warp_start[:-1].tolist())
    columns = zip(trace.instruction.tolist(), trace.active.tolist(), trace.live.tolist(), strict=True)
    for record, (instruction, active, live) in enumerate(columns):
        if record in starts:
            lanes = Lanes(live)
        found.update((source, instruction) for source in lanes.step(instruction, active))
    return found
