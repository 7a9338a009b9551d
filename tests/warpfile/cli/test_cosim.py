"""Lockstep from the command line."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from tests.warpfile.conftest import Invoke
from warpfile.sim.initial_state import InitialState
from warpfile.sim.plan import Outcome
from warpfile.sim.runner import CosimReport
from warpfile.sim.simulators import SimulatorError
from warpfile.sim.waves import Waves
from warpfile.spec.presets import PRESETS

KEYS = {
    "kernel",
    "preset",
    "domain",
    "lanes",
    "simulator",
    "cycles",
    "instructions",
    "mismatches",
    "operands_checked",
    "seconds",
    "build_seconds",
    "cycles_per_second",
}


def report(**outcome: Any) -> CosimReport:
    """A finished lockstep run."""
    counters = {"bank_conflicts": 7}
    found = Outcome(cycles=100, instructions=50, operands_checked=80, seconds=0.5, counters=counters, **outcome)
    return CosimReport("baseline", "count", "tiny", PRESETS["tiny"].config, "verilator", found, 3.0, None)


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Replace the lockstep by one that answers what a test wants; returns the options it was called with."""

    def replace(result: CosimReport | Exception) -> dict[str, Any]:
        seen: dict[str, Any] = {}

        def cosim(scheme: Any, cfg: Any, trace: Any, **options: Any) -> CosimReport:
            seen.update(options, scheme=scheme.name, cfg=cfg, trace=trace)
            if isinstance(result, Exception):
                raise result
            return result

        monkeypatch.setattr("warpfile.sim.runner.cosim", cosim)
        return seen

    return replace


def test_equal_runs_are_status_zero(invoke: Invoke, kernel: Path, answer: Any) -> None:
    seen = answer(report())
    options = ("--preset", "tiny", "--set", "lanes=1", "--simulator", "icarus", "--waves", "-o", "sims")
    result = invoke("cosim", "baseline", kernel, *options, "--json", "c.json")
    assert result.exit_code == 0, result.output
    assert (seen["simulator"], seen["waves"], seen["build_root"], seen["preset"]) == (
        "icarus",
        Waves(),
        Path("sims"),
        "tiny",
    )
    assert (seen["cfg"].lanes, seen["trace"].kernel) == (1, "count")
    found = json.loads(Path("c.json").read_text())["schemes"]["baseline"]
    assert found.keys() >= KEYS
    assert found["cycles_per_second"] == 200
    for text in ("equal", "0.5", "7", "80", "200"):
        assert text in result.stdout


def test_notes_on_a_trace_are_told_with_the_schemes_that_they_concern(
    invoke: Invoke, kernel: Path, answer: Any
) -> None:
    answer(dataclasses.replace(report(), notes=("something [of] a trace",)))
    result = invoke("cosim", "baseline", kernel, "--json", "c.json")
    assert "note (baseline): something [of] a trace" in result.stdout.splitlines()
    assert json.loads(Path("c.json").read_text())["schemes"]["baseline"]["notes"] == ["something [of] a trace"]


@pytest.mark.parametrize(
    ("options", "waves"),
    [
        ((), None),
        (("--window", "3:9"), Waves(3, 9)),
        (("--wave-file", "found.vcd"), Waves(path=Path("found.vcd"))),
        (("--waves", "--window", "3:", "--wave-file", "found.fst"), Waves(3, None, Path("found.fst"))),
    ],
)
def test_any_option_of_waveforms_asks_for_one(
    invoke: Invoke, kernel: Path, answer: Any, options: tuple[str, ...], waves: Waves | None
) -> None:
    seen = answer(report())
    assert invoke("cosim", "baseline", kernel, *options).exit_code == 0
    assert seen["waves"] == waves


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--window", "9"), "window must be FIRST:LAST"),
        (("--window", "9:3"), "window must end at or after its first cycle 9, not at 3"),
        (("--wave-file", "found.txt"), "waveform must be a file *.fst or *.vcd, not found.txt"),
        (("--wave-file", "none/found.fst"), "--wave-file must be in a folder that exists, not in none"),
        (("bow", "--wave-file", "found.fst"), "--wave-file must be for one SCHEME, not 2"),
    ],
)
def test_a_wrong_waveform_is_status_two(
    invoke: Invoke, kernel: Path, answer: Any, options: tuple[str, ...], message: str
) -> None:
    seen = answer(report())
    result = invoke("cosim", "baseline", *options[:-2], kernel, *options[-2:])
    assert result.exit_code == 2 and message in result.stderr and result.stderr.count("\n") == 1
    assert not seen


def test_a_run_begins_as_it_is_asked_for(invoke: Invoke, kernel: Path, answer: Any) -> None:
    seen = answer(report())
    assert invoke("cosim", "baseline", kernel, "--power-up", "7", "--reset-after", "50").exit_code == 0
    assert seen["initial_state"] == InitialState(power_up=7, reset_after=50)
    assert invoke("cosim", "baseline", kernel).exit_code == 0
    assert seen["initial_state"] == InitialState()


@pytest.mark.parametrize("options", [("--power-up", "0"), ("--reset-after", "0"), ("--power-up", "x")])
def test_a_wrong_initial_state_is_status_two(invoke: Invoke, kernel: Path, options: tuple[str, str]) -> None:
    result = invoke("cosim", "baseline", kernel, *options)
    assert result.exit_code == 2 and options[0] in result.stderr


def test_a_mismatch_is_status_one_and_explained(invoke: Invoke, kernel: Path, answer: Any) -> None:
    mismatch = {
        "cycle": 12,
        "warp": 3,
        "pc": 48,
        "fields": {"grant": {"rtl": 1, "golden": 2}},
        "before": ["cycle 11: x"],
    }
    answer(report(mismatches=1, first_mismatch=mismatch))
    result = invoke("cosim", "baseline", kernel, "--json", "c.json")
    assert result.exit_code == 1
    assert "cycle 12" in result.stderr and result.stderr.count("\n") == 1
    for text in ("DIFFERENT", "grant", "0x30", "cycle 11"):
        assert text in result.stdout
    assert json.loads(Path("c.json").read_text())["schemes"]["baseline"]["first_mismatch"] == mismatch


def test_a_simulator_that_fails_is_status_two(invoke: Invoke, kernel: Path, answer: Any) -> None:
    answer(SimulatorError("iverilog is missing"))
    result = invoke("cosim", "baseline", kernel, "--json", "c.json")
    assert (result.exit_code, result.stderr) == (2, "warpfile: iverilog is missing\n")
    assert not Path("c.json").exists()


def test_rtl_and_golden_model_agree_on_a_small_kernel(invoke: Invoke, kernel: Path, root: Path) -> None:
    options = ("--preset", "tiny", "--json", "c.json")
    result = invoke("cosim", "baseline", kernel, *options, "-o", root / "build")
    assert result.exit_code == 0, result.output
    found = json.loads(Path("c.json").read_text())["schemes"]["baseline"]
    assert found["mismatches"] == 0
    assert (found["simulator"], found["lanes"], found["instructions"]) == ("verilator", 4, 10)
    assert found["operands_checked"] == 2 * (2 + 3)
    assert invoke("run", "baseline", kernel, *options).exit_code == 0
    alone = json.loads(Path("c.json").read_text())["schemes"]["baseline"]
    assert (found["cycles"], found["counters"]) == (alone["cycles"], alone["counters"])
