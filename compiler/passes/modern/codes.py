"""Control codes of everything that a trace executed: those of its listing, or as short as the machine allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from warpfile.compiler.control_codes import ControlCode, from_bits
from warpfile.compiler.passes.modern.read_positions import Placed, waits_of
from warpfile.spec.schemes.modern import NO_BARRIER
from warpfile.spec.trace import NO_CODE, StaticInstruction, Trace


@dataclass(frozen=True)
class Codes:
    """Per executed instruction, int64[n] each: the fields of a code, ``reuse`` by operand position."""

    stall: np.ndarray
    yields: np.ndarray
    wait: np.ndarray
    write_barrier: np.ndarray
    read_barrier: np.ndarray
    reuse: np.ndarray

    @classmethod
    def blank(cls, count: int) -> Codes:
        """The shortest ones, which wait for nothing and keep nothing."""
        stall, yields, wait, write_barrier, read_barrier, reuse = (
            np.full(count, value) for value in (1, 0, 0, NO_BARRIER, NO_BARRIER, 0)
        )
        return cls(stall, yields, wait, write_barrier, read_barrier, reuse)


def shows_codes(trace: Trace) -> bool:
    """Whether every instruction of the program has a code."""
    return all(static.control != NO_CODE for static in trace.program)


def of_program(trace: Trace) -> list[ControlCode]:
    """The codes of a trace's program, which shows them."""
    return [from_bits(static.control) for static in trace.program]


def listed(trace: Trace, places: Sequence[Placed], codes: Sequence[ControlCode], *, waits: bool = True) -> Codes:
    """These codes of the program. Raises ``ValueError`` for codes that do not fit the machine's ``waits``.

    Without ``waits`` a scoreboard does what stall counts and counters are for, and marks of reuse alone are used.
    """
    if waits:
        codes = [waited(*each) for each in zip(codes, trace.program, places, strict=True)]
    rows = [
        (
            code.stall,
            code.yields,
            code.wait_mask,
            NO_BARRIER if code.write_barrier is None else code.write_barrier,
            NO_BARRIER if code.read_barrier is None else code.read_barrier,
            code.reuse if place.fixed else 0,
        )
        for code, place in zip(codes, places, strict=True)
    ]
    return Codes(*np.array(rows, dtype=np.int64)[trace.instruction].T)


def waited(code: ControlCode, static: StaticInstruction, place: Placed) -> ControlCode:
    """The code with what a DEPBAR.LE waits for: the counter that it leaves some of is its write barrier."""
    if not place.variable and (code.write_barrier is not None or code.read_barrier is not None):
        raise ValueError(
            f"{static.text!r} at {static.offset:#x} must have no dependence counter, because its latency is fixed"
        )
    found = waits_of(static)
    if found is None:
        return code
    barrier = found.barrier if found.most else None
    return replace(code, write_barrier=barrier, wait_mask=code.wait_mask | found.mask)
