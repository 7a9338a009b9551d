"""``warpfile demo`` (``make demo``): what the project is for, in a few minutes."""

from __future__ import annotations

import time
from pathlib import Path

import click

from warpfile.commands.area import measured, show_costs
from warpfile.commands.cosim import lockstep, refuse_mismatches, show_lockstep
from warpfile.commands.report import report as report_command
from warpfile.commands.study import study as study_command
from warpfile.display import progress, say
from warpfile.inputs import obtain_trace
from warpfile.options import ALL, designs

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

    All schemes on one kernel side by side, each over the baseline at its own preset; two of them as RTL against their
    golden models in every cycle; what the one costs over the other; and a page with charts of all schemes.

    \b
    Example: warpfile demo
    """
    start = time.perf_counter()
    say(f"All schemes on {_KERNEL}, by their golden models:")
    context.invoke(study_command, kernels=(_KERNEL,), schemes=(ALL,), pipeline=_CYCLES, name=_FOLDER.name)
    _hardware()
    say("\nAll schemes on one page, with the areas that are kept of each:")
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
    reports = []
    with progress("demo") as tell:
        for design, kernel, waves in runs:
            trace = obtain_trace(kernel, "launch", None, tell)
            reports.append(lockstep(design, trace, "verilator", waves, Path("build"), tell))
        costs = measured(pair[1:], None, tell)
    say("\nRTL in Verilator and the golden model, compared in every cycle:")
    show_lockstep([one.to_json() | {"scheme": one.scheme} for one in reports])
    refuse_mismatches(reports)
    say("\nWhat it costs:")
    show_costs(costs)
