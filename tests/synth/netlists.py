"""Mapped control modules of every scheme are proven to be their Verilog (docs/area.md).

``python -m warpfile.pages netlists`` proves all of them and writes docs/netlists.md; with names of schemes it proves
theirs and leaves the other rows.
"""

from __future__ import annotations

import resource
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from warpfile.output.display import say
from warpfile.pages.writing import DOCS, page_parser, write_or_check
from warpfile.results.markdown import table
from warpfile.schemes import SCHEMES, TOP
from warpfile.spec.structure import BOXES
from warpfile.synth.equivalence import unproven
from warpfile.synth.liberty import read_liberty
from warpfile.synth.mapped import map_gates
from warpfile.synth.yosys import kept_modules

PAGE = DOCS / "netlists.md"
SECONDS = 60
PROVEN = "proven"
_INTRODUCTION = """\
# Netlists that are proven

Written by `python -m warpfile.pages netlists`. Control modules of every scheme at `tiny` with one lane: the netlist,
mapped as an area report maps it, is proven to be the Verilog ([area.md](area.md#netlists-are-proven)). Data paths are
left out: lanes, `register_file.banks` and the top. Seconds are of one processor, without the mapping.
`make check` proves all schemes, also those without rows here.
"""


@dataclass(frozen=True)
class Answer:
    """What became of one module: of which scheme, how many cells, the verdict, and seconds of processor time."""

    scheme: str
    module: str
    cells: int
    verdict: str
    seconds: float


@cache
def mapped(name: str) -> tuple[str, Mapping[str, Any]]:
    """Verilog of a scheme, without probes, and its netlist."""
    verilog = generated(name)
    return verilog, map_gates(verilog, TOP, BOXES, read_liberty().text)


@cache
def generated(name: str) -> str:
    """Verilog of a scheme, without probes."""
    return SCHEMES[name].verilog(SCHEMES[name].configuration("tiny", lanes=1), probes=False)


def control(verilog: str) -> list[str]:
    """Modules of a text that are mapped on their own and are no data path, in order of their names."""
    return sorted(
        name
        for name in kept_modules(verilog, TOP, BOXES)
        if not name.endswith(("_lane", ".banks")) and name not in BOXES
    )


def answers(name: str) -> Iterator[Answer]:
    """Prove all control modules of a scheme."""
    verilog, netlist = mapped(name)
    for module in control(verilog):
        cells = len(netlist["modules"][module]["cells"])
        before = _used()
        verdict = answer(name, netlist, module) or PROVEN
        yield Answer(name, module, cells, verdict, _used() - before)


def answer(name: str, netlist: Mapping[str, Any], module: str) -> str:
    """Why a module of this netlist is not proven to be that of a scheme; empty if it is."""
    return unproven(mapped(name)[0], netlist, module, TOP, BOXES, read_liberty().text, SECONDS)


def _used() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(arguments: Sequence[str]) -> int:
    """Prove all schemes and write the page, or prove some and print; 1 if one does not hold."""
    parser = page_parser("netlists", __doc__)
    parser.add_argument("schemes", nargs="*", metavar="SCHEME", help="prove those of these schemes")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.schemes if name not in SCHEMES]:
        parser.error(f"SCHEME must be one of {', '.join(SCHEMES)}, not {unknown[0]}")
    found = written() if options.schemes else {}
    failed = False
    for name in options.schemes or SCHEMES:
        found[name] = []
        for one in answers(name):
            say(f"{one.scheme} {one.module}: {one.verdict}, {one.cells:,} cells, {one.seconds:.1f} s")
            failed = failed or one.verdict != PROVEN
            found[name].append(row(one))
    return write_or_check(options, {PAGE: page(found)}) or int(failed)


Row = tuple[str, ...]


def row(one: Answer) -> Row:
    """The row of a module."""
    return f"`{one.scheme}`", f"`{one.module}`", f"{one.cells:,}", one.verdict, f"{one.seconds:.1f}"


def written() -> dict[str, list[Row]]:
    """The rows of the page as it is, by scheme."""
    found: dict[str, list[Row]] = {}
    for line in PAGE.read_text().splitlines() if PAGE.exists() else ():
        if line.startswith("| `"):
            cells = tuple(cell.strip() for cell in line.strip("|").split("|"))
            found.setdefault(cells[0].strip("`"), []).append(cells)
    return found


def page(found: Mapping[str, Sequence[Row]]) -> str:
    """The page of what was proven, schemes in their order."""
    columns = ("scheme", "module", "cells", "verdict", "s")
    return f"{_INTRODUCTION}\n{table(columns, (cells for name in SCHEMES for cells in found.get(name, ())))}"
