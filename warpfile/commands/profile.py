"""``warpfile profile``: which instruction costs what."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TextIO

import click

from warpfile.display import progress, say_notes
from warpfile.inputs import obtain_trace
from warpfile.options import ALL, Design, configured, designs, json_file, kernel_argument, scheme_argument
from warpfile.outputs import json_text, write_files
from warpfile.profiles import Profile, profiled
from warpfile.profiles.events import ChromeTrace, KanataLog
from warpfile.profiles.flights import Listener
from warpfile.profiles.page import page
from warpfile.profiles.profile import all_columns
from warpfile.profiles.profiling import operand_columns
from warpfile.profiles.shown import show, show_listing
from warpfile.spec.writing import whole

_FILE = click.Path(path_type=Path)


@click.command()
@scheme_argument
@kernel_argument
@configured
@click.option(
    "--top", type=click.IntRange(min=0), metavar="N", default=10, show_default=True, help="Show N instructions; 0: all."
)
@click.option(
    "--sort", metavar="COLUMN", default="cycles", show_default=True, help="Of these, those with the most of a column."
)
@click.option("--listing", is_flag=True, help="Show all instructions in the order of the listing.")
@click.option("--csv", "csv_path", metavar="FILE", type=_FILE, help="Write all columns of all instructions.")
@click.option("--html", "html_path", metavar="FILE", type=_FILE, help="Write the listing beside bars, as one page.")
@click.option(
    "--trace-events", "chrome_path", metavar="FILE", type=_FILE, help="Write every beat and wait, for Perfetto."
)
@click.option("--konata", "kanata_path", metavar="FILE", type=_FILE, help="Write every beat, for Konata.")
@json_file
def profile(
    scheme: str,
    kernel: str,
    preset: str | None,
    changes: tuple[str, ...],
    parts: tuple[str, ...],
    setting: str,
    instruction_limit: int | None,
    top: int,
    sort: str,
    listing: bool,
    csv_path: Path | None,
    html_path: Path | None,
    chrome_path: Path | None,
    kanata_path: Path | None,
    json_path: Path | None,
) -> None:
    """Say which instruction costs what: a golden run, charged instruction by instruction.

    KERNEL is a bundled kernel, a kernel directory or a trace file. Columns are issued beats, issue slots that are
    lost, what warps wait for, bank conflicts, where operands come from, and cycles to dispatch and to the last result
    (docs/profile.md).

    \b
    Example: warpfile profile baseline bitonic_sort --top 5
    Example: warpfile profile bow_wr spmv --sort bank_conflicts --html spmv.html
    Example: warpfile profile malekeh bitonic_sort --trace-events sort.json
    """
    (design,) = _designs(scheme, preset, changes, parts)
    columns = all_columns(operand_columns(design))
    if sort not in columns:
        raise click.UsageError(f"--sort must be one of {', '.join(columns)}, not {sort!r}")
    events = {path: kind for path, kind in ((chrome_path, ChromeTrace), (kanata_path, KanataLog)) if path}
    with progress("profile") as report, _written(design, kernel, events) as listeners:
        trace = obtain_trace(kernel, setting, instruction_limit, report)
        found = profiled(design, trace, report, listeners)
    texts = {json_path: _json, csv_path: _csv, html_path: page}
    write_files({path: text(found) for path, text in texts.items() if path})
    if listing:
        show_listing(found)
    else:
        show(found, found.sorted_by(sort, top), sort)
    say_notes([(found.run.scheme, found.run.notes)])


def _designs(scheme: str, preset: str | None, changes: tuple[str, ...], parts: tuple[str, ...]) -> list[Design]:
    if scheme == ALL:
        raise click.UsageError(f"SCHEME must be one scheme, not {ALL}")
    return designs([scheme], preset, changes, parts)


@contextmanager
def _written(
    design: Design, kernel: str, events: Mapping[Path, type[ChromeTrace] | type[KanataLog]]
) -> Iterator[list[Listener]]:
    """Listeners that write their files while the run goes on; the files have their names when all is done."""
    name = f"{design.scheme.name} {design.preset} {Path(kernel).name}"
    with ExitStack() as opened:
        streams: dict[Path, TextIO] = {}
        for path in events:
            if path.is_dir():
                raise IsADirectoryError(f"{path} must be a file, not a directory")
            partial = opened.enter_context(whole(path))
            streams[path] = opened.enter_context(partial.open("w", encoding="utf-8"))
        yield [kind(streams[path], name) for path, kind in events.items()]


def _json(found: Profile) -> str:
    return json_text(found.to_json())


def _csv(found: Profile) -> str:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(found.rows())
    return stream.getvalue()
