"""PREFETCH in the streams of warps.

The code has one PREFETCH in front of the head of a unit, and a warp that enters the unit executes it (*explicit*); a
branch inside that goes back to the head of an interval passes it by. But the registers that were fetched are the warp's
while the path is that of some lanes: those that run next may be in the middle of another unit. Then its registers are
fetched first, without an instruction of the code (*implicit*).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from warpfile.compiler.passes.lanes import Lanes
from warpfile.compiler.passes.ltrf.units import NONE, Units
from warpfile.spec.rewrite import Insertion
from warpfile.spec.trace import Drain, Kind, Port, StaticInstruction, Trace

EXPLICIT, IMPLICIT = "PREFETCH", "PREFETCH.IMPLICIT"


def prefetch(registers: int, opcode: str = EXPLICIT) -> StaticInstruction:
    """Bring a set of registers near; bit r of the operand is register r. Nothing of the warp may be in flight."""
    text = f"{opcode} {registers:#x}"
    return StaticInstruction(0, opcode, text, Port.NONE, Kind.SCHEME, drain=Drain.EMPTY, operand=registers)


def insertions(trace: Trace, units: Units, places: Sequence[int]) -> Iterator[Insertion]:
    """Every PREFETCH of a trace; ``places`` gives the instruction of the units for each of the trace's program.

    Raises ``ValueError`` where a warp executes an instruction that belongs to no unit.
    """
    code = {
        (opcode, unit): prefetch(registers, opcode)
        for opcode in (EXPLICIT, IMPLICIT)
        for unit, registers in enumerate(units.sets)
    }
    starts = set(trace.warp_start[:-1].tolist())
    columns = zip(trace.instruction.tolist(), trace.active.tolist(), trace.live.tolist(), strict=True)
    lanes, near = Lanes(0), NONE
    for record, (instruction, active, live) in enumerate(columns):
        if record in starts:
            lanes, near = Lanes(live), NONE
        index = places[instruction]
        unit = units.of[index]
        if unit == NONE:
            raise ValueError(f"{trace.program[instruction].text!r} must be reached over the edges of the code")
        entering = 0
        for source, mask in lanes.step(index, active).items():
            entering |= mask if units.begins(source, index) else 0
        if unit in units.silent:
            continue
        if entering:
            yield Insertion(record, code[EXPLICIT, unit], active=entering)
        elif unit != near:
            yield Insertion(record, code[IMPLICIT, unit])
        near = unit
