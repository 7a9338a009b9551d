"""``warpfile study``: kernels times machines times seeds, in parallel, with the results in one table."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warpfile.cli.options import json_file
from warpfile.output.difference import Difference
from warpfile.output.display import progress, say, say_differences, say_wrapped, show_table
from warpfile.output.files import check_folder, file_name, write_json

if TYPE_CHECKING:
    from distributed import Client

    from warpfile.results.studies.plan import Plan
    from warpfile.results.studies.table import Results, Row

_NEEDED = ("distributed", "pyarrow")
_OUTPUT = Path("build") / "study"


@click.command(name="study", short_help="Run kernels on many machines and seeds, in parallel.")
@click.argument("path", metavar="[STUDY.toml]", required=False, type=click.Path(path_type=Path))
@click.option("--kernel", "kernels", metavar="KERNEL", multiple=True, help="Name, directory, trace, glob, or all.")
@click.option("--setting", "settings", metavar="NAME", multiple=True, help="Launch file: launch (default) or large.")
@click.option("--scheme", "schemes", metavar="SCHEME", multiple=True, help="Scheme, SCHEME+PART, or all.")
@click.option(
    "--part", "parts", metavar="PART", multiple=True, help="Use this part in every --scheme instead of its own."
)
@click.option("--preset", "presets", metavar="NAME", multiple=True, help="Default: each scheme's own.")
@click.option("--set", "changes", metavar="FIELD=A,B,...", multiple=True, help="Values of a field; all combinations.")
@click.option("--seeds", metavar="N,N,...", help="Cycles added to the latency of misses. Default: 0.")
@click.option("--golden", is_flag=True, help="Run golden models; this is the default.")
@click.option("--lockstep", is_flag=True, help="Compare RTL and golden model in every cycle.")
@click.option("--area", is_flag=True, help="Synthesise the machines.")
@click.option("--liberty", metavar="FILE", help="Cell library for areas in um2, and for critical paths with OpenSTA.")
@click.option("--delays", metavar="FILE", help="Cell library for critical paths only; areas do not change.")
@click.option("--pipeline", metavar="FIRST:LAST", help="Watch every beat in these cycles, for `warpfile report`.")
@click.option("--prices", metavar="NAME", help="Prices of all energies (docs/energy.md): cacti (default) or a paper's.")
@click.option(
    "-j", "--jobs", type=click.IntRange(min=1), metavar="N", help="Number of processes. Default: one per processor."
)
@click.option("--scheduler", metavar="ADDRESS", help="Dask scheduler of your own cluster, for example tcp://host:8786.")
@click.option("--fresh", is_flag=True, help="Ignore all cached results and run everything.")
@click.option("--dry-run", is_flag=True, help="List the points and exit.")
@click.option(
    "-o", "--output", metavar="DIR", type=click.Path(path_type=Path), help="Output folder. Default: build/study/NAME."
)
@json_file
def study(
    path: Path | None,
    jobs: int | None,
    scheduler: str | None,
    fresh: bool,
    dry_run: bool,
    output: Path | None,
    json_path: Path | None,
    **asked: Any,
) -> None:
    """Run kernels on machines at several seeds: golden models, lockstep and synthesis, in parallel.

    Every machine is compared with the baseline at the same preset. The results are results.parquet and results.csv, a
    row per point with all parameters, and junit.xml for lockstep. Every point is cached: the same command continues
    where it was interrupted. Options replace the settings of STUDY.toml (docs/study.md).

    \b
    Example: warpfile study examples/study/schemes.toml -j 4
    Example: warpfile study --kernel spmv --scheme bow --scheme bow_wr --set window=2,3,4 --seeds -4,-2,0,2,4
    Example: warpfile study --kernel 'matmul*' --scheme all --preset turing --lockstep --area --dry-run
    Example: warpfile study examples/study/window.toml --scheduler tcp://10.0.0.1:8786
    """
    plan = _plan(path, asked)
    if dry_run:
        _list(plan)
        return
    folder = output or _OUTPUT / file_name(plan.name)
    check_folder(folder)
    results = _run(plan, cluster(jobs, scheduler), fresh)
    rows = results.rows
    _write(results, rows, folder, json_path)
    _judge(rows)


def _plan(path: Path | None, asked: dict[str, Any]) -> Plan:
    """What file and options ask for; kernels of the file are seen from its folder."""
    from warpfile.results.studies.plan import read_study, study_plan

    given = _given(**asked)
    table: dict[str, Any] = {**(read_study(path) if path else {}), **given}
    if "machines" not in table and not path:
        raise click.UsageError("SCHEME must be given: a study file, or --scheme NAME")
    base = path.parent if path and "kernels" not in given else Path()
    return study_plan(table, base, str(path) if path else "study")


def _given(
    schemes: Sequence[str], parts: Sequence[str], presets: Sequence[str], changes: Sequence[str], **rest: Any
) -> dict[str, Any]:
    """The table that options stand for. Raises usage errors."""
    group = {"schemes": list(schemes), "parts": list(parts), "presets": list(presets), "set": _swept(changes)}
    group = {name: value for name, value in group.items() if value}
    if group and not schemes:
        raise click.UsageError(f"--scheme must be given with --{next(iter(group)).removesuffix('s')}")
    rest["seeds"] = _numbers(rest["seeds"]) if rest["seeds"] else None
    rest |= {name: str(Path(rest[name]).resolve()) for name in ("liberty", "delays") if rest[name]}
    rest["pipeline"] = {"cycles": _window(rest["pipeline"])} if rest["pipeline"] else None
    table = {name: list(value) if isinstance(value, tuple) else value for name, value in rest.items() if value}
    return table | ({"machines": [group]} if group else {})


def _swept(changes: Sequence[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for change in changes:
        name, equals, values = change.partition("=")
        if not equals:
            raise click.UsageError(f"--set must be FIELD=A,B,..., not {change!r}")
        found.setdefault(name.strip(), []).extend(value.strip() for value in values.split(","))
    return found


def _numbers(text: str) -> list[int]:
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise click.UsageError(f"--seeds must be whole numbers with commas between them, not {text!r}") from None


def _window(text: str) -> list[int]:
    try:
        first, last = map(int, text.split(":"))
    except ValueError:
        raise click.UsageError(f"--pipeline must be FIRST:LAST, two cycles, not {text!r}") from None
    return [first, last]


def _list(plan: Plan) -> None:
    """Every point, and how much there is to run for them."""
    from collections import Counter

    columns = ("kernel", "setting", "scheme", "preset", "changes", "seed", "refused")
    rows = []
    for case in plan.cases:
        kernel = (case.kernel.name, case.kernel.setting) if case.kernel else ("-", "-")
        machine = case.machine
        rows.append((*kernel, machine.scheme.name, machine.preset, machine.changed, case.seed, machine.refused or "-"))
    show_table(columns, rows)
    counts = Counter(task.kind for task in plan.tasks)
    work = ", ".join(f"{count:,} {kind}" for kind, count in counts.items())
    say(f"{len(plan.cases):,} points; with their baselines: {work or 'nothing to run'}.")


def cluster(jobs: int | None, scheduler: str | None) -> Callable[[], Iterator[Client]]:
    """Where tasks run: processes of this machine, or a Dask cluster. Raises usage errors."""
    from warpfile.results.studies.execution import local, remote

    if missing := [name for name in _NEEDED if find_spec(name) is None]:
        raise click.ClickException(f"study needs {' and '.join(missing)}: pip install 'warpfile[study]'")
    if scheduler is None:
        return partial(local, jobs or os.cpu_count() or 1)
    if jobs:
        raise click.UsageError("-j must go without --scheduler: the cluster has its own workers")
    if ":" not in scheduler:
        raise click.UsageError(
            "--scheduler must be the address of a Dask scheduler, like tcp://host:8786, or --part for one of the"
            f" machine, not {scheduler!r}"
        )
    return partial(remote, scheduler)


def _run(plan: Plan, connected: Callable[[], Iterator[Client]], fresh: bool) -> Results:
    from warpfile.results.studies.execution import outcomes
    from warpfile.results.studies.table import Results

    try:
        with progress("study") as report:
            return Results(plan, outcomes(plan.tasks, connected, report, fresh=fresh))
    except KeyboardInterrupt:
        print("warpfile: finished points are cached: the same command continues from there", file=sys.stderr)
        raise


def _write(results: Results, rows: Sequence[Row], folder: Path, json_path: Path | None) -> None:
    """Write all files of a study, and print its table."""
    from warpfile.results.studies.junit import write_junit
    from warpfile.results.studies.means import means
    from warpfile.results.studies.provenance import provenance
    from warpfile.results.studies.tasks import LOCKSTEP

    found = list(means(rows))
    tables = {"points": ("results", rows), "means": ("means", found), "modules": ("modules", results.modules)}
    tables |= {"beats in the pipeline log": ("pipeline_log", results.pipeline_log)}
    written = [(f"{len(some):,} {what}", _table(some, folder / name)) for what, (name, some) in tables.items()]
    write_json(folder / "study.json", provenance(results.plan))
    if LOCKSTEP in results.plan.kinds:
        written.append((f"{len(rows):,} points", [folder / "junit.xml"]))
        write_junit(results, folder / "junit.xml")
    if json_path:
        write_json(json_path, {"study": results.plan.name, "rows": rows, "means": found})
    _show(results, rows)
    for what, path in ((what, path) for what, paths in written for path in paths):
        say(f"{what}: {path}")
    say(f"One page of all: warpfile report {folder}")


def _show(results: Results, rows: Sequence[Row]) -> None:
    """The table of all machines, and what its columns are."""
    from warpfile.results.studies.summary import differences, starting, table

    show_table(*table(rows))
    say("Growth is over the baseline at the same preset; IPC: geometric mean over kernels, energy and accesses: mean.")
    say("[low, high]: 95 % interval over kernels, in percent; undecided where it holds zero. ± is over seeds.")
    say_differences(differences(rows))
    if line := starting(rows):
        say("Resident, eligible: warps per cycle; sparse: cycles with fewer than half of those that fit.")
        say_wrapped(f"{line}.")
    say("Hits: mean per look-up in what a scheme keeps near; what that is, warpfile report says.")
    if prices := next((row["energy_prices"] for row in rows if row.get("energy_prices")), None):
        say(f"Energy: at the prices of {prices}, accesses that have one (energy_priced says which part of them).")
    for line in results.without_energy:
        say(line)


def _table(rows: Sequence[Row], stem: Path) -> list[Path]:
    """Write a table; without rows, take away that of an earlier study in the same folder."""
    from warpfile.results.studies.table import write_table

    if rows:
        return write_table(rows, stem)
    for suffix in (".parquet", ".csv"):
        stem.with_suffix(suffix).unlink(missing_ok=True)
    return []


def _judge(rows: Sequence[Row]) -> None:
    """Report refused points. Raises :class:`Difference` for points that failed, and where all were refused."""
    from warpfile.results.studies.tasks import OK, REFUSED

    refused = [row for row in rows if row["status"] == REFUSED]
    failed = [row for row in rows if row["status"] not in (OK, REFUSED)]
    if failed or len(refused) == len(rows):
        raise Difference(_first(failed or refused, rows, "failed" if failed else "were refused"))
    if refused:
        say(_first(refused, rows, "were refused"))


def _first(some: Sequence[Row], rows: Sequence[Row], what: str) -> str:
    return f"{len(some):,} of {len(rows):,} points {what}; the first, of {some[0]['scheme']}: {some[0]['error']}"
