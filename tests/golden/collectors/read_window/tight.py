"""Random machine code with control codes as short as a machine allows: one register at two positions, pairs, marks."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np

from tests.compiler.passes.modern.coded import coded_trace
from warpfile.compiler.control_codes import control_bits
from warpfile.compiler.passes.modern.annotate import _places
from warpfile.compiler.passes.modern.code_assignment import assigned
from warpfile.spec.schemes.modern import ReadWindowConfig
from warpfile.spec.trace import NO_ROW, Trace

_LINES = (
    "FFMA R{d}, R{a}, R{b}, R{c}",
    "FFMA R{d}, R{a}, R{a}, R{b}",
    "FFMA R{d}, R{d}, R{b}, R{d}",
    "FADD R{d}, R{a}, R{b}",
    "IADD3 R{d}, R{a}, R{b}, R{c}",
    "MOV R{d}, R{a}",
    "IMAD.WIDE R{e}, R{a}, R{b}, R{f}",
    "MUFU.RCP R{d}, R{a}",
    "LDS.U R{d}, [R{a}]",
    "LDS.U.64 R{e}, [R{a}]",
    "STS [R{a}], R{b}",
)
_LEAVES = "DEPBAR.LE SB{s}, 0x{n}"


def tight_trace(
    cfg: ReadWindowConfig, seed: int, length: int = 60, warps: int = 2, names: int = 10, counters: bool = False
) -> Trace:
    """Warps that execute the same random lines; every instruction has the code that lets it issue first.

    With ``counters`` some of what counts is executed by no lane, and some lines wait until a few are left.
    """
    rng = random.Random(f"tight {seed}")
    lines = []
    for _ in range(length):
        numbers = {name: rng.randrange(2, names) for name in "abcd"}
        pairs = {name: 2 * rng.randrange(1, names // 2) for name in "ef"}
        line = rng.choice(_LINES).format(**numbers, **pairs)
        leaves = counters and rng.random() < 0.05
        lines.append(_LEAVES.format(s=rng.randrange(6), n=rng.randrange(1, 3)) if leaves else line)
    trace = coded_trace(*lines, warps=warps)
    places = _places(trace)
    codes = assigned(cfg, trace, places)
    program = list(trace.program)
    for record, index in enumerate(trace.instruction.tolist()):
        barriers = int(codes.write_barrier[record]) | int(codes.read_barrier[record]) << 3
        bits = min(int(codes.stall[record]), 15) | 1 << 4 | barriers << 5 | int(codes.wait[record]) << 11
        program[index] = replace(program[index], control=control_bits((bits | int(codes.reuse[record]) << 17) << 105))
    assert len(np.unique(trace.instruction)) == trace.records
    part = 0.15 if counters else 0
    skipped = np.array([places[index].variable and rng.random() < part for index in trace.instruction.tolist()])
    rows = np.where(skipped, NO_ROW, trace.value_row)
    return replace(trace, program=tuple(program), execute=np.where(skipped, 0, trace.execute), value_row=rows)
