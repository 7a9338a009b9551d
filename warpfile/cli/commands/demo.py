"""``warpfile demo`` (``make demo``): what the project is for, in a few minutes."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import click

from warpfile.cli.commands.area import measured, show_costs
from warpfile.cli.commands.cosim import lockstep, refuse_mismatches, show_lockstep
from warpfile.cli.commands.report import report as report_command
from warpfile.cli.commands.study import study as study_command
from warpfile.output.display import Report, progress, say
from warpfile.results.designs import ALL, Design, designs
from warpfile.workloads.inputs import obtain_trace

if TYPE_CHECKING:
    from warpfile.sim.runner import CosimReport
    from warpfile.sim.waves import Waves

_KERNEL = "matmul_tiled"
_CYCLES = "1000:1099"  #: of the pipeline view: all warps are there
#: The two that run as hardware; the first is what the second is compared with, at its preset.
_PAIR = ("baseline", "malekeh")
#: Preset and kernel of the run with a waveform; with 32 lanes it would take hundreds of megabytes.
_WAVES = ("tiny", "collatz")
_FOLDER = Path("build") / "study" / "demo"  #: where a study of that name is


@click.command(hidden=True)
@click.pass_context
def demo(context: click.Context) -> None:
    """Show the project at work in a few minutes.

    The demo has four parts: all schemes on one kernel, each over the baseline at its own preset; lockstep of two
    schemes, RTL against golden model in every cycle; the area of one over the other; and a report on all schemes.

    \b
    Example: warpfile demo
    """
    start = time.perf_counter()
    say(f"All schemes on {_KERNEL}, by their golden models:")
    context.invoke(study_command, kernels=(_KERNEL,), schemes=(ALL,), pipeline=_CYCLES, name=_FOLDER.name)
    _hardware()
    say("\nAll schemes on one page, with the stored areas of each:")
    context.invoke(report_command, folder=_FOLDER)
    say(f"{time.perf_counter() - start:.0f} s in all")


def _hardware() -> None:
    """Lockstep of two schemes at 32 lanes, a waveform of a small one, and areas."""
    from warpfile.sim.waves import Waves

    pair = designs(_PAIR, None, ())
    preset, kernel = _WAVES
    (small,) = designs(_PAIR[:1], preset, ())
    runs = [*((design, _KERNEL, None) for design in pair), (small, kernel, Waves())]
    lanes = pair[0].config.lanes
    say(f"\n{' and '.join(_PAIR)} as RTL with {lanes} lanes; building the simulations takes a minute or two.")
    with progress("demo") as tell, ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        # Neither the compiler of one simulation nor the synthesis of one machine keeps all processors busy.
        costs = pool.submit(measured, pair[1:], None, tell)
        reports = list(pool.map(lambda one: _equal(*one, tell), runs))
    say("\nRTL in Verilator and the golden model, compared in every cycle:")
    show_lockstep([one.to_json() | {"scheme": one.scheme} for one in reports])
    refuse_mismatches(reports)
    say("\nWhat it costs:")
    show_costs(costs.result())


def _equal(design: Design, kernel: str, waves: Waves | None, tell: Report) -> CosimReport:
    trace = obtain_trace(kernel, "launch", None, tell)
    return lockstep(design, trace, "verilator", waves, Path("build"), tell)
