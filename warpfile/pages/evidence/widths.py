"""How narrow the values of a trace are, whatever the machine."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from warpfile.compiler.passes.packed.affinity import executed, expected
from warpfile.compiler.passes.packed.pairs import exclusive_pairs
from warpfile.compiler.passes.trace_listing import listed_function
from warpfile.spec.beat import distinct_sources
from warpfile.spec.contract import SLICES
from warpfile.spec.trace import LANES, Trace

_FLOAT = re.compile(r"((F|D)(ADD|MUL|FMA|SETP)|F(SET|MNMX|SEL|CHK|SWZADD)|MUFU|H(ADD2|MUL2|FMA2|SETP?2|MNMX2|MMA))\b")

_ALL = (1 << LANES) - 1


@dataclass(frozen=True)
class Values:
    """Executed instructions of a trace by what they read.

    ``wide``: those that read two registers or more; ``reads``: all distinct sources, ``wide_reads`` those of the wide
    ones. ``coalescable``: wide ones of which two sources, as narrow as they are, fit into one row. ``floats``: share
    of the executed instructions that compute with floats.
    """

    executed: int
    wide: int
    reads: int
    wide_reads: int
    coalescable: int
    floats: float


def bytes_needed(values: np.ndarray, written: np.ndarray) -> np.ndarray:
    """int64[rows]: the least number of bytes of which every written lane of a row is the sign extension.

    ``values``: uint32[rows, 32]. ``written``: uint32[rows], masks of lanes.
    """
    signed = values.view(np.int32).astype(np.int64)
    lanes = written[:, None] >> np.arange(LANES, dtype=np.uint32) & 1
    signed[lanes == 0] = 0
    sizes = np.ones(len(values), dtype=np.int64)
    for size in range(1, SLICES):
        limit = 1 << 8 * size - 1
        sizes[((signed < -limit) | (signed >= limit)).any(axis=1)] = size + 1
    return sizes


def values_of(trace: Trace) -> Values:
    """What the instructions read that some lane executes. A register that no beat has written fits into no row."""
    sources = [distinct_sources(static.sources) for static in trace.program]
    counts = np.array([len(names) for names in sources])[trace.instruction[trace.execute != 0]]
    floats = np.array([bool(_FLOAT.match(static.opcode)) for static in trace.program])
    return Values(
        executed=len(counts),
        wide=int((counts >= 2).sum()),
        reads=int(counts.sum()),
        wide_reads=int(counts[counts >= 2].sum()),
        coalescable=_coalescable(trace, sources),
        floats=float(floats[trace.instruction[trace.execute != 0]].mean()),
    )


def _coalescable(trace: Trace, sources: Sequence[Sequence[int]]) -> int:
    needed = bytes_needed(trace.values, trace.written).tolist()
    columns = (trace.instruction.tolist(), trace.execute.tolist(), trace.value_row.tolist())
    found = 0
    for start, end in zip(trace.warp_start[:-1].tolist(), trace.warp_start[1:].tolist(), strict=True):
        sizes: dict[int, int] = {}
        for index, execute, row in zip(*(column[start:end] for column in columns), strict=True):
            if len(sources[index]) > 1 and execute:
                narrow = sorted(sizes.get(name, SLICES) for name in sources[index])
                found += narrow[0] + narrow[1] <= SLICES
            if row >= 0:
                sizes |= {name: needed[row + number] for number, name in enumerate(trace.program[index].dests)}
    return found


@dataclass(frozen=True)
class Pairs:
    """Allocations of registers whose partner has a place: all, and those of which both values fit into a row."""

    allocations: int
    fitting: int


def pairs_of(trace: Trace) -> Pairs:
    """Those of the compiler's pairs. A register is allocated when it is first written and when its value grows."""
    function = listed_function(trace)
    partners: dict[int, int] = {}
    for one, other in exclusive_pairs(executed(trace) if function is None else expected(function)):
        partners |= {one: other, other: one}
    needed, whole = bytes_needed(trace.values, trace.written).tolist(), trace.written.tolist()
    columns = (trace.instruction.tolist(), trace.value_row.tolist())
    found = fitting = 0
    for start, end in zip(trace.warp_start[:-1].tolist(), trace.warp_start[1:].tolist(), strict=True):
        sizes: dict[int, int] = {}
        for index, row in zip(*(column[start:end] for column in columns), strict=True):
            for number, name in enumerate(trace.program[index].dests if row >= 0 else ()):
                old, size = sizes.get(name, 0), needed[row + number]
                size = size if whole[row + number] == _ALL else max(old, size)
                partner = sizes.get(partners.get(name, -1), 0)
                if size > old and partner:
                    found += 1
                    fitting += size + partner <= SLICES
                sizes[name] = size
    return Pairs(found, fitting)
