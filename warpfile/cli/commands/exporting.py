"""``warpfile export``: a launch as a trace that Accel-Sim reads."""

from __future__ import annotations

from pathlib import Path

import click

from warpfile.cli.options import LaunchOptions, architecture, complete_kernel, kernel_options
from warpfile.compiler.accelsim import export_trace
from warpfile.compiler.architectures import TARGET
from warpfile.output.display import progress, say
from warpfile.output.files import file_name, new_folder
from warpfile.workloads.inputs import executed, kernel_directory


@click.command("export", short_help="Write the trace of a kernel in Accel-Sim's format.")
@click.argument("kernel", metavar="KERNEL", shell_complete=complete_kernel)
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder for kernelslist.g and kernel-1.traceg; must be new. Default: the kernel's name and -traces.",
)
@architecture("Execute the code for this GPU, with kernel.cu compiled anew unless KERNEL is bundled.")
@kernel_options
def export_command(kernel: str, output: Path | None, architecture: int | None, launch_options: LaunchOptions) -> None:
    """Write the trace of a launch for Accel-Sim: run the same code there, or in another tool that reads its traces.

    KERNEL is a bundled kernel, a kernel directory, or a trace of warpfile trace (.npz). It needs no GPU. The format
    has no predicates, uniform registers or control codes (docs/trace.md).

    \b
    Example: warpfile export matmul_tiled --setting large -o traces
    Example: warpfile export saxpy --arch sm_86 -o traces
    then, in Accel-Sim: accel-sim.out -trace traces/kernelslist.g -config gpgpusim.config -config trace.config
    """
    with progress("export") as report:
        if architecture is None:
            trace = launch_options.trace(kernel, report)
        else:
            trace = executed(
                kernel_directory(kernel), launch_options.setting, launch_options.instruction_limit, report, architecture
            )
        if trace.source != "emulated":
            raise click.UsageError(f"KERNEL must be executed by warpfile, and {kernel} is a trace of {trace.source}")
        folder = output or Path(f"{file_name(trace.kernel)}-traces")
        with new_folder(folder) as place:
            for done in export_trace(trace, place, architecture or TARGET):
                report("export", done, len(set(trace.warp_cta.tolist())))
    say(f"{folder / 'kernelslist.g'}: {trace.warps} warps, {trace.instructions:,} warp instructions")
