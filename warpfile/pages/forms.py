"""docs/forms.md: arrays of operands in flip-flops, latches and memories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from warpfile.cli.commands.area import Cost, measured
from warpfile.output.display import progress
from warpfile.pages.writing import DOCS, page_parser, write_or_check
from warpfile.results.claims import DENSE
from warpfile.results.claims import measured as of_claim
from warpfile.results.designs import Design, designs
from warpfile.results.markdown import signed, table
from warpfile.spec.structure import FORMS, LATCHES
from warpfile.synth.area import AreaReport
from warpfile.synth.liberty import read_liberty
from warpfile.synth.overhead import NAND2_PER_BIT

PAGE = DOCS / "forms.md"
LANE = "_lane"  #: with which the names of modules end that have data of one lane
CLAIMED = "area over the baseline"  #: the measure of the claims that are compared


@dataclass(frozen=True)
class Division:
    """NAND2 equivalents of a machine: what stores data of lanes, the rest of the lanes, and everything else."""

    stored: float
    network: float
    control: float


def main(arguments: Sequence[str]) -> int:
    """Synthesise every scheme with such arrays in all forms, and write the page."""
    options = page_parser("forms", __doc__).parse_args(arguments)
    with progress("forms") as report:
        costs = measured(
            [with_storage(one, form) for one in costed_designs() if one.config.operand_arrays for form in FORMS],
            None,
            report,
        )
    return write_or_check(options, {PAGE: "\n".join(page(costs))})


def costed_designs() -> Iterator[Design]:
    """Every scheme: the design that its paper costs, and its own configuration where that is another one."""
    for own in designs(("all",), None, ()):
        scheme, point = own.scheme, own.scheme.point
        if point:
            yield Design(scheme, own.preset, scheme.configuration(own.preset, **point), point)
        yield own


def with_storage(design: Design, form: str) -> Design:
    """A design with its arrays in some form."""
    changes = {**design.changes, "storage": form}
    return Design(design.scheme, design.preset, design.scheme.configuration(design.preset, **changes), changes)


def divided(report: AreaReport) -> Division:
    """Where the logic of a machine goes, by the names of its modules."""
    flip_flop = min(cell.area for cell in read_liberty().cells.values() if cell.flip_flop)
    stored = network = control = 0.0
    for one in report.modules:
        size = one.nand2_equivalents * one.instances
        bits = one.flip_flops * one.instances * flip_flop if one.name.endswith(LANE) else 0.0
        stored += size if one.name == LATCHES else bits
        network += size - bits if one.name.endswith(LANE) else 0.0
        control += 0.0 if one.name == LATCHES or one.name.endswith(LANE) else size
    return Division(stored, network, control)


def page(costs: Sequence[Cost]) -> Iterator[str]:
    """The tables of designs that come in the order of the forms."""
    yield "# Arrays of operands in three forms\n"
    yield "Written by `python -m warpfile.pages forms`. [area.md](area.md#arrays-of-operands) has the forms."
    yield f"{costs[0].report.tool}, library {costs[0].report.liberty}. The rows are every scheme with such arrays at"
    yield "its own preset, 32 lanes; if its paper costs another design, that design comes first. Ports are those of one"
    yield "lane of one array. Rows are words of 32 bits. All ports can be used in the same cycle.\n"
    yield "## NAND2 equivalents\n"
    yield "* Stored: flip-flops and latches of the lanes, including those of the collectors' operands."
    yield "* Network: the rest of the lanes."
    yield "* Control: all other modules.\n"
    columns = ("scheme", "form", "arrays", "rows", "ports", "stored", "network", "control", "memory bits")
    totals = tuple(f"total, {name}" for name in NAND2_PER_BIT)
    yield table((*columns, "logic over the baseline", *totals), map(_row, costs))
    yield "A multi-port memory is larger than a single-port memory by about the square of its number of ports. The"
    yield "densities do not include this factor, so the totals of memories are lower bounds.\n"
    yield f"## What the papers claim\n\nThe area of the register file is its bits at {DENSE}.\n"
    yield table(("scheme", "claimed", "paper", *FORMS), _claims(costs))


def _name(changes: Mapping[str, object], scheme: str) -> str:
    return " ".join((scheme, *(f"{name}={value}" for name, value in changes.items() if name != "storage")))


def _row(one: Cost) -> tuple[str, ...]:
    cfg, found = one.design.config, divided(one.report)
    arrays = cfg.operand_arrays
    shape = (
        " + ".join(f"{array.instances}" for array in arrays),
        " + ".join(f"{array.rows}" for array in arrays),
        " + ".join(f"{array.reads}R{array.writes}W" for array in arrays),
    )
    sizes = (f"{size:,.0f}" for size in (found.stored, found.network, found.control))
    growth = (one.overhead["logic"], *one.overhead["total"].values())
    name = _name(one.design.changes, one.design.scheme.name)
    return (name, cfg.storage, *shape, *sizes, f"{one.report.memory_bits:,}", *map(signed, growth))


def _claims(costs: Sequence[Cost]) -> Iterator[tuple[str, ...]]:
    groups = (costs[at : at + len(FORMS)] for at in range(0, len(costs), len(FORMS)))
    for group in groups:
        design = group[0].design
        for claim in design.scheme.claims:
            if claim.measure == CLAIMED and set(design.changes) - {"storage"} == set(design.scheme.point):
                ours = (f"{of_claim(claim, one.report, one.beside):.2%}" for one in group)
                yield (_name(design.changes, design.scheme.name), claim.what, f"{claim.published:.2%}", *ours)
