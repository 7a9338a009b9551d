"""``warpfile trace``: execute a kernel, check its results, write its trace."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import click

from warpfile.application import Difference
from warpfile.display import progress, say, show_table
from warpfile.inputs import execute_kernel, kernel_directory, save_trace
from warpfile.options import json_file, kernel_options
from warpfile.outputs import write_json

if TYPE_CHECKING:
    from emulator.run import Result


@click.command()
@click.argument("kernel", metavar="KERNEL", required=False)
@click.option("--accelsim", metavar="DIR", help="Import an Accel-Sim trace instead of executing a kernel.")
@click.option(
    "-o",
    "--output",
    metavar="T.npz",
    type=click.Path(path_type=Path),
    help="Trace file. Default: the kernel's function name with .npz, in the current folder.",
)
@kernel_options
@json_file
def trace(
    kernel: str | None,
    accelsim: str | None,
    output: Path | None,
    setting: str,
    instruction_limit: int | None,
    json_path: Path | None,
) -> None:
    """Execute a kernel, check its expected buffers and write the annotated trace.

    KERNEL is a bundled kernel or a kernel directory. A trace whose buffers are wrong is not written.

    \b
    Example: warpfile trace saxpy --setting large -o saxpy.npz
    """
    directory = _source(kernel, accelsim)
    _check_suffix(output)
    with progress("trace") as report:
        result = execute_kernel(directory, setting, instruction_limit, report)
    failed = [expectation.name for expectation in result.expectations if not expectation.ok]
    path = output or Path(f"{result.trace.kernel}.npz")
    if not failed:
        save_trace(result.trace, path)
    if json_path:
        write_json(json_path, trace_facts(result))
    _show(result)
    if failed:
        raise Difference(f"{kernel}: buffers are not what they must be: {', '.join(failed)}; no trace was written")
    say(str(path))


def trace_facts(result: Result) -> dict[str, object]:
    """The facts of ``--json``; an infinite error, which JSON cannot say, is null."""
    expectations = [
        {"name": one.name, "ok": one.ok, "worst_error": one.worst_error if math.isfinite(one.worst_error) else None}
        for one in result.expectations
    ]
    return {
        "kernel": result.trace.kernel,
        "warps": result.trace.warps,
        "instructions": result.trace.instructions,
        "expectations": expectations,
        "seconds": result.seconds,
    }


def _source(kernel: str | None, accelsim: str | None) -> Path:
    if accelsim is not None:
        raise click.UsageError("--accelsim: import of Accel-Sim traces is not available in this version")
    if kernel is None:
        raise click.UsageError("KERNEL must be a bundled kernel or a kernel directory, and is missing")
    return kernel_directory(kernel)


def _check_suffix(output: Path | None) -> None:
    if output is not None and output.suffix != ".npz":
        raise click.UsageError(f"-o must name a .npz file, not {str(output)!r}")


def _show(result: Result) -> None:
    made = result.trace
    say(f"{made.kernel}: {made.warps} warps, {made.instructions:,} warp instructions, {result.seconds:.2f} s")
    if result.expectations:
        rows = [(one.name, "as expected" if one.ok else "WRONG", one.worst_error) for one in result.expectations]
        show_table(("buffer", "contents", "worst error"), rows)
