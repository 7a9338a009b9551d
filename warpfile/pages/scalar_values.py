"""How many results and sources of the bundled kernels are scalar or affine (docs/schemes/scalar.md): a table.

A result of all live lanes is *scalar* if these hold one word, *affine* if they hold base + stride x lane with a stride
that is not 0, in 32 bits. A register is scalar from such a result on until another one is written, or some lanes of it,
which *expands* it. Shares are of the results of all live lanes, of all results (*some lanes*), and of distinct sources;
expansions are per 1,000 instructions. The last row has the means. Instructions that no lane executes count nowhere.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass

import numpy as np

from warpfile.output.display import followed, show_table, silent
from warpfile.pages.evidence.metrics import SUITES
from warpfile.pages.writing import parser
from warpfile.spec.beat import distinct_sources
from warpfile.spec.trace import LANES, NO_ROW, Trace
from warpfile.workloads.inputs import SETTINGS, obtain_trace

COLUMNS = ("kernel", "scalar results", "affine results", "some lanes", "scalar sources", "expansions")
OTHER, SCALAR, AFFINE, PARTIAL = range(4)  #: kinds of results


@dataclass(frozen=True)
class Measured:
    """The shares of one kernel, in percent; ``expansions`` per 1,000 instructions. Shares of nothing are 0."""

    scalar: float
    affine: float
    partial: float
    sources: float
    expansions: float

    def cells(self) -> tuple[str, ...]:
        """Its cells behind the name."""
        *shares, expansions = astuple(self)
        return (*(f"{share:.1f}%" for share in shares), f"{expansions:.2f}")


def is_scalar(values: np.ndarray, lanes: np.ndarray) -> np.ndarray:
    """bool[n]: whether values (uint32[n, 32]) hold one word in these lanes, of which there is one at least."""
    return np.asarray((values[:, lanes] == values[:, lanes[:1]]).all(axis=1))


def is_affine(values: np.ndarray, lanes: np.ndarray) -> np.ndarray:
    """bool[n]: whether they hold base + stride x lane, with a stride (32 bits with a sign) that is not 0."""
    if len(lanes) < 2:
        return np.zeros(len(values), dtype=bool)
    at = int(np.argmin(np.diff(lanes)))  # the nearest two: of those that are apart only multiples are known
    gap = int(lanes[at + 1] - lanes[at])
    differences = (values[:, lanes[at + 1]] - values[:, lanes[at]]).view(np.int32)
    strides = (differences // gap).view(np.uint32)
    steps = (lanes - lanes[at]).astype(np.int32).view(np.uint32)
    expected = values[:, lanes[at]][:, None] + strides[:, None] * steps
    return np.asarray((values[:, lanes] == expected).all(axis=1) & (strides != 0))


def kinds(trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """int64[n]: the record of every result, in order; int8[n]: its kind. A value that is not known is zero."""
    counts = np.array([static.dest_count for static in trace.program])[trace.instruction]
    counts[trace.execute == 0] = 0
    record = np.repeat(np.arange(trace.records), counts)
    first = trace.value_row[record]
    component = np.arange(len(record)) - np.repeat(np.cumsum(counts) - counts, counts)
    rows = np.where(first == NO_ROW, NO_ROW, first + component)
    known = np.concatenate([trace.values, np.zeros((1, LANES), dtype=np.uint32)])  # row -1
    masks = trace.execute[record]
    found = np.full(len(record), PARTIAL, dtype=np.int8)
    full = masks == trace.live[record]
    for mask in np.unique(masks[full]):
        some, lanes = np.flatnonzero(full & (masks == mask)), np.flatnonzero(int(mask) >> np.arange(LANES) & 1)
        values = known[rows[some]]
        found[some] = np.where(is_affine(values, lanes), AFFINE, np.where(is_scalar(values, lanes), SCALAR, OTHER))
    return record, found


def measured(trace: Trace) -> Measured:
    """What a trace has."""
    record, found = kinds(trace)
    sources, scalar_sources, expansions = _followed(trace, iter(found.tolist()))
    full = int((found != PARTIAL).sum())
    return Measured(
        _percent(int((found == SCALAR).sum()), full),
        _percent(int((found == AFFINE).sum()), full),
        _percent(int((found == PARTIAL).sum()), len(record)),
        _percent(scalar_sources, sources),
        1000 * expansions / trace.instructions,
    )


def _percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0


def _followed(trace: Trace, found: Iterator[int]) -> tuple[int, int, int]:
    """Distinct sources, those from scalar registers, and expansions, of the kinds of all results."""
    named = [sum(1 << register for register in distinct_sources(static.sources)) for static in trace.program]
    dests = [static.dests for static in trace.program]
    executed = (trace.execute != 0).tolist()
    sources = scalar_sources = expansions = 0
    for warp in range(trace.warps):
        scalar = 0
        for record in range(trace.warp_start[warp], trace.warp_start[warp + 1]):
            if not executed[record]:
                continue
            index = trace.instruction[record]
            sources += named[index].bit_count()
            scalar_sources += (named[index] & scalar).bit_count()
            for register in dests[index]:
                kind, bit = next(found), 1 << register
                expansions += kind == PARTIAL and bool(scalar & bit)
                scalar = scalar | bit if kind == SCALAR else scalar & ~bit
    return sources, scalar_sources, expansions


def rows(kernels: Iterable[str], trace_of: Callable[[str], Trace]) -> Iterator[Sequence[str]]:
    """One row per kernel, and one of the means."""
    known = []
    for kernel in kernels:
        known.append(measured(trace_of(kernel)))
        yield kernel, *known[-1].cells()
    if known:
        columns = zip(*map(astuple, known), strict=True)
        yield "mean", *Measured(*(statistics.fmean(column) for column in columns)).cells()


def main(arguments: Sequence[str]) -> int:
    """Print the table of the bundled kernels of the usual suites."""
    options_of = parser("scalar_values", __doc__)
    options_of.add_argument("--setting", choices=SETTINGS, default="large", help="launch (default: %(default)s)")
    options = options_of.parse_args(arguments)

    def trace_of(kernel: str) -> Trace:
        return obtain_trace(kernel, options.setting, None, silent)

    show_table(COLUMNS, rows(followed("scalar_values", SUITES), trace_of))
    return 0
