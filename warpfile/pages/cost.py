"""docs/cost.md: what every scheme costs at its own preset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from warpfile.cli.commands.area import Cost, area_facts, measured
from warpfile.output.display import progress
from warpfile.pages.headline import PAGE, section
from warpfile.pages.writing import page_parser, write_or_check
from warpfile.results.claims import DENSE
from warpfile.results.claims import measured as of_claim
from warpfile.results.designs import BASELINE, Design, designs
from warpfile.results.markdown import percent, signed, table
from warpfile.synth.area import ModuleArea
from warpfile.synth.overhead import NAND2_PER_BIT
from warpfile.synth.storage import StructureBits

#: Modules below this share of a scheme's logic are summed up.
SMALL = 0.005


def main(arguments: Sequence[str]) -> int:
    """Measure every scheme, and write the page."""
    parser = page_parser("cost", __doc__)
    parser.add_argument(
        "--delays", type=Path, action="append", default=[], help="cell library for critical paths; needs OpenSTA"
    )
    options = parser.parse_args(arguments)
    wanted = list(costed_designs())
    with progress("cost") as report:
        costs = measured(wanted, None, report, options.delays)
    return write_or_check(options, {PAGE: "\n".join(_page(costs))})


def costed_designs() -> Iterator[Design]:
    """Every scheme: the design that its paper costs, and its own configuration where that is another one."""
    for own in designs(("all",), None, ()):
        scheme, point = own.scheme, own.scheme.point
        if point:
            yield Design(scheme, own.preset, scheme.configuration(own.preset, **point), point)
        yield own


def _own(design: Design) -> bool:
    return not design.changes


def _name(one: Cost) -> str:
    return " ".join((one.design.scheme.name, *(f"{name}={value}" for name, value in one.design.changes.items())))


def _page(costs: Sequence[Cost]) -> Iterator[str]:
    libraries = list(costs[0].paths)
    command = " ".join(("python -m warpfile.pages cost", *(f"--delays {name}" for name in libraries)))
    yield "# What the schemes cost\n"
    yield f"Written by `{command}`. [area.md](area.md) describes the method."
    yield f"{costs[0].report.tool}, library {costs[0].report.liberty}. The rows are every scheme at its own preset,"
    yield "32 lanes; if its paper costs a design with other fields, that design comes first.\n"
    yield section(area_facts([one for one in costs if _own(one.design)])["schemes"])
    yield "## Cells\n"
    columns = ("scheme", "preset", "cells", "flip-flops", "NAND2 eq.", "memory bits", "levels")
    yield table(columns, map(_sizes, costs))
    yield "[arrays.md](arrays.md) has memories and small arrays as latches and as macros of open PDKs,"
    yield "[fpga.md](fpga.md) the register banks on FPGAs.\n"
    yield "## Over the baseline of the same preset, operands in flip-flops\n"
    columns = ("scheme", "logic", "storage", *(f"total, {name}" for name in NAND2_PER_BIT))
    yield table(columns, (_growth(one) for one in costs if one.design.scheme.name != BASELINE))
    yield "A growth marked ~ is within the noise of the tools. The total is logic, and memory bits at that density.\n"
    for name in libraries:
        yield f"## Critical paths, {name}\n"
        yield "Buffer trees have at most 16 sinks. There are no wires, and the clock is ideal."
        yield "The baseline has the same preset.\n"
        columns = ("scheme", "ns", "baseline, ns", "ratio", "cells", "buffers added", "from", "to")
        yield table(columns, (_path(one, name) for one in costs))
    for one in costs:
        yield from _scheme(one)


def _sizes(one: Cost) -> tuple[object, ...]:
    report = one.report
    sizes = (report.cells, report.flip_flops, round(report.nand2_equivalents), report.memory_bits)
    return (_name(one), one.design.preset, *(f"{size:,}" for size in sizes), report.logic_levels)


def _growth(one: Cost) -> tuple[str, ...]:
    logic = ("~" if one.overhead["noise"] else "") + signed(one.overhead["logic"])
    return (_name(one), logic, *map(signed, (one.overhead["storage"], *one.overhead["total"].values())))


def _path(one: Cost, library: str) -> tuple[object, ...]:
    path, beside, ratio = one.paths[library], one.paths_beside[library], one.longer(library)
    if path.nanoseconds is None:
        return (_name(one), *["-"] * 5, path.reason, "")
    buffers = path.fan_out.buffers if path.fan_out else 0
    over = (f"{beside.nanoseconds:.2f}", f"{ratio:.2f}") if beside.nanoseconds and ratio else ("-", "-")
    ends = (f"`{path.start}`", f"`{path.end}`")
    return (_name(one), f"{path.nanoseconds:.2f}", *over, len(path.cells), buffers, *ends)


def _scheme(one: Cost) -> Iterator[str]:
    report = one.report
    yield f"## `{_name(one)}`\n"
    yield table(("stored", "kind", "bits", "published", "ratio", "why"), map(_stored, report.structures))
    scheme = one.design.scheme
    if scheme.claims and one.design.changes == scheme.point:
        rows = []
        for claim in scheme.claims:
            ours = of_claim(claim, report, one.beside)
            ratio = f"{ours / claim.published:.2f}"
            rows.append((claim.what, f"{claim.published:.2%}", f"{ours:.2%}", ratio, claim.source, claim.why or "-"))
        yield table(("claimed", "paper", "ours", "ratio", "source", "why"), rows)
        yield f"The area of the register file is its bits at {DENSE}.\n"
    columns = ("module", "instances", "NAND2 eq., all", "share", "levels", "over the baseline's")
    yield table(columns, _modules(one))


def _stored(row: StructureBits) -> tuple[object, ...]:
    published = "-" if row.published is None else f"{row.published:,}"
    ratio = "-" if row.ratio is None else f"{row.ratio:.2f}"
    return (row.name, row.kind, f"{row.bits:,}", published, ratio, row.why or "-")


def _modules(one: Cost) -> Iterator[tuple[object, ...]]:
    """The large modules, the schedulers, and the sum of the rest."""
    total = one.report.nand2_equivalents
    shown = [module for module in one.report.modules if _size(module) >= SMALL * total or "scheduler" in module.name]
    for module in sorted(shown, key=_size, reverse=True):
        over = _over(one.overhead["modules"].get(module.name))
        yield (f"`{module.name}`", *_share(module, total), module.logic_levels, over)
    rest = total - sum(map(_size, shown))
    yield ("all others", "-", f"{rest:,.0f}", percent(rest / total), "-", "-")


def _over(growth: Mapping[str, Any] | None) -> str:
    if growth is None or growth["logic"] is None:
        return "-"
    return ("~" if growth["noise"] else "") + signed(growth["logic"])


def _size(module: ModuleArea) -> float:
    return module.nand2_equivalents * module.instances


def _share(module: ModuleArea, total: float) -> tuple[object, ...]:
    return (module.instances, f"{_size(module):,.0f}", percent(_size(module) / total))
