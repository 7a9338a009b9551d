"""``warpfile cosim``: RTL against the golden model, in every cycle."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warpfile.cli.options import LaunchOptions, MachineOptions, configured, json_file, kernel_argument, scheme_arguments
from warpfile.output.difference import Difference
from warpfile.output.display import Report, progress, say, say_notes, show_table
from warpfile.output.files import write_json
from warpfile.results.designs import Design
from warpfile.sim.initial_state import PLAIN, SEEDS, InitialState

if TYPE_CHECKING:
    from warpfile.sim.runner import CosimReport
    from warpfile.sim.waves import Waves
    from warpfile.spec.trace import Trace

_SIMULATORS = ("verilator", "icarus")


@click.command(short_help="Compare RTL and golden model over a kernel, cycle by cycle.")
@scheme_arguments
@kernel_argument
@configured
@click.option("--simulator", type=click.Choice(_SIMULATORS), default="verilator", show_default=True)
@click.option(
    "--power-up",
    type=click.IntRange(1, SEEDS),
    metavar="SEED",
    help="Start with random bits, not zeros, in all registers and memories (Verilator; in Icarus they are X).",
)
@click.option(
    "--reset-after",
    type=click.IntRange(1),
    metavar="CYCLES",
    help="Reset the machine after this number of cycles; the run then starts again.",
)
@click.option("--waves", is_flag=True, help="Write a waveform, with groups and names for GTKWave and Surfer.")
@click.option(
    "--window", metavar="FIRST:LAST", help="Cycles of the waveform, for example 200:300; 200: records until the end."
)
@click.option(
    "--wave-file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Waveform file, FST or VCD by its suffix. Default: in the simulation folder, FST if that can be built.",
)
@click.option(
    "-o",
    "--output",
    "build_root",
    metavar="DIR",
    type=click.Path(path_type=Path),
    default=Path("build"),
    show_default=True,
    help="Folder for simulator builds and waveforms.",
)
@json_file
def cosim(
    schemes: tuple[str, ...],
    kernel: str,
    machine_options: MachineOptions,
    launch_options: LaunchOptions,
    simulator: str,
    power_up: int | None,
    reset_after: int | None,
    waves: bool,
    window: str | None,
    wave_file: Path | None,
    build_root: Path,
    json_path: Path | None,
) -> None:
    """Run RTL and golden model in lockstep over a kernel and compare them in every cycle.

    KERNEL is a bundled kernel, a kernel directory or a trace file; SCHEME may be all.

    \b
    Example: warpfile cosim baseline collatz --preset tiny --simulator icarus
    """
    asked = machine_options.chosen(schemes)
    recorded = wanted_waves(waves, window, wave_file, len(asked.designs))
    initial_state = InitialState(power_up, reset_after)
    with progress("cosim") as report:
        trace = launch_options.trace(kernel, report)
        reports = asked.each(lambda one: lockstep(one, trace, simulator, recorded, build_root, report, initial_state))
    asked.report_left_out()
    if json_path:
        write_json(json_path, {"schemes": {one.scheme: one.to_json() for one in reports}, "left_out": asked.left_out})
    show_lockstep([one.to_json() | {"scheme": one.scheme} for one in reports])
    refuse_mismatches(reports)


def wanted_waves(waves: bool, window: str | None, path: Path | None, runs: int) -> Waves | None:
    """What to record; any of the options asks for a waveform. Raises ``ValueError`` for one file for several runs."""
    from warpfile.sim.waves import Waves

    if not (waves or window or path):
        return None
    if path and runs > 1:
        raise ValueError(f"--wave-file must be for one SCHEME, not {runs}: without it each has its own file")
    if path and not path.parent.is_dir():
        raise ValueError(f"--wave-file must be in a folder that exists, not in {path.parent}")
    return Waves.of(window, path)


def lockstep(
    design: Design,
    trace: Trace,
    simulator: str,
    waves: Waves | None,
    build_root: Path,
    report: Report,
    initial_state: InitialState = PLAIN,
) -> CosimReport:
    """One lockstep run. Raises ``ValueError`` for what does not fit; a simulator that fails is a usage error."""
    from warpfile.sim.runner import cosim as run_lockstep
    from warpfile.sim.simulators import SimulatorError

    try:
        return run_lockstep(
            design.scheme,
            design.config,
            trace,
            preset=design.preset,
            simulator=simulator,
            waves=waves,
            build_root=build_root,
            progress=report,
            initial_state=initial_state,
        )
    except SimulatorError as error:
        raise click.ClickException(str(error)) from error


def show_lockstep(rows: Sequence[dict[str, Any]]) -> None:
    """Table of lockstep runs from their JSON facts, and where their waveforms lie."""
    columns = ("scheme", "kernel", "preset", "lanes", "cycles", "IPC", "bank conflicts", "operands checked")
    table = [
        (
            *(row[key] for key in ("scheme", "kernel", "preset", "lanes", "cycles")),
            row["instructions"] / row["cycles"] if row["cycles"] else 0.0,
            row["counters"].get("bank_conflicts"),
            row["operands_checked"],
            "equal" if not row["mismatches"] else "DIFFERENT",
            row["cycles_per_second"],
            row["build_seconds"],
        )
        for row in rows
    ]
    show_table((*columns, "RTL and golden", "cycles/s", "build s"), table)
    for line in dict.fromkeys(line for row in rows for line in row.get("unchecked", ())):
        say(f"not checked: {line}")
    say_notes((row["scheme"], row.get("notes", ())) for row in rows)
    for row in rows:
        if row.get("waveform"):
            say(f"waveform of {row['scheme']} on {row['kernel']}: {row['waveform']}")


def refuse_mismatches(reports: Sequence[CosimReport]) -> None:
    """Explain every mismatch, then raise :class:`Difference` for the first."""
    from warpfile.sim.explain import to_text

    different = [one for one in reports if one.outcome.mismatches]
    for one in different:
        if one.outcome.first_mismatch:
            say(to_text(one.outcome.first_mismatch))
    for one in different:
        where = (one.outcome.first_mismatch or {}).get("cycle")
        raise Difference(f"{one.scheme} on {one.kernel}: RTL and golden model differ in cycle {where}")
