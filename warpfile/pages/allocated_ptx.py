"""Allocated PTX beside machine code: the tables of docs/ptx.md.

*Code* are instructions that control can reach, *executed* those of the small launch, warp by warp. *Per interval* are
instructions of the code per register-interval of N registers (docs/schemes/ltrf.md).
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from warpfile.compiler.passes.ltrf.code import code_of
from warpfile.compiler.passes.ltrf.intervals import intervals
from warpfile.compiler.passes.ltrf.lengths import growth
from warpfile.compiler.passes.trace_listing import listed_function
from warpfile.output.display import followed
from warpfile.pages.evidence.factors import Input
from warpfile.pages.writing import DOCS, page_parser, with_tables, write_or_check
from warpfile.results.markdown import table
from warpfile.results.points import trace_of
from warpfile.spec.trace import Trace
from warpfile.workloads.inputs import bundled_kernels

SIZES = (16, 32)  #: registers of an interval
SETTING = "launch"
COLUMNS = ("kernel", *(f"{what}, {code}" for what in ("code", "registers", "executed") for code in ("PTX", "SASS")))
COLUMNS += tuple(f"N = {size}, {code}" for size in SIZES for code in ("PTX", "SASS"))
REFUSED = ("refused", "why")


@dataclass(frozen=True)
class Facts:
    """What a trace says of its code; ``intervals`` has their number by size."""

    code: int
    registers: int
    executed: int
    intervals: tuple[int, ...]

    @property
    def lengths(self) -> list[float]:
        """Instructions of the code per interval, by size."""
        return [self.code / count for count in self.intervals]


def facts(trace: Trace) -> Facts:
    """Of a trace with a listing."""
    function = listed_function(trace)
    assert function is not None
    code = code_of(function)
    units = [intervals(code, size) for size in SIZES]
    reached = growth(code, units[0]).instructions
    return Facts(reached, trace.registers, len(trace.instruction), tuple(len(one.heads) for one in units))


def measured(kernels: Sequence[str]) -> tuple[dict[str, tuple[Facts, Facts]], dict[str, str]]:
    """By kernel, facts of allocated PTX and of machine code; and why the others are refused."""
    found: dict[str, tuple[Facts, Facts]] = {}
    refused: dict[str, str] = {}
    for kernel in followed("allocated_ptx", kernels):
        try:
            place = Input(ptx=True).trace(kernel, SETTING)
        except ValueError as error:
            refused[kernel] = str(error).partition("PTX, line ")[2].partition(": ")[2] or str(error)
        else:
            found[kernel] = facts(trace_of(place, SETTING)), facts(trace_of(kernel, SETTING))
    return found, refused


def rows(found: dict[str, tuple[Facts, Facts]]) -> Iterator[Sequence[str]]:
    """A row per kernel, one of means, and one of all code together."""
    for kernel, pair in found.items():
        counts = (str(getattr(one, name)) for name in ("code", "registers", "executed") for one in pair)
        yield kernel, *counts, *(f"{one.lengths[at]:.1f}" for at in range(len(SIZES)) for one in pair)
    every = list(found.values())
    means = (statistics.fmean(one[side].lengths[at] for one in every) for at in range(len(SIZES)) for side in (0, 1))
    yield "mean", *["-"] * 6, *(f"{one:.1f}" for one in means)
    sums = [[sum(getattr(one[side], name) for one in every) for side in (0, 1)] for name in ("code", "executed")]
    together = (
        sums[0][side] / sum(one[side].intervals[at] for one in every) for at in range(len(SIZES)) for side in (0, 1)
    )
    code, executed = ([str(one) for one in pair] for pair in sums)
    yield "all code together", *code, "-", "-", *executed, *(f"{one:.1f}" for one in together)


def main(arguments: Sequence[str]) -> int:
    """Write the tables."""
    options = page_parser("allocated_ptx", __doc__).parse_args(arguments)
    found, refused = measured(list(bundled_kernels()))
    tables = [table(REFUSED, refused.items()), table(COLUMNS, rows(found))]
    path = DOCS / "ptx.md"
    return write_or_check(options, {path: with_tables(path.read_text(), tables)}, tables)
