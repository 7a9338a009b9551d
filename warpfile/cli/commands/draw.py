"""``warpfile draw``: block diagrams of schemes."""

from __future__ import annotations

from pathlib import Path

import click

from warpfile import tools
from warpfile.cli.options import MachineOptions, configured, scheme_argument
from warpfile.output.display import Report, progress, say
from warpfile.output.files import write_files
from warpfile.results.designs import Design
from warpfile.results.syntheses import areas, machine
from warpfile.schemes import TOP
from warpfile.verilog.drawing import Sizes, graph
from warpfile.verilog.generate import design
from warpfile.workloads.flowchart import DOT, svg


@click.command(short_help="Draw the block diagram of a scheme.")
@scheme_argument
@configured
@click.option(
    "--levels",
    type=click.IntRange(1, 4),
    default=2,
    show_default=True,
    help="Show modules down to this level; deeper modules are counted in the box that contains them.",
)
@click.option(
    "--area/--no-area",
    "by_area",
    default=True,
    help="Shade boxes by gates from synthesis (cached in build/area), or by flip-flops without synthesis.",
)
@click.option(
    "-o",
    "--output",
    "path",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Output file: SVG, or Graphviz text if FILE ends in .dot. Default: SCHEME.svg.",
)
def draw(
    scheme: str,
    machine_options: MachineOptions,
    levels: int,
    by_area: bool,
    path: Path | None,
) -> None:
    """Draw the block diagram of a scheme from its generated Verilog: modules, memories, and what connects them.

    A box is a module with its number of instances. An arrow is a connection with its width; a thick arrow has 64 bits
    or more. Darker boxes have a larger share of the gates. Orange modules are those that the baseline does not have.
    SVG needs Graphviz. The tooltip of an arrow lists all its signals.

    \b
    Example: warpfile draw bow --preset tiny
    Example: warpfile draw ltrf --set lanes=4 --levels 3 --no-area -o ltrf.dot
    """
    (wanted,) = machine_options.chosen([scheme]).designs
    path = path or Path(f"{wanted.scheme.name}.svg")
    if path.suffix not in (".svg", ".dot"):
        raise click.BadParameter(f"must end in .svg or .dot, not {path.name!r}", param_hint="--output")
    if path.suffix == ".svg" and tools.find(DOT) is None:
        raise click.UsageError(f"{tools.missing(DOT)}, or give -o {path.stem}.dot")
    with progress("draw") as report:
        text = picture(wanted, levels, by_area, report)
    write_files({path: svg(text) if path.suffix == ".svg" else text})
    say(str(path))


def picture(wanted: Design, levels: int, by_area: bool, report: Report) -> str:
    """The diagram as Graphviz text."""
    from warpfile.verilog.blocks import diagram, modules

    report(f"Verilog of {wanted.scheme.name}")
    found = diagram(modules(design(wanted.scheme, wanted.config)[1]), TOP, levels)
    report("Verilog of the baseline")
    beside = modules(design(wanted.baseline.scheme, wanted.baseline.config)[1])
    counted = None
    if by_area:
        modules_of = areas([wanted], None, report)[machine(wanted)].modules
        counted = {one.name: one.nand2_equivalents for one in modules_of}
    title = f"{wanted.scheme.name}, preset {wanted.preset}, {wanted.config.lanes} lanes"
    return graph(found, Sizes(counted, frozenset(beside)), title)
