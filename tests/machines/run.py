"""What is done with a random machine: lockstep on its traces, or generation and lint at full width."""

from __future__ import annotations

import os
from pathlib import Path

from tests.golden.dealing import instructions_of
from tests.machines.draw import PRESET, Machine, drawn, kept, traces
from tests.warpfile.verilog.test_generate import lint
from warpfile.sim.plan import Outcome
from warpfile.sim.runner import cosim
from warpfile.verilog.generate import generate

WIDTH = 32  #: lanes of a machine at full width


def lockstep(name: str, number: int, machine: Machine, root: Path, verilog: str | None = None) -> list[Outcome]:
    """What became of each trace of a machine. A failure of any kind names the command that shows it."""
    found = []
    for order, trace in enumerate(traces(name, number, machine)):
        try:
            report = cosim(
                machine.scheme, machine.config, trace, build_root=root / "build", explain=False, verilog=verilog
            )
            outcome = report.outcome
            assert outcome.mismatches == 0, outcome.first_mismatch
            assert outcome.instructions == instructions_of(machine.config, trace)
            assert outcome.operands_checked == outcome.golden_operands_checked
        except BaseException:
            path = kept(trace, root / "build" / "machines", f"{name}-{number}-{order}")
            print(f"machine {number} of {name}: {machine.command('cosim', os.path.relpath(path))}")
            raise
        found.append(outcome)
    return found


def passes_lint(name: str, number: int, folder: Path) -> None:
    """Generate a machine at full width and lint it. A failure of any kind names the command that shows it."""
    machine = drawn(name, number)
    try:
        made = generate(machine.scheme, machine.config.replace(lanes=WIDTH), PRESET, folder)
        assert lint(*(made.paths[what] for what in ("machine", "sram", "checks"))) == ""
    except BaseException:
        print(f"machine {number} of {name}: {machine.command('generate', lanes=WIDTH)}")
        raise
