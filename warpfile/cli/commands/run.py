"""``warpfile run``: the golden models alone."""

from __future__ import annotations

from pathlib import Path

import click

from warpfile.cli.options import LaunchOptions, MachineOptions, configured, json_file, kernel_argument, scheme_arguments
from warpfile.output.display import progress, say, say_differences, say_notes, say_wrapped, show_table
from warpfile.output.files import write_json
from warpfile.results.comparison import Compared, compared
from warpfile.results.run import GoldenRun, golden_run

EVERY = "all"


@click.command(short_help="Run golden models over a kernel: cycles, IPC, counters.")
@scheme_arguments
@kernel_argument
@configured
@click.option(
    "--counters",
    metavar="A,B,...",
    default="",
    help=f"Show these counters, or {EVERY}. Default with several schemes: the counters that differ.",
)
@json_file
def run(
    schemes: tuple[str, ...],
    kernel: str,
    machine_options: MachineOptions,
    launch_options: LaunchOptions,
    counters: str,
    json_path: Path | None,
) -> None:
    """Run golden models over a kernel: cycles, IPC and counters, without RTL.

    KERNEL is a bundled kernel, a kernel directory or a trace file; SCHEME may be all. Several schemes are compared
    with the baseline at their preset, and with the baseline that differs only in the scheme (docs/study.md).

    \b
    Example: warpfile run baseline matmul_tiled --set scheduler=lrr
    Example: warpfile run all spmv --preset turing --counters bank_reads,bank_conflicts
    """
    asked = machine_options.chosen(schemes)
    with progress("run") as report:
        trace = launch_options.trace(kernel, report)
        runs = asked.each(lambda one: golden_run(one.scheme, one.config, one.preset, trace, report))
        beside = compared(asked.designs, runs, trace, report) if len(runs) > 1 else []
    names = _asked(counters, runs)
    asked.report_left_out()
    if json_path:
        facts = {one.scheme: one.to_json() for one in runs}
        facts |= {one.run.scheme: facts[one.run.scheme] | one.to_json() for one in beside}
        write_json(json_path, {"schemes": facts, "left_out": asked.left_out})
    _show(runs, beside, names)


def _show(runs: list[GoldenRun], beside: list[Compared], asked: list[str]) -> None:
    columns = ("scheme", "kernel", "preset", "cycles", "IPC", "operands checked", "cycles/s")
    rows = [
        (one.scheme, one.kernel, one.preset, one.cycles, one.ipc, one.operands_checked, one.cycles / (one.seconds or 1))
        for one in runs
    ]
    show_table(columns, rows)
    show_table(("scheme", "warps", "possible", "resident", "eligible", "sparse"), map(_warps, runs))
    if starting := [one.scheme for one in runs if one.steady and one.steady.starts]:
        say_wrapped(f"Most of the run is start and end (docs/study.md): {', '.join(starting)}.")
    if beside:
        show_table(("scheme", "IPC growth", "IPC over matched"), map(_growths, beside))
        say("Growth is over the baseline at the same preset.")
        say_differences((one.run.scheme, str(one.matching)) for one in beside)
    if len({one.preset for one in runs}) > 1:
        say("Different machines, each at its own preset; --preset NAME puts all into one.")
    if len(runs) == 1:
        shown = asked or runs[0].reported
        show_table(("counter", runs[0].scheme), [(name, runs[0].reported[name]) for name in shown])
    else:
        _compare(runs, asked)
    say_notes((one.scheme, one.notes) for one in runs)


def _warps(one: GoldenRun) -> tuple[object, ...]:
    """Warps of the launch, those that fit at once, means per cycle, and the share of the cycles with few of them."""
    found = one.steady
    assert found, "a golden run is watched"
    means = (found.mean(found.resident), found.mean(found.eligible))
    return (one.scheme, found.launched, found.possible, *means, f"{found.share:.1%}")


def _growths(one: Compared) -> tuple[str, ...]:
    """The baseline has not grown over itself."""
    own = one.baseline and one.baseline.scheme == one.run.scheme
    growths = (None, None) if own else (one.growth, one.over_matched)
    return (one.run.scheme, *("-" if growth is None else f"{growth:+.1%}" for growth in growths))


def _compare(runs: list[GoldenRun], asked: list[str]) -> None:
    """Schemes down, counters across: those that were asked for, or that differ; a table for those that have the same.

    A counter that a scheme has not is 0 in it.
    """
    every = _names(runs)
    shown = asked or [name for name in every if len({one.reported.get(name, 0) for one in runs}) > 1]
    having: dict[tuple[str, ...], list[str]] = {}
    for name in shown:
        having.setdefault(tuple(one.scheme for one in runs if name in one.reported), []).append(name)
    for schemes, names in having.items():
        some = [one for one in runs if one.scheme in schemes]
        show_table(("scheme", *names), [(one.scheme, *(one.reported[name] for name in names)) for one in some])
    if not asked and len(shown) < len(every):
        say(f"{len(every) - len(shown)} counters do not differ: --counters {EVERY} shows them, too.")


def _names(runs: list[GoldenRun]) -> list[str]:
    """All counters, in the order of the schemes that have them."""
    return list(dict.fromkeys(name for one in runs for name in one.reported))


def _asked(counters: str, runs: list[GoldenRun]) -> list[str]:
    """The counters that are named, each once. Raises usage errors."""
    known = _names(runs)
    names = known if counters == EVERY else list(dict.fromkeys(filter(None, counters.split(","))))
    if unknown := [name for name in names if name not in known]:
        raise click.UsageError(f"--counters must be counters of the schemes ({EVERY} shows them), not {unknown[0]!r}")
    return names
