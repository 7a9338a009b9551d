"""``warpfile import``: a kernel directory from a CUDA file, PTX or machine code."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from warpfile.cli.options import architecture
from warpfile.compiler.architectures import TARGET
from warpfile.compiler.model import Function
from warpfile.compiler.unsupported import grid_sync, unsupported
from warpfile.output.display import progress, say
from warpfile.workloads.cuda import import_kernel
from warpfile.workloads.inputs import spelled
from warpfile.workloads.signature import signature


@click.command(name="import", short_help="Make a kernel directory from CUDA, PTX or machine code.")
@click.argument("source", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--kernel", metavar="NAME", help="The kernel, if FILE has several: its symbol or its name in C++.")
@architecture(
    f"GPU to compile for, or whose code is taken out of a fat binary. Default: sm_{TARGET} for CUDA, the target of PTX,"
    " the only one of a binary."
)
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="New kernel directory. Default: the kernel's name, in the current folder.",
)
def import_command(source: Path, kernel: str | None, architecture: int | None, output: Path | None) -> None:
    """Make a kernel directory: the listing of a kernel, and a launch file to fill in.

    FILE is CUDA (.cu), PTX (.ptx), a cubin, or a fat binary: .fatbin, an object file, a library, an executable.

    The listing (kernel.sass) has control codes, constants and the size of static shared memory. The launch file
    (launch.toml) has the kernel's parameters. You fill in grid, block, values and arrays; warpfile trace DIR lists what
    is missing.

    All kinds need nvdisasm. A CUDA file also needs nvcc, which compiles with -O3; NVCC_APPEND_FLAGS in the environment
    gives it more options. PTX needs ptxas, a fat binary cuobjdump. The tools are searched for on PATH, in CUDA_HOME and
    /usr/local/cuda*, and among pip's wheels (pip install 'warpfile[cuda]').

    \b
    Example: warpfile import saxpy.cu -o saxpy
    Example: warpfile import saxpy.cu --arch sm_90 -o saxpy-sm_90
    Example: warpfile import library.so --arch sm_90 --kernel reduce
    """
    with progress("import") as report:
        found = import_kernel(source, kernel, report, architecture)
    folder = output or found.folder
    found.write(folder)
    function, count = found.function, len(found.function.parameters or ())
    say(f"{signature(function.name)}: {len(function.instructions)} instructions, parameters: {count}")
    for warning in (*found.listing.warnings, *_refusals(function)):
        say(f"warning: {warning}")
    say(f"fill in {folder / 'launch.toml'}, then: warpfile trace {spelled(folder)}")


def _refusals(function: Function) -> Iterator[str]:
    """What will keep ``warpfile trace`` from executing a kernel, whatever its launch."""
    if found := unsupported(function):
        yield f"the kernel uses {found[0]}, which is not executed"
    if grid_sync(function):
        yield "the kernel calls grid.sync(), and cooperative launches are not executed"
