"""Pseudo-instructions and moves that the pass inserts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from warpfile.spec.rewrite import copied
from warpfile.spec.rewrite_values import Result
from warpfile.spec.trace import Drain, Kind, Port, StaticInstruction


def acquire(offset: int = 0) -> StaticInstruction:
    """ACQ: take a section, or go on if the warp has one."""
    return StaticInstruction(offset, "ACQ", "ACQ", Port.NONE, Kind.SCHEME, operand=1)


def release(offset: int = 0) -> StaticInstruction:
    """REL: give the section back, or go on without one."""
    return StaticInstruction(offset, "REL", "REL", Port.NONE, Kind.SCHEME, drain=Drain.DISPATCHED)


def move(offset: int, dest: int, source: int) -> StaticInstruction:
    """Copy a register in the lanes that are here."""
    return StaticInstruction(offset, "MOV", f"MOV R{dest}, R{source}", Port.ALU, Kind.NORMAL, (source,), dest, 1)


def toggle(offset: int, dest: int, source: int) -> StaticInstruction:
    """Exclusive or of two registers, into the first one; three of them exchange both."""
    text = f"LOP3.LUT R{dest}, R{dest}, R{source}, RZ, 0x3c, !PT"
    return StaticInstruction(offset, "LOP3.LUT", text, Port.ALU, Kind.NORMAL, (dest, source), dest, 1)


def result_of(static: StaticInstruction) -> Result | None:
    """What an inserted instruction computes; None for pseudo-instructions."""
    if not static.dest_count:
        return None
    return copied if static.opcode == "MOV" else _toggled


def _toggled(sources: np.ndarray) -> np.ndarray:
    return sources[:1] ^ sources[1:]


def parallel_copy(offset: int, moves: Mapping[int, int], dead: Iterable[int]) -> list[StaticInstruction]:
    """Code that copies registers at once: source by destination, no destination twice.

    A register without a pending read is overwritten first; a cycle goes over the lowest of the ``dead`` registers, or
    without one is a row of exchanges.
    """
    waiting = {dest: source for dest, source in moves.items() if dest != source}
    if not waiting:
        return []
    spare = min(set(dead) - set(moves) - set(moves.values()), default=None)
    code: list[StaticInstruction] = []
    while waiting:
        free = [dest for dest in sorted(waiting) if dest not in waiting.values()]
        if free:
            code.append(move(offset, free[0], waiting.pop(free[0])))
        elif spare is not None:
            dest = min(waiting)
            code.append(move(offset, spare, dest))
            waiting = {d: spare if source == dest else source for d, source in waiting.items()}
        else:
            code += _exchange(offset, waiting)
    return code


def _exchange(offset: int, waiting: dict[int, int]) -> list[StaticInstruction]:
    """Bring its value to the lowest destination; what was there goes where that value came from."""
    dest = min(waiting)
    source = waiting.pop(dest)
    for other, wanted in list(waiting.items()):
        if wanted == dest:
            waiting[other] = source
    for other in [other for other, wanted in waiting.items() if other == wanted]:
        del waiting[other]
    return [toggle(offset, dest, source), toggle(offset, source, dest), toggle(offset, dest, source)]
