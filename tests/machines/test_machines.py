"""RTL equals golden model on random machines, and what is generated of them at full width passes lint."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from tests.golden.dealing import instructions_of
from tests.machines.draw import BOUNDS, KEPT, PRESET, SMALL, Machine, bounds, drawn, is_small, kept, traces
from tests.sim.bugs import BUGS
from tests.warpfile.test_generate import lint
from warpfile.generate import generate
from warpfile.schemes import SCHEMES
from warpfile.sim.runner import cosim

#: Machines of every scheme; ``make test`` runs the small ones.
MACHINES = 200
LINTED = 1  #: of those, at full width
DIFFERENT = 320  #: machines among which every field has two values; larf seldom has several domains

every_machine, every_wide_machine = (
    pytest.mark.parametrize(
        "number",
        [pytest.param(number, marks=() if number < short else pytest.mark.regress) for number in range(MACHINES)],
    )
    for short in (SMALL, LINTED)
)
every_scheme = pytest.mark.parametrize("name", SCHEMES)


def lockstep(name: str, number: int, machine: Machine, root: Path, verilog: str | None = None) -> int:
    """Operands that were compared. A failure of any kind names the command that shows it."""
    checked = 0
    for order, trace in enumerate(traces(name, number, machine)):
        try:
            report = cosim(
                machine.scheme, machine.config, trace, build_root=root / "build", explain=False, verilog=verilog
            )
            assert report.outcome.mismatches == 0, report.outcome.first_mismatch
            assert report.outcome.instructions == instructions_of(machine.config, trace)
            assert report.outcome.operands_checked == report.outcome.golden_operands_checked
        except BaseException:
            path = kept(trace, root / "build" / "machines", f"{name}-{number}-{order}")
            print(f"machine {number} of {name}: {machine.command('cosim', str(path.relative_to(root)))}")
            raise
        checked += report.outcome.operands_checked
    return checked


@every_scheme
@every_machine
def test_rtl_equals_golden_model(name: str, number: int, root: Path) -> None:
    lockstep(name, number, drawn(name, number), root)


@every_scheme
@every_wide_machine
def test_verilog_at_full_width_passes_lint(name: str, number: int, tmp_path: Path) -> None:
    machine = drawn(name, number)
    print(f"machine {number} of {name}: {machine.command('generate', lanes=32)}")
    made = generate(machine.scheme, machine.config.replace(lanes=32), PRESET, tmp_path)
    assert lint(*(made.paths[what] for what in ("machine", "sram", "checks"))) == ""


def test_a_bug_is_found_and_the_command_that_shows_it_is_printed(root: Path, capsys: pytest.CaptureFixture) -> None:
    bug = next(bug for bug in BUGS if bug.name == "scoreboard_misses_write_after_read")
    for number in range(MACHINES):
        machine = drawn("baseline", number)
        with bug.patch():
            verilog = machine.scheme.verilog(machine.config, probes=True)
        try:
            lockstep("baseline", number, machine, root, verilog)
        except AssertionError:
            break
    printed = capsys.readouterr().out
    assert f"machine {number} of baseline: warpfile cosim {machine.scheme.name} build/machines/" in printed
    assert all(f"--set {field}={value}" in printed for field, value in machine.changes.items())


@every_scheme
def test_draws_are_repeatable_and_vary_every_field(name: str) -> None:
    machines = [drawn(name, number) for number in range(DIFFERENT)]
    assert machines[:SMALL] == [drawn(name, number) for number in range(SMALL)]
    assert all(is_small(machine.config) for machine in machines[:SMALL])
    assert not all(is_small(machine.config) for machine in machines)
    assert len({machine.scheme.name for machine in machines}) > 5
    for spec in dataclasses.fields(SCHEMES[name].parameters):
        values = {getattr(machine.config, spec.name) for machine in machines if hasattr(machine.config, spec.name)}
        assert (len(values) > 1) == (spec.name not in KEPT), spec.name
        if "low" in spec.metadata:
            low, high = bounds(spec)
            assert spec.metadata["low"] <= low < high <= spec.metadata["high"]


def test_only_fields_that_there_are_have_bounds() -> None:
    known = {spec.name for scheme in SCHEMES.values() for spec in dataclasses.fields(scheme.parameters)}
    assert known.issuperset({*BOUNDS, *KEPT})
