"""``warpfile demo`` (``make demo``): two kernels in lockstep at 32 lanes, what the scheme costs, and a waveform."""

from __future__ import annotations

import time
from pathlib import Path

import click

from warpfile.commands.area import measured, show_costs
from warpfile.commands.cosim import lockstep, refuse_mismatches, show_lockstep
from warpfile.display import progress, say
from warpfile.inputs import obtain_trace
from warpfile.options import designs

_SCHEME = "baseline"
_KERNELS = ("matmul_tiled", "collatz")
_WAVES = "tiny"  #: preset of the run with a waveform; with 32 lanes it would take hundreds of megabytes


@click.command(hidden=True)
def demo() -> None:
    """Show the project at work in a few minutes.

    \b
    Example: warpfile demo
    """
    from warpfile.sim.waves import Waves

    start = time.perf_counter()
    (design,) = designs([_SCHEME], None, ())
    (small,) = designs([_SCHEME], _WAVES, ())
    runs = [(design, kernel, None) for kernel in _KERNELS] + [(small, _KERNELS[-1], Waves())]
    say(f"{design.scheme.name}: {design.scheme.summary}")
    say(f"Preset {design.preset}, {design.config.lanes} lanes. Building the simulations takes a minute or two.")
    reports = []
    with progress("demo") as report:
        for run, kernel, waves in runs:
            trace = obtain_trace(kernel, "launch", None, report)
            reports.append(lockstep(run, trace, "verilator", waves, Path("build"), report))
        found = measured([design], None, report)
    say("\nRTL in Verilator and the golden model, compared in every cycle:")
    show_lockstep([one.to_json() | {"scheme": one.scheme} for one in reports])
    refuse_mismatches(reports)
    say("\nWhat it costs:")
    show_costs(found)
    say(f"{time.perf_counter() - start:.0f} s in all")
