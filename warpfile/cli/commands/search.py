"""``warpfile search``: all combinations of parts that fit, in several sizes, and which of them are worth a look."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warpfile.cli.commands.study import cluster
from warpfile.cli.options import json_file
from warpfile.output.difference import Difference
from warpfile.output.display import progress, say
from warpfile.output.files import check_folder, file_name, write_files, write_json

if TYPE_CHECKING:
    from warpfile.results.searches.figures import Figures
    from warpfile.results.searches.search import Findings

_OUTPUT = Path("build") / "search"


@click.command(short_help="Search all combinations of parts that fit one machine.")
@click.argument("path", metavar="SEARCH.toml", type=click.Path(path_type=Path))
@click.option(
    "-j", "--jobs", type=click.IntRange(min=1), metavar="N", help="Number of processes. Default: one per processor."
)
@click.option(
    "--delays", metavar="FILE", help="Cell library for the critical paths of what is at the front, with OpenSTA."
)
@click.option("--scheduler", metavar="ADDRESS", help="Dask scheduler of your own cluster, for example tcp://host:8786.")
@click.option("--dry-run", is_flag=True, help="List the machines and exit.")
@click.option(
    "-o", "--output", metavar="DIR", type=click.Path(path_type=Path), help="Output folder. Default: build/search/NAME."
)
@json_file
def search(
    path: Path,
    jobs: int | None,
    delays: str | None,
    scheduler: str | None,
    dry_run: bool,
    output: Path | None,
    json_path: Path | None,
) -> None:
    """Search all combinations of parts that fit one machine, in several sizes.

    Golden models run first. Areas are estimated from synthesised machines. Machines that may be at the front of area
    and IPC, or of area and energy, are synthesised and run in lockstep. The results are search.md, and candidates.csv
    and .parquet with every machine. Every point is cached: the same command continues where it was interrupted
    (docs/search.md).

    \b
    Example: warpfile search examples/study/search.toml --delays osu018_stdcells.lib
    Example: warpfile search examples/study/search.toml --dry-run
    """
    from warpfile.results.searches.plan import search_plan
    from warpfile.results.searches.report import report
    from warpfile.results.searches.search import searched
    from warpfile.results.studies.plan import read_study

    given = {"delays": str(Path(delays).resolve())} if delays else {}
    asked = search_plan({**read_study(path), **given}, path.parent, str(path))
    if dry_run:
        for one in asked.candidates:
            say(f"{one.kind}: {one.name} ({', '.join(part.name for part in one.parts)})")
    say(f"{len(asked.candidates):,} machines, {len(asked.candidates) * len(asked.kernels):,} golden runs at first.")
    if dry_run:
        return
    folder = output or _OUTPUT / file_name(asked.name)
    check_folder(folder)
    with progress("search") as tell:
        found = searched(asked, cluster(jobs, scheduler), tell)
    text = report(found)
    _write(found, text, folder, json_path)
    say(text)
    say(f"These findings: {folder / 'search.md'}; all {len(found.figures):,} machines: {folder / 'candidates.csv'}")
    _judge(found)


def _write(found: Findings, text: str, folder: Path, json_path: Path | None) -> None:
    from warpfile.results.studies.table import write_table

    folder.mkdir(parents=True, exist_ok=True)
    write_files({folder / "search.md": text})
    write_table([_row(one, found) for one in found.figures.values()], folder / "candidates")
    if json_path:
        write_json(json_path, _facts(found))


def _row(one: Figures, found: Findings) -> dict[str, Any]:
    """A machine at the first seed."""
    return {
        "machine": one.name,
        "kind": one.kind,
        "ipc_growth": one.ipc.mean,
        "energy_growth": one.energy.mean if one.energy else None,
        "area_growth": one.area,
        "synthesised": one.measured,
        "at_front": one.name in found.front,
    }


def _facts(found: Findings) -> dict[str, Any]:
    """The facts of ``--json``."""
    from warpfile.results.searches.figures import verdict

    judged = verdict(found.finalists.values(), found.search.baseline.name)
    errors: Mapping[str, float] = found.errors.by_name
    return {
        "search": found.search.name,
        "machines": [_row(one, found) for one in found.figures.values()],
        "front": list(found.front),
        "better_everywhere": list(judged.everywhere),
        "records": {what: list(one.names) for what, one in judged.combinations.items()},
        "resized_records": {what: list(one.names) for what, one in judged.resized.items()},
        "paths": {name: one.path for name, one in found.finalists.items() if one.path},
        "errors": {name: round(error, 5) for name, error in errors.items()},
        "left": dict(found.left),
    }


def _judge(found: Findings) -> None:
    """Raises :class:`Difference` where the findings are not to be believed."""
    from warpfile.results.studies.tasks import OK

    if (median := found.errors.median) > (most := found.search.most_error):
        raise Difference(f"areas are off by {median:.1%} in the median, and must not be by more than {most:.1%}")
    wrong = {name: run.error for name, runs in found.lockstep.items() for run in runs if run.status != OK}
    if wrong:
        name, error = next(iter(wrong.items()))
        raise Difference(f"{len(wrong)} machines at the front failed in lockstep; the first, {name}: {error}")
