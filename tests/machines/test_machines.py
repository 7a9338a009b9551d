"""RTL equals golden model on random machines, and what is generated of them at full width passes lint."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from tests.machines.draw import BOUNDS, KEPT, SMALL, bounds, drawn, is_small
from tests.machines.run import lockstep, passes_lint
from tests.sim.bugs import BUGS
from warpfile.schemes import SCHEMES

#: Machines of every scheme: the first in ``make test``, the small ones in ``make check``, all in regressions.
MACHINES = 200
QUICK = 1
LINTED = 1  #: of those in ``make check``, at full width
#: Machines among which every field has two values; larf seldom has several domains, or a file over which units join.
DIFFERENT = 320
RARE = {"larf": 800}


def _every_machine(quick: int, short: int) -> pytest.MarkDecorator:
    """All numbers: the first of them are for ``make test``, those below ``short`` for ``make check``."""
    marks = [() if number < quick else pytest.mark.check for number in range(short)]
    marks += [pytest.mark.regress] * (MACHINES - short)
    return pytest.mark.parametrize("number", [pytest.param(number, marks=mark) for number, mark in enumerate(marks)])


every_scheme = pytest.mark.parametrize("name", SCHEMES)


@every_scheme
@_every_machine(QUICK, SMALL)
def test_rtl_equals_golden_model(name: str, number: int, root: Path) -> None:
    lockstep(name, number, drawn(name, number), root)


@every_scheme
@_every_machine(0, LINTED)
def test_verilog_at_full_width_passes_lint(name: str, number: int, tmp_path: Path) -> None:
    passes_lint(name, number, tmp_path)


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


@pytest.mark.check
@every_scheme
def test_draws_are_repeatable_and_vary_every_field(name: str) -> None:
    machines = [drawn(name, number) for number in range(RARE.get(name, DIFFERENT))]
    assert machines[:SMALL] == [drawn(name, number) for number in range(SMALL)]
    assert all(is_small(machine.config) for machine in machines[:SMALL])
    assert not all(is_small(machine.config) for machine in machines)
    assert len({machine.scheme.name for machine in machines}) > 5
    assert not all(machine.config.banks_by_bits for machine in machines)
    for spec in dataclasses.fields(SCHEMES[name].parameters):
        values = {getattr(machine.config, spec.name) for machine in machines if hasattr(machine.config, spec.name)}
        assert (len(values) > 1) == (spec.name not in KEPT), spec.name
        if "low" in spec.metadata:
            low, high = bounds(spec)
            assert spec.metadata["low"] <= low < high <= spec.metadata["high"]


def test_only_fields_that_there_are_have_bounds() -> None:
    known = {spec.name for scheme in SCHEMES.values() for spec in dataclasses.fields(scheme.parameters)}
    assert known.issuperset({*BOUNDS, *KEPT})
