"""``warpfile trace``: execute a kernel, check its results, write its trace."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warpfile.cli.options import (
    Command,
    LaunchOptions,
    MachineOptions,
    architecture,
    complete_kernel,
    configured,
    json_file,
    kernel_options,
)
from warpfile.output.difference import Difference
from warpfile.output.display import progress, say, show_table
from warpfile.output.files import file_name, write_arrays, write_json
from warpfile.results.designs import Design
from warpfile.workloads.accelsim import import_traces, show_imports
from warpfile.workloads.inputs import execute_kernel, kernel_directory

if TYPE_CHECKING:
    from warpfile.emulator.run import Result


@dataclass(frozen=True)
class AccelsimOptions:
    """Place of traces of Accel-Sim, if some are imported, which of their kernels, and values that replace headers'."""

    place: Path | None
    kernels: tuple[str, ...]
    headers: tuple[str, ...]


def accelsim_options(command: Command) -> Command:
    """Add ``--accelsim``, ``--kernel`` and ``--header``; the command gets them as ``accelsim``."""

    @wraps(command)
    def gathered(accelsim: Path | None, chosen: tuple[str, ...], headers: tuple[str, ...], **values: Any) -> Any:
        return command(accelsim=AccelsimOptions(accelsim, chosen, headers), **values)

    place = click.option(
        "--accelsim",
        metavar="PLACE",
        type=click.Path(path_type=Path),
        help="Import Accel-Sim traces instead of executing a kernel: a folder with kernelslist.g or with the tracer's"
        " output, a list, or a file (.tracez, .traceg, .trace, .trace.xz, .trace.gz).",
    )
    kernel = click.option(
        "--kernel",
        "chosen",
        metavar="WHICH",
        multiple=True,
        help="Import only these kernels of the list: N, N-M, N-, or a pattern of names such as '*gemm*'. May be"
        " repeated. Default: all of them.",
    )
    header = click.option(
        "--header",
        "headers",
        metavar="KEY=VALUE",
        multiple=True,
        help="Use this value instead of the one in an Accel-Sim header. May be repeated.",
    )
    return place(kernel(header(gathered)))  # type: ignore[return-value]


@click.command(short_help="Execute a kernel and write its trace; import Accel-Sim traces.")
@click.argument("kernel", metavar="KERNEL", required=False, shell_complete=complete_kernel)
@accelsim_options
@click.option(
    "-o",
    "--output",
    metavar="T.npz",
    type=click.Path(path_type=Path),
    help="Trace file; several imported kernels get their numbers appended (T-1.npz). Default: the kernel's function"
    " name, and the GPU's with --arch, with .npz, in the current folder.",
)
@click.option(
    "--save-outputs",
    "outputs",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Write every buffer as the kernel leaves it, one .npy file each, even if it is not as expected.",
)
@architecture("Execute the code for this GPU, with kernel.cu compiled anew unless KERNEL is bundled.")
@click.option("--scheme", "annotate", metavar="SCHEME", help="Store the hints of this scheme in the trace.")
@configured
@kernel_options
@json_file
def trace(
    kernel: str | None,
    accelsim: AccelsimOptions,
    output: Path | None,
    outputs: Path | None,
    architecture: int | None,
    annotate: str | None,
    machine_options: MachineOptions,
    launch_options: LaunchOptions,
    json_path: Path | None,
) -> None:
    """Execute a kernel, check its expected buffers and write the annotated trace; or import a trace of Accel-Sim.

    KERNEL is a bundled kernel or a kernel directory. A trace with wrong buffers is not written. An imported
    trace has register values if the tracer wrote enough of them; else it runs and cosimulates without value checks.
    A run annotates its trace itself; --scheme stores the hints in the file, for that scheme in that configuration.
    --arch needs nvdisasm, and nvcc if the project has no cubin for that GPU, like warpfile import; the trace has
    that GPU's machine code and control codes (docs/architectures.md).

    \b
    A kernel directory has kernel.sass, launch.toml and the .npy files that it names:
      kernel = "saxpy"        function of kernel.sass
      grid = [4, 1, 1]        CTAs in x, y, z
      block = [256, 1, 1]     threads in x, y, z
      shared_bytes = 0        dynamic shared memory; static_shared_bytes if the listing does not show it
      [[args]]                one per parameter, in order
      name = "n"
      type = "i32"            i8 to i64, u8 to u64, f32, f64: value; buffer: init, and expect, rtol, atol;
      value = 1000            pointer: buffer, offset; struct: [[args.fields]], align
      [[constants]]           contents of a __constant__ variable: name or offset, init
    docs/kernels.md has every key. warpfile import makes such a directory of a CUDA file.

    \b
    Example: warpfile trace saxpy --setting large -o saxpy.npz
    Example: warpfile trace saxpy --save-outputs computed
    Example: warpfile trace saxpy --arch sm_90
    Example: warpfile trace saxpy --scheme bow_wr --set window=4 -o saxpy.npz
    Example: warpfile trace --accelsim traces --kernel 2 -o second.npz
    Example: warpfile trace --accelsim traces --kernel '*gemm*' --kernel 10- -o gemm.npz
    Example: warpfile trace --accelsim traces/kernel-1-ctx_0x55d0c8b0.tracez -o first.npz
    """
    _check_suffix(output)
    _check_use(accelsim, kernel, annotate, machine_options)
    if accelsim.place is not None:
        _check_alone(kernel, launch_options, outputs, architecture)
        _import(accelsim.place, accelsim.kernels, accelsim.headers, output, json_path)
    else:
        design = machine_options.chosen([annotate]).designs[0] if annotate else None
        _execute(kernel or "", launch_options, architecture, output, outputs, design, json_path)


def _check_use(
    accelsim: AccelsimOptions, kernel: str | None, annotate: str | None, machine_options: MachineOptions
) -> None:
    """Refuse options without what they go with."""
    if not annotate and machine_options != MachineOptions(None, (), ()):
        raise click.UsageError("--preset, --set and parts must go with --scheme SCHEME")
    if accelsim.place is not None:
        if annotate:
            raise click.UsageError("--scheme must go with KERNEL: an imported trace is annotated when it is run")
    elif accelsim.kernels or accelsim.headers:
        raise click.UsageError("--kernel and --header must go with --accelsim PLACE")
    elif kernel is None:
        raise click.UsageError("KERNEL must be a bundled kernel or a kernel directory, and is missing")


def _import(
    place: Path, chosen: tuple[str, ...], headers: tuple[str, ...], output: Path | None, json_path: Path | None
) -> None:
    with progress("import") as report:
        written = import_traces(place, chosen, headers, output, report)
    if json_path:
        write_json(json_path, {"kernels": [one.facts for one in written]})
    show_imports(written)


def _execute(
    kernel: str,
    launch_options: LaunchOptions,
    architecture: int | None,
    output: Path | None,
    outputs: Path | None,
    design: Design | None,
    json_path: Path | None,
) -> None:
    directory = kernel_directory(kernel)
    with progress("trace") as report:
        result = execute_kernel(
            directory, launch_options.setting, launch_options.instruction_limit, report, architecture
        )
    failed = [expectation.name for expectation in result.expectations if not expectation.ok]
    stem = file_name(result.trace.kernel) + (f"-sm_{architecture}" if architecture else "")
    path = output or Path(f"{stem}.npz")
    if outputs:
        write_arrays(outputs, result.buffers)
    if design and not failed:
        result = replace(result, trace=design.scheme.annotated(design.config, result.trace))
    if not failed:
        result.trace.save(path)
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


def _check_alone(
    kernel: str | None, launch_options: LaunchOptions, outputs: Path | None, architecture: int | None
) -> None:
    """Refuse what an import has no use for."""
    given = (kernel, launch_options.instruction_limit, outputs, architecture)
    if launch_options.setting != "launch" or any(one is not None for one in given):
        wrong = "KERNEL, --setting, --instruction-limit, --save-outputs and --arch"
        raise click.UsageError(f"--accelsim must go without {wrong}")


def _check_suffix(output: Path | None) -> None:
    if output is not None and output.suffix != ".npz":
        raise click.UsageError(f"-o must name a .npz file, not {str(output)!r}")


def _show(result: Result) -> None:
    made = result.trace
    say(f"{made.kernel}: {made.warps} warps, {made.instructions:,} warp instructions, {result.seconds:.2f} s")
    for note in made.notes:
        say(f"note: {note}")
    if not result.expectations:
        say("no buffer of the launch file has an expect: nothing was checked")
        return
    rows = [(one.name, "as expected" if one.ok else "WRONG", one.worst_error) for one in result.expectations]
    show_table(("buffer", "contents", "worst error"), rows)
