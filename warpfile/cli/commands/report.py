"""``warpfile report``: a study as one page with charts."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from warpfile.cli.options import json_file
from warpfile.output.display import progress, say
from warpfile.output.files import write_files, write_json

if TYPE_CHECKING:
    from warpfile.results.reports.chart import Chart

_NEEDED = ("plotly", "pyarrow")
_STUDIES = Path("build") / "study"


@click.command(short_help="Turn a study into one HTML page of charts.")
@click.argument("folder", metavar="STUDY", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="Output file. Default: STUDY/report.html."
)
@click.option("--svg", metavar="DIR", type=click.Path(path_type=Path), help="Write all charts as SVG, with Chromium.")
@click.option(
    "--latex",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write the table of machines as LaTeX for booktabs.",
)
@click.option(
    "--pivot",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write CSV with one row per measure and kernel, and one column per machine.",
)
@json_file
def report(
    folder: Path,
    output: Path | None,
    svg: Path | None,
    latex: Path | None,
    pivot: Path | None,
    json_path: Path | None,
) -> None:
    """Turn a study into one self-contained HTML page of charts.

    STUDY is the folder that `warpfile study` wrote, or the name of one in build/study. The page has IPC, accesses, hit
    ratios, energy, area and critical path of every machine, by kernel and as means, with intervals over seeds. It also
    has cost against benefit with the Pareto front, sweeps, a cycle breakdown, area by module, and the pipeline of the
    watched cycles. A machine that the study did not synthesise gets the stored figures of its scheme, marked.

    \b
    Example: warpfile report schemes
    Example: warpfile report build/study/window -o window.html --json window.json
    Example: warpfile report schemes --svg figures
    Example: warpfile report schemes --latex schemes.tex --pivot schemes.csv
    """
    if missing := [name for name in _NEEDED if find_spec(name) is None]:
        raise click.ClickException(f"report needs {' and '.join(missing)}: pip install 'warpfile[report]'")
    named = _STUDIES / folder
    with progress("report") as tell:
        tell("page")
        place = named if _is_study(named) and not _is_study(folder) else folder
        found, line = _page(place, output, json_path, latex, pivot)
    say(line)
    if svg:
        _pictures(found, svg)


def _is_study(folder: Path) -> bool:
    from warpfile.results.reports.source import RESULTS

    return (folder / RESULTS).is_file()


def _page(
    folder: Path, output: Path | None, json_path: Path | None, latex: Path | None, pivot: Path | None
) -> tuple[list[Chart], str]:
    """Write the page, and its facts if they are asked for; returns the charts, and what was written."""
    from warpfile.results.reports import exports
    from warpfile.results.reports.charts import charts
    from warpfile.results.reports.facts import as_json, facts_of
    from warpfile.results.reports.page import page
    from warpfile.results.reports.source import read_study
    from warpfile.results.reports.tradeoff import fronts

    study = read_study(folder)
    facts = facts_of(study)
    found = charts(study, facts)
    output = output or folder / "report.html"
    texts = {output: page(study, facts, found)}
    if latex:
        texts[latex] = exports.latex(study, facts)
    if pivot:
        texts[pivot] = exports.pivot(study)
    write_files(texts)
    if json_path:
        known = {machine: one.cost for machine, one in facts.items() if one.cost}
        write_json(json_path, as_json(study, facts, fronts(study, known)))
    return found, f"{len(found)} charts of {len(study.machines)} machines: {output}"


def _pictures(found: Sequence[Chart], folder: Path) -> None:
    from warpfile.results.reports.svg import pictures

    with progress("report") as tell:
        written = pictures(found, tell)
    write_files({folder / name: text for name, text in written.items()})
    say(f"{len(written)} pictures: {folder}")
