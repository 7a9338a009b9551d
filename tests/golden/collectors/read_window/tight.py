"""Random machine code with control codes as short as a machine allows: one register at two positions, pairs, marks."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np

from tests.compiler.passes.modern.coded import coded_trace
from warpfile.compiler.control_codes import control_bits
from warpfile.compiler.passes.modern.annotate import _places
from warpfile.compiler.passes.modern.assigning import assigned
from warpfile.spec.schemes.modern import ReadWindowConfig
from warpfile.spec.trace import Trace

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


def tight_trace(cfg: ReadWindowConfig, seed: int, length: int = 60, warps: int = 2, names: int = 10) -> Trace:
    """Warps that execute the same random lines; every instruction has the code that lets it issue first."""
    rng = random.Random(f"tight {seed}")
    lines = []
    for _ in range(length):
        numbers = {name: rng.randrange(2, names) for name in "abcd"}
        pairs = {name: 2 * rng.randrange(1, names // 2) for name in "ef"}
        lines.append(rng.choice(_LINES).format(**numbers, **pairs))
    trace = coded_trace(*lines, warps=warps)
    codes = assigned(cfg, trace, _places(trace))
    program = list(trace.program)
    for record, index in enumerate(trace.instruction.tolist()):
        barriers = int(codes.write_barrier[record]) | int(codes.read_barrier[record]) << 3
        bits = min(int(codes.stall[record]), 15) | 1 << 4 | barriers << 5 | int(codes.wait[record]) << 11
        program[index] = replace(program[index], control=control_bits((bits | int(codes.reuse[record]) << 17) << 105))
    assert len(np.unique(trace.instruction)) == trace.records
    return replace(trace, program=tuple(program))
