"""``warpfile run``: the golden models alone."""

from __future__ import annotations

from pathlib import Path

import click

from warpfile.display import progress, say, say_notes, show_table
from warpfile.inputs import obtain_trace
from warpfile.options import chosen, configured, json_file, kernel_argument, scheme_arguments
from warpfile.outputs import write_json
from warpfile.run import GoldenRun, golden_run


@click.command()
@scheme_arguments
@kernel_argument
@configured
@json_file
def run(
    schemes: tuple[str, ...],
    kernel: str,
    preset: str | None,
    changes: tuple[str, ...],
    parts: tuple[str, ...],
    setting: str,
    instruction_limit: int | None,
    json_path: Path | None,
) -> None:
    """Run golden models over a kernel: cycles, IPC and counters, without RTL.

    KERNEL is a bundled kernel, a kernel directory or a trace file; SCHEME may be all.

    \b
    Example: warpfile run baseline matmul_tiled --set scheduler=lrr
    """
    asked = chosen(schemes, preset, changes, parts)
    with progress("run") as report:
        trace = obtain_trace(kernel, setting, instruction_limit, report)
        runs = asked.each(lambda one: golden_run(one.scheme, one.config, one.preset, trace, report))
    asked.tell()
    if json_path:
        write_json(json_path, {"schemes": {one.scheme: one.to_json() for one in runs}, "left_out": asked.left_out})
    _show(runs)


def _show(runs: list[GoldenRun]) -> None:
    columns = ("scheme", "kernel", "preset", "cycles", "IPC", "operands checked", "cycles/s")
    rows = [
        (one.scheme, one.kernel, one.preset, one.cycles, one.ipc, one.operands_checked, one.cycles / (one.seconds or 1))
        for one in runs
    ]
    show_table(columns, rows)
    if len({one.preset for one in runs}) > 1:
        say("These are different machines, every scheme at its own preset: --preset NAME puts all into one.")
    names = list(dict.fromkeys(name for one in runs for name in one.reported))
    counters = [(name, *(one.reported.get(name) for one in runs)) for name in names]
    show_table(("counter", *(one.scheme for one in runs)), counters)
    say_notes((one.scheme, one.notes) for one in runs)
