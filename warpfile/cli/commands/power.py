"""``warpfile power``: the power of the netlist of the timed flow, by its switching in lockstep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from warpfile import tools
from warpfile.cli.options import (
    LaunchOptions,
    MachineOptions,
    check_placer,
    configured,
    json_file,
    kernel_argument,
    scheme_arguments,
    two_cycles,
)
from warpfile.output.display import BESIDE, progress, say, say_differences, show_table
from warpfile.output.files import write_json
from warpfile.results.designs import BASELINE, Design

if TYPE_CHECKING:
    from warpfile.results.power import PowerReport


@click.command(short_help="Power of a scheme's timed netlist on a kernel.")
@scheme_arguments
@kernel_argument
@configured
@click.option(
    "--cycles",
    metavar="FIRST:LAST",
    required=True,
    help="The window: these cycles since the start of the machine, both included.",
)
@click.option(
    "--delays",
    metavar="FILE",
    required=True,
    type=click.Path(path_type=Path),
    help="Cell library with delays and power. Of several files: FOLDER/FIRST,SECOND.",
)
@click.option("--wires", is_flag=True, help="Place the netlist, and count the capacitance of its wires.")
@click.option(
    "--gate-clocks/--no-gate-clocks", default=True, help="Clock gates of the library instead of enables. Default: on."
)
@click.option(
    "--gigahertz",
    metavar="GHZ",
    type=click.FloatRange(min=0, min_open=True),
    help="Clock of all netlists. Default: the clock that each one reaches.",
)
@json_file
def power(
    schemes: tuple[str, ...],
    kernel: str,
    machine_options: MachineOptions,
    launch_options: LaunchOptions,
    cycles: str,
    delays: Path,
    wires: bool,
    gate_clocks: bool,
    gigahertz: float | None,
    json_path: Path | None,
) -> None:
    """Price the switching of a scheme's timed netlist on a kernel, next to the baseline.

    The netlist is that of `warpfile area --flow timed`. Its gates run in lockstep with the golden model up to the end
    of the window. Needs OpenSTA and Icarus Verilog. A new netlist takes minutes; with --wires more.

    \b
    Example: warpfile power malekeh spmv --set lanes=1 --preset tiny --cycles 100:199 --delays sky130hd_tt.lib.gz
    Example: warpfile power sticky spmv --set lanes=4 --cycles 1000:1499 --delays sky130hd_tt.lib.gz --wires
    """
    from warpfile.results.power import Request, power_of
    from warpfile.sim.simulators import SimulatorError
    from warpfile.synth.timing import TimingError

    first, last = two_cycles("--cycles", cycles)
    for tool in ("sta", "iverilog"):
        if not tools.find(tool):
            raise click.ClickException(tools.missing(tool))
    if wires:
        check_placer()
    asked = machine_options.chosen(schemes)
    asked.each(lambda one: one.baseline)  # without one there is nothing to compare with
    with progress("power") as report:
        trace = launch_options.trace(kernel, report)
        request = Request(trace, delays, first, last, wires, gate_clocks, gigahertz)
        try:
            found = power_of(asked.designs, request, report)
        except (SimulatorError, TimingError) as error:
            raise click.ClickException(str(error)) from error
    asked.report_left_out()
    pairs = [(one, *(found[it.scheme.name, it.config] for it in (one, one.baseline))) for one in asked.designs]
    if json_path:
        facts = {one.scheme.name: _facts(one, kernel, *both) for one, *both in pairs}
        write_json(json_path, {"schemes": facts, "left_out": asked.left_out})
    show_power(pairs, delays.name)
    say_differences(((one.scheme.name, str(one.matching)) for one in asked.designs), BESIDE)


def _facts(design: Design, kernel: str, ours: PowerReport, base: PowerReport) -> dict[str, object]:
    shape = {"kernel": kernel, "preset": design.preset, "lanes": design.config.lanes}
    return shape | ours.to_json() | {"baseline": base.to_json()}


def show_power(pairs: Sequence[tuple[Design, PowerReport, PowerReport]], library: str) -> None:
    """A row for each machine: energy of a cycle by its parts; then clock, power, and energy of instruction and
    operand."""
    from warpfile.results.power import PARTS

    rows = list(_machines(pairs))
    columns = ("pJ per cycle", *PARTS, "all", "over the baseline")
    show_table(
        columns,
        [
            (name, *(_known(one.part(part)) for part in PARTS), one.picojoules, _over(one.picojoules, base))
            for name, one, base in rows
        ],
    )
    columns = ("flip-flops of", "all", "without a gate", "clock gates")
    facts = ((name, one.netlist.flip_flops, one.power.ungated, one.netlist.clock_gates) for name, one, _ in rows)
    show_table(columns, facts)
    columns = ("power", "path, ns", "GHz", "mW", "instructions", "operands", "pJ per instruction", "pJ per operand")
    show_table(
        columns,
        [
            (
                name,
                one.nanoseconds,
                round(one.gigahertz, 4),
                one.milliwatts,
                one.window.instructions,
                one.window.operands,
                _known(one.per_instruction),
                _known(one.per_operand),
            )
            for name, one, _ in rows
        ],
    )
    one = rows[0][1]
    say(f"Cycles {one.first} to {one.last}, library {library}. docs/power.md says what each part is.")
    if one.power.wires is None:
        say("The netlist is not placed, so it has no wires; --wires places it.")


def _machines(
    pairs: Sequence[tuple[Design, PowerReport, PowerReport]],
) -> Iterator[tuple[str, PowerReport, float | None]]:
    """Name and power of each scheme, each behind its baseline, and pJ per cycle of that."""
    for design, ours, base in pairs:
        preset = f"{BASELINE}, {design.preset}"
        yield preset, base, None
        if design.scheme.name != BASELINE:
            yield design.scheme.name, ours, base.picojoules


def _over(ours: float, base: float | None) -> str:
    return "-" if base is None else f"{ours / base - 1:+.1%}"


def _known(value: float | None) -> float | str:
    return "-" if value is None else value
