"""``warpfile profile``: which instruction costs what."""

from __future__ import annotations

from pathlib import Path

import click

from warpfile.cli.options import LaunchOptions, MachineOptions, configured, json_file, kernel_argument, scheme_argument
from warpfile.output.display import progress, say_notes
from warpfile.results.designs import ALL

_FILE = click.Path(path_type=Path)


@click.command(short_help="Show the cost of each instruction of a kernel.")
@scheme_argument
@kernel_argument
@configured
@click.option(
    "--top", type=click.IntRange(min=0), metavar="N", default=10, show_default=True, help="Show N instructions; 0: all."
)
@click.option(
    "--sort",
    metavar="COLUMN",
    default="cycles",
    show_default=True,
    help="Select these N by the largest values of a column.",
)
@click.option("--listing", is_flag=True, help="Show all instructions in the order of the listing.")
@click.option("--csv", "csv_path", metavar="FILE", type=_FILE, help="Write all columns of all instructions.")
@click.option("--html", "html_path", metavar="FILE", type=_FILE, help="Write the listing with bars, as one HTML page.")
@click.option(
    "--trace-events", "chrome_path", metavar="FILE", type=_FILE, help="Write every beat and wait, for Perfetto."
)
@click.option("--konata", "kanata_path", metavar="FILE", type=_FILE, help="Write every beat, for Konata.")
@json_file
def profile(
    scheme: str,
    kernel: str,
    machine_options: MachineOptions,
    launch_options: LaunchOptions,
    top: int,
    sort: str,
    listing: bool,
    csv_path: Path | None,
    html_path: Path | None,
    chrome_path: Path | None,
    kanata_path: Path | None,
    json_path: Path | None,
) -> None:
    """Show the cost of each instruction in a run of the golden model.

    KERNEL is a bundled kernel, a kernel directory or a trace file. Columns are issued beats, lost issue slots,
    waits by reason, bank conflicts, sources of operands, and cycles to dispatch and to the last result
    (docs/profile.md).

    \b
    Example: warpfile profile baseline bitonic_sort --top 5
    Example: warpfile profile bow_wr spmv --sort bank_conflicts --html spmv.html
    Example: warpfile profile malekeh bitonic_sort --trace-events sort.json
    """
    # Here: it would be a quarter of what every command takes to start.
    from warpfile.results.profiles.output import Files, check_column, write_profile
    from warpfile.results.profiles.terminal import show, show_listing

    if scheme == ALL:
        raise click.UsageError(f"SCHEME must be one scheme, not {ALL}")
    (design,) = machine_options.chosen([scheme]).designs
    check_column(design, sort)
    files = Files(csv_path, json_path, html_path, chrome_path, kanata_path)
    with progress("profile") as report:
        found = write_profile(design, lambda: launch_options.trace(kernel, report), report, files)
    if listing:
        show_listing(found)
    else:
        show(found, found.sorted_by(sort, top), sort)
    say_notes([(found.run.scheme, found.run.notes)])
