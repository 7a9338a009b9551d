"""Lengths of units of code whose registers are fetched at once: a table.

A length is in executed instructions; the *optimum* are the longest runs of each warp with so many registers, and
*share* is what intervals have of it on average. *Code* grows by a PREFETCH and its set, or by *sets alone*. Minimum and
maximum are those of the kernels' averages in the last row, of single runs in the others.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from warpfile.compiler.passes.ltrf.annotate import FORMS, prefetched
from warpfile.compiler.passes.ltrf.code import code_of
from warpfile.compiler.passes.ltrf.lengths import Growth, Lengths, growth, optimal_lengths, real_lengths
from warpfile.compiler.passes.ltrf.placement import IMPLICIT
from warpfile.compiler.passes.trace_listing import listed_function
from warpfile.output.display import followed, show_table, silent
from warpfile.pages.evidence.factors import Input
from warpfile.pages.writing import parser
from warpfile.spec.trace import Trace
from warpfile.workloads.inputs import SETTINGS, bundled_kernels, obtain_trace

COLUMNS = (
    "kernel",
    "optimum",
    "min",
    "max",
    "intervals",
    "min",
    "max",
    "share",
    "implicit",
    "strands",
    "code",
    "sets alone",
)
REGISTERS = 16  #: of a unit, the paper's


@dataclass(frozen=True)
class Measured:
    """Lengths of one kernel, how many PREFETCH are implicit, and how much its code grows."""

    optimal: Lengths
    real: Lengths
    strands: Lengths
    implicit: int
    growth: Growth

    @property
    def share(self) -> float:
        """What intervals have of the optimum."""
        return self.real.average / self.optimal.average

    def cells(self) -> tuple[str, ...]:
        """Its cells behind the name."""
        shares = (f"{self.growth.by(opcode=opcode):.0%}" for opcode in (True, False))
        strands = f"{self.strands.average:.1f}"
        return (*_three(self.optimal), *_three(self.real), f"{self.share:.0%}", str(self.implicit), strands, *shares)


def measured(trace: Trace, registers: int = REGISTERS) -> Measured:
    """Lengths of a trace with a listing. Raises ``ValueError`` where an instruction names more registers."""
    function = listed_function(trace)
    if function is None:
        raise ValueError(f"{trace.kernel} must have its listing")
    found, code = prefetched(trace, registers), code_of(function)
    opcodes = Counter(found.program[index].opcode for index in found.instruction[found.inserted].tolist())
    return Measured(
        optimal_lengths(trace, registers),
        real_lengths(found),
        real_lengths(prefetched(trace, registers, "strands")),
        opcodes[IMPLICIT],
        growth(code, FORMS["intervals"](code, registers)),
    )


def rows(
    kernels: Iterable[str], trace_of: Callable[[str], Trace], registers: int = REGISTERS
) -> Iterator[Sequence[str]]:
    """One row per kernel, and one of all together; a kernel with wider instructions says so."""
    known: list[Measured] = []
    for kernel in kernels:
        try:
            known.append(measured(trace_of(kernel), registers))
        except ValueError as error:
            yield kernel, str(error), *[""] * (len(COLUMNS) - 2)
        else:
            yield kernel, *known[-1].cells()
    if known:
        yield "all", *_all(known)


def _three(lengths: Lengths) -> tuple[str, ...]:
    return f"{lengths.average:.1f}", str(lengths.shortest), str(lengths.longest)


def _all(known: Sequence[Measured]) -> tuple[str, ...]:
    """Mean, minimum and maximum of the kernels' averages; code as a mean of shares."""
    optimal, real, strands = (
        [of(one).average for one in known]
        for of in (lambda one: one.optimal, lambda one: one.real, lambda one: one.strands)
    )
    spans = (f"{of(values):.1f}" for values in (optimal, real) for of in (statistics.fmean, min, max))
    shares = (f"{statistics.fmean(one.growth.by(opcode=opcode) for one in known):.0%}" for opcode in (True, False))
    share, implicit = statistics.fmean(one.share for one in known), sum(one.implicit for one in known)
    return *spans, f"{share:.0%}", str(implicit), f"{statistics.fmean(strands):.1f}", *shares


def main(arguments: Sequence[str]) -> int:
    """Print the table of the bundled kernels."""
    options_of = parser("lengths", __doc__)
    options_of.add_argument("--registers", type=int, default=REGISTERS, help="of a unit (default: %(default)s)")
    options_of.add_argument("--setting", choices=SETTINGS, default=SETTINGS[0], help="launch (default: %(default)s)")
    options_of.add_argument("--ptx", action="store_true", help="allocated PTX in place of machine code (docs/ptx.md)")
    options = options_of.parse_args(arguments)

    def trace_of(kernel: str) -> Trace:
        made = Input(ptx=True).trace(kernel, options.setting) if options.ptx else kernel
        return obtain_trace(made, options.setting, None, silent)

    show_table(COLUMNS, rows(followed("lengths", list(bundled_kernels())), trace_of, options.registers))
    return 0
