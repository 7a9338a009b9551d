"""``warpfile analyze``: control flow, liveness and hints of a listing."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import click

from warpfile.cli.options import architecture, complete_kernel, json_file
from warpfile.output.difference import Difference
from warpfile.output.display import progress, say, show_table
from warpfile.output.files import write_rows
from warpfile.results.designs import ALL, Choice, chosen
from warpfile.spec.presets import PRESETS
from warpfile.workloads.analysis import analyze_listing
from warpfile.workloads.flowchart import write_flowchart
from warpfile.workloads.inputs import listing_file


@click.command(short_help="Show control flow, live registers and hints of a listing.")
@click.argument("listing", metavar="FILE.sass|KERNEL", shell_complete=complete_kernel)
@click.option("--function", metavar="NAME", help="Analyze this function only. Default: all of them.")
@architecture("The GPU to analyze, if the output of cuobjdump has code for several.")
@click.option("--scheme", metavar="NAME", help="Show the hints of this scheme only. Default: of all.")
@click.option(
    "--preset", metavar="NAME", default="", help="Show the hints for this preset. Default: each scheme's own."
)
@click.option(
    "--dot",
    "picture",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write the control flow as a picture: Graphviz text, or SVG if FILE ends in .svg and dot is installed.",
)
@json_file
def analyze(
    listing: str,
    function: str | None,
    architecture: int | None,
    scheme: str | None,
    preset: str,
    picture: Path | None,
    json_path: Path | None,
) -> None:
    """Show control flow, live registers and the schemes' hints of every function in a listing.

    KERNEL is a bundled kernel or a kernel directory; its listing is analysed. With --json or --dot the result is in the
    file only, and no tables are printed. Code that a scheme cannot execute as listed is reported, for example control
    codes that are too short for modern. If --scheme names that scheme, the report is complete and the exit status 1.

    \b
    Example: warpfile analyze kernels/saxpy/kernel.sass --json saxpy.json
    Example: warpfile analyze collatz --dot collatz.svg
    Example: warpfile analyze mine.sass --scheme modern --preset ampere
    """
    if preset and preset not in PRESETS:
        raise click.UsageError(f"--preset must be one of {', '.join(PRESETS)}, not {preset!r}")
    asked = Choice() if scheme else chosen([ALL], preset or None, ())
    schemes = [scheme] if scheme else [one.scheme.name for one in asked.designs]
    with progress("analyze") as report:
        facts = analyze_listing(listing_file(listing), function, report, schemes, preset, architecture=architecture)
    asked.report_left_out()
    if picture:
        write_flowchart(picture, facts["functions"])
    if json_path:
        write_rows(json_path, facts | {"left_out": asked.left_out})
    for warning in facts["warnings"]:
        say(f"warning: {warning}")
    for one in facts["functions"]:
        _show_sums(one)
        if not json_path and not picture:
            _show_tables(one)
        _show_problems(one, in_full=bool(scheme))
    wrong = sum(len(lines) for one in facts["functions"] for lines in one["problems"].values())
    if scheme and wrong:
        raise Difference(f"{scheme} cannot execute {listing} as it is: {wrong} operands come too early")


def _show_problems(function: dict[str, Any], in_full: bool) -> None:
    for scheme, lines in function["problems"].items():
        for line in lines if in_full else lines[:1]:
            say(f"{scheme}: {function['name']}: {line}")
        if not in_full and len(lines) > 1:
            say(f"{scheme}: and {len(lines) - 1} more, with --scheme {scheme}")


def _show_sums(function: dict[str, Any]) -> None:
    live = max((len(row["live_in"]) for row in function["instructions"]), default=0)
    count = len(function["instructions"])
    say(f"{function['name']}: {count} instructions, {len(function['blocks'])} blocks, at most {live} live registers")
    uniform = sum(branch["uniform"] for branch in function["branches"])
    say(f"{len(function['loops'])} loops, {uniform} of {len(function['branches'])} branches proven warp-uniform")


def _show_tables(function: dict[str, Any]) -> None:
    successors: dict[int, list[str]] = {}
    for source, target in function["edges"]:
        successors.setdefault(source, []).append(f"{target:#06x}")
    blocks = [
        (f"{block['start']:#06x}", f"{block['end']:#06x}", ", ".join(successors.get(block["start"], [])))
        for block in function["blocks"]
    ]
    show_table(("block", "end", "goes to"), blocks)
    hints = {
        f"{scheme} {name}": values
        for scheme, found in function["hints"].items()
        for name, values in found.items()
        if name != "for"
    }
    for scheme, found in function["hints"].items():
        if found:
            say(f"hints of {scheme} hold for {found['for']}")
    rows = [
        (
            f"{row['offset']:#06x}",
            row["opcode"],
            *(_registers(tuple(row[key])) for key in ("defs", "uses", "live_in")),
            *(_hint(values.get(row["offset"])) for values in hints.values()),
        )
        for row in function["instructions"]
    ]
    show_table(("offset", "opcode", "defines", "uses", "live before", *hints), rows)


def _hint(value: object) -> str:
    return "" if value is None else str(value)


@lru_cache
def _registers(numbers: tuple[int, ...]) -> str:
    """Registers as ranges, for example ``R0-R3 R7``."""
    parts: list[str] = []
    for index, number in enumerate(numbers):
        if index and number == numbers[index - 1] + 1:
            parts[-1] = f"{parts[-1].partition('-')[0]}-R{number}"
        else:
            parts.append(f"R{number}")
    return " ".join(parts)
