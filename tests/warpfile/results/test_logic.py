"""Logic by its switching: gates in lockstep, counted; a wrong gate is not counted but found."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import warpfile.results.logic as logic
from tests.golden.test_start import START, starting
from tests.warpfile.conftest import Invoke
from warpfile.output.difference import Difference
from warpfile.output.display import silent
from warpfile.results.designs import Design
from warpfile.results.logic import LogicEnergy, logic_energy
from warpfile.schemes import SCHEMES
from warpfile.sim.build import generated_verilog
from warpfile.sim.initial_state import InitialState
from warpfile.sim.runner import CosimReport, cosim
from warpfile.sim.waves import Waves
from warpfile.spec.config import Config
from warpfile.spec.schemes.packed import PackedConfig
from warpfile.spec.stress import stress_trace
from warpfile.synth.liberty import read_liberty
from warpfile.synth.switching import ModuleSwitching

TRACE = stress_trace(7, warps_per_cta=[2], ctas=1, length=20, profile="mixed")
WINDOW = (20, 39)
#: In ``make test``; all others in ``make check``.
IN_TEST = ("baseline", "rfc", "regmutex")
STARTED = "  assign started = 1'h1;\n"


def small(name: str = "baseline") -> Design:
    cfg: Config = SCHEMES[name].configuration("tiny", lanes=1)
    return Design(SCHEMES[name], "tiny", cfg, {"lanes": 1})


@pytest.fixture(scope="module")
def found(root: Path) -> LogicEnergy:
    return logic_energy(small(), TRACE, read_liberty(), WINDOW, silent, root=root / "build")


@pytest.mark.needs("iverilog")
def test_the_gates_of_a_machine_toggle_in_every_module(found: LogicEnergy) -> None:
    assert found.cycles == 20 and found.picojoules is None
    toggles = {one.name: one.toggles for one in found.modules}
    assert min(toggles[name] for name in ("collector_lane", "instruction_buffer", "warpfile.frame")) > 0
    # Twice as many cycles with the clock going up and down cannot be reached by a net that settles once in a cycle.
    assert all(one.toggles <= 2 * found.cycles * one.cells * one.instances for one in found.modules)
    assert {one.name: one.instances for one in found.modules}["register_bank"] == small().config.banks


def gates_of(root: Path, name: str, verilog: str | None = None) -> CosimReport:
    """Lockstep with the gates of a scheme, or of another text of its machine, with a reset in mid-run.

    In Icarus every flip-flop is X until it is reset or written.
    """
    scheme, cfg = logic.without_checks(SCHEMES[name]), small(name).config
    _, text = logic.gates(verilog or generated_verilog(scheme, cfg, root / "build"), cfg, read_liberty())
    trace = stress_trace(7, warps_per_cta=[2, 3], ctas=3, length=40, profile="mixed")
    trace = scheme.annotated(cfg, trace, 7)
    given = {"simulator": "icarus", "build_root": root / "build", "initial_state": InitialState(reset_after=60)}
    return cosim(scheme, cfg, trace, verilog=text, explain=False, **given)  # type: ignore[arg-type]


@pytest.mark.needs("iverilog")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in IN_TEST else pytest.mark.check) for name in SCHEMES]
)
def test_the_gates_of_every_scheme_equal_its_golden_model(root: Path, name: str) -> None:
    outcome = gates_of(root, name).outcome
    assert outcome.mismatches == 0, outcome.first_mismatch
    assert outcome.cycles_before == 60 and outcome.operands_checked == outcome.golden_operands_checked > 0


@pytest.mark.needs("iverilog")
def test_gates_that_show_a_flip_flop_before_it_is_written_are_a_difference(root: Path) -> None:
    text = generated_verilog(SCHEMES["baseline"], small().config, root / "build")
    assert text.count(STARTED) == 1
    shown = "  reg seen;\n  always @(posedge clk) seen <= seen ^ decode_valid;\n  assign started = ~seen;\n"
    found = gates_of(root, "baseline", text.replace(STARTED, shown)).outcome.first_mismatch
    assert found and found["cycle"] in (0, 1)


@pytest.mark.needs("iverilog")
def test_a_wrong_gate_is_a_difference(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = logic.gate_verilog

    def wrong(*given: object) -> str:
        text = original(*given)  # type: ignore[arg-type]
        at = text.index("  assign n", text.index("module warpfile__frame ("))
        at = text.index("= ~", at)
        return text[:at] + "= " + text[at + 3 :]

    monkeypatch.setattr(logic, "gate_verilog", wrong)
    with pytest.raises(Difference, match="baseline: gates differ from the golden model"):
        logic_energy(small(), TRACE, read_liberty(), WINDOW, silent, root=root / "build")


def test_a_window_behind_the_end_is_refused(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = SimpleNamespace(mismatches=0, cycles=50)
    monkeypatch.setattr(logic, "map_gates", lambda *given: {"modules": {}})
    monkeypatch.setattr(logic, "build_harness", lambda *given, **more: None)
    monkeypatch.setattr(logic, "simulate", lambda *given, **more: (ended, tmp_path))
    with pytest.raises(ValueError, match="window must end before the run does, after 50 cycles, not in 50"):
        logic_energy(small(), TRACE, read_liberty(), (20, 50), silent, root=root / "build")


def test_a_window_counts_from_the_start_on(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No scheme has a start; this one's register file takes some cycles until it could take a kernel."""
    corf, cfg = SCHEMES["corf"], small("corf").config
    late = replace(corf, rf=replace(corf.rf, golden="tests.golden.test_start:StartingFile"))
    assert isinstance(cfg, PackedConfig)
    recorded: list[tuple[int, int | None]] = []

    def simulated(*given: Any, waves: Waves) -> tuple[SimpleNamespace, None]:
        recorded.append((waves.first, waves.last))
        return SimpleNamespace(mismatches=0, cycles=50), None

    for name, value in (("map_gates", {"modules": {}}), ("gate_verilog", ""), ("build_harness", None)):
        monkeypatch.setattr(logic, name, lambda *given, value=value, **more: value)
    monkeypatch.setattr(logic, "simulate", simulated)
    for design in (small(), Design(late, "tiny", starting(cfg), {})):
        with pytest.raises(ValueError, match="window must end before the run does"):
            logic_energy(design, TRACE, read_liberty(), (20, 30), silent, root=root / "build")
    assert recorded == [(20, 30), (START + 20, START + 30)]


def test_energies_are_per_cycle() -> None:
    one = ModuleSwitching("m", 2, 10, 4, 30, clock=8.0, registers=2.0, gates=6.0)
    two = LogicEnergy("lib", 1.8, 5, 8, (one, one))
    assert (two.toggles, two.picojoules, two.part("clock")) == (15, 8, 4)
    bare = LogicEnergy("lib", None, 5, 8, (ModuleSwitching("m", 1, 1, 1, 1, None, None, None),))
    assert (bare.picojoules, bare.part("gates"), bare.toggles) == (None, None, 0.25)


@pytest.mark.needs("iverilog")
def test_the_command_shows_both(
    invoke: Invoke, folder: Path, monkeypatch: pytest.MonkeyPatch, found: LogicEnergy
) -> None:
    """The command's own path, without simulating again."""
    monkeypatch.setattr("warpfile.results.logic.logic_energy", lambda *given: found)
    more = ("--preset", "tiny", "--set", "lanes=4", "--prices", "cacti", "--switching", "20:39")
    result = invoke("energy", "bow", "warp_reduce", *more, "--json", "facts.json")
    assert result.exit_code == 0, result.stderr
    assert "nand2.lib has no power: toggles per cycle only." in result.stdout
    facts = json.loads((folder / "facts.json").read_text())["schemes"]["bow"]
    assert facts["logic"]["toggles_per_cycle"] == facts["baseline_logic"]["toggles_per_cycle"] == found.toggles
    assert facts["logic"]["picojoules_per_cycle"] is None


@pytest.mark.parametrize(
    ("more", "what"),
    [
        (("--switching", "20:39"), "--switching needs --prices cacti"),
        (
            ("--prices", "cacti", "--switching", "20:"),
            "--switching must be FIRST:LAST, two cycles, the first not behind",
        ),
        (("--prices", "cacti", "--switching", "9:8"), "the first not behind the last, not '9:8'"),
    ],
)
def test_a_wrong_request_is_refused_in_one_line(invoke: Invoke, more: tuple[str, ...], what: str) -> None:
    result = invoke("energy", "bow", "warp_reduce", *more)
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert what in result.stderr
