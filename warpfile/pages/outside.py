"""Whole kernels: cycles of the baseline beside those of Accel-Sim for the same machine code.

    python -m warpfile.pages outside [KERNEL]...

writes the table of docs/outside.md, in two minutes. What Accel-Sim took is in ``accelsim_rtx2060.toml``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from warpfile.output.display import progress, silent
from warpfile.pages.writing import DOCS, page_parser, with_tables, write_or_check
from warpfile.results.markdown import table as markdown
from warpfile.results.run import golden_run
from warpfile.schemes import find
from warpfile.workloads.inputs import obtain_trace

COLUMNS = (
    "kernel", "warp instructions", "Accel-Sim", "here", "error",
    "here, its LSU", "error", "Accel-Sim, our units", "error",
)  # fmt: skip
PRESET = "turing"
#: Accel-Sim's file has an access of shared memory or L1 per cycle and SM, so each of four domains has one in four.
ITS_LSU = {"lsu_interval": 4}
PAGE = DOCS / "outside.md"
_DATA = Path(__file__).parent / "accelsim_rtx2060.toml"


@dataclass(frozen=True)
class Row:
    """Cycles of one kernel.

    ``theirs``: of Accel-Sim. ``ours``. ``alike``: ours with the LSU of its file. ``moved``: of Accel-Sim with IMAD on
    the FMA unit and a branch unit that takes an instruction per cycle, as here.
    """

    kernel: str
    instructions: int
    theirs: int
    ours: int
    alike: int
    moved: int


@cache
def recorded() -> dict[str, tuple[int, int, int]]:
    """Warp instructions, cycles of Accel-Sim, and its cycles with our units, by kernel."""
    return {kernel: tuple(found) for kernel, found in tomllib.loads(_DATA.read_text())["kernels"].items()}


def rows(kernels: Sequence[str]) -> Iterator[Row]:
    """A row per kernel; ours are the cycles of domain 0, which has the launch's first warp."""
    for kernel in kernels:
        instructions, theirs, moved = recorded()[kernel]
        yield Row(kernel, instructions, theirs, cycles(kernel), cycles(kernel, **ITS_LSU), moved)


def cycles(kernel: str, **changes: int) -> int:
    """Cycles of the baseline at ``turing`` for a kernel's large launch."""
    scheme = find("baseline")
    trace = obtain_trace(kernel, "large", None, silent)
    return golden_run(scheme, scheme.configuration(PRESET, **changes), PRESET, trace, silent).cycles


def mean_error(pairs: Sequence[tuple[int, int]]) -> float:
    """Mean of the errors without their signs, of pairs of our cycles and theirs."""
    return sum(abs(ours / theirs - 1) for ours, theirs in pairs) / len(pairs)


def text(found: Sequence[Row]) -> str:
    """The table; its last row has sums, and mean errors without signs."""
    lines = [
        (
            f"`{row.kernel}`", f"{row.instructions:,}", f"{row.theirs:,}",
            f"{row.ours:,}", f"{row.ours / row.theirs - 1:+.0%}",
            f"{row.alike:,}", f"{row.alike / row.theirs - 1:+.0%}",
            f"{row.moved:,}", f"{row.alike / row.moved - 1:+.0%}",
        )
        for row in found
    ]  # fmt: skip
    own = mean_error([(row.ours, row.theirs) for row in found])
    alike = mean_error([(row.alike, row.theirs) for row in found])
    moved = mean_error([(row.alike, row.moved) for row in found])
    names = ("instructions", "theirs", "ours", "alike", "moved")
    sums = [f"{sum(getattr(row, name) for row in found):,}" for name in names]
    first = f"sum of {len(found)}, mean error"
    last = (first, *sums[:3], f"{own:.0%}", sums[3], f"{alike:.0%}", sums[4], f"{moved:.0%}")
    return markdown(COLUMNS, [*lines, last])


def main(arguments: Sequence[str]) -> int:
    """Write the table of all kernels, or print that of the named ones."""
    parser = page_parser("outside", __doc__)
    parser.add_argument("kernels", metavar="KERNEL", nargs="*", help="print the rows of these; default: all")
    options = parser.parse_args(arguments)
    for kernel in options.kernels:
        if kernel not in recorded():
            parser.error(f"KERNEL must be one of {', '.join(recorded())}, not {kernel}")
    chosen = options.kernels or list(recorded())
    found = []
    with progress("outside") as report:
        for row in rows(chosen):
            found.append(row)
            report(row.kernel, len(found), len(chosen))
    made = text(found)
    options.printed |= bool(options.kernels)
    return write_or_check(options, {PAGE: with_tables(PAGE.read_text(), (made,))}, (made,))
