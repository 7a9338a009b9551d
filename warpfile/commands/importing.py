"""``warpfile import``: a kernel directory from a CUDA file or a cubin."""

from __future__ import annotations

from pathlib import Path

import click

from warpfile.compiler.architectures import TARGET
from warpfile.cuda import import_kernel
from warpfile.display import progress, say
from warpfile.inputs import spelled
from warpfile.options import architecture
from warpfile.signature import signature


@click.command(name="import")
@click.argument("source", metavar="FILE.cu|FILE.cubin", type=click.Path(path_type=Path))
@click.option("--kernel", metavar="NAME", help="The kernel, where FILE has several: its symbol or its name in C++.")
@architecture(f"GPU that a CUDA file is compiled for. Default: sm_{TARGET}.")
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="New kernel directory. Default: the kernel's name, in the current folder.",
)
def import_command(source: Path, kernel: str | None, architecture: int | None, output: Path | None) -> None:
    """Make a kernel directory of a CUDA file or a cubin: its listing, and a launch file to be filled in.

    The listing (kernel.sass) has control codes, constants and the size of static shared memory. The launch file
    (launch.toml) has the kernel's parameters; grid, block, values and arrays are yours to give, and warpfile trace DIR
    says what is missing.

    A CUDA file needs nvcc, which compiles with -O3; NVCC_APPEND_FLAGS in the environment gives it more
    options. Both need nvdisasm. They are looked for on PATH, in CUDA_HOME and /usr/local/cuda*, and among pip's wheels
    (nvidia-cuda-nvcc, nvidia-cuda-nvdisasm).

    \b
    Example: warpfile import saxpy.cu -o saxpy
    Example: warpfile import saxpy.cu --arch sm_90 -o saxpy-sm_90
    Example: warpfile import library.cubin --kernel reduce
    """
    if architecture and source.suffix != ".cu":
        raise click.UsageError(f"--arch must go with a CUDA file to be compiled, not {str(source)!r}")
    with progress("import") as report:
        found = import_kernel(source, kernel, report, architecture or TARGET)
    folder = output or found.folder
    found.write(folder)
    function, count = found.function, len(found.function.parameters or ())
    say(f"{signature(function.name)}: {len(function.instructions)} instructions, parameters: {count}")
    for warning in found.listing.warnings:
        say(f"warning: {warning}")
    say(f"fill in {folder / 'launch.toml'}, then: warpfile trace {spelled(folder)}")
