"""Machines with clock gates equal the golden model, as Verilog and as gates; a gate that is none is found."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import warpfile.results.logic as logic
from tests.warpfile.verilog.test_generate import lint
from warpfile.hdl.clock_gate import CLOCK_GATE_TEXT
from warpfile.schemes import SCHEMES
from warpfile.sim.build import generated_verilog
from warpfile.sim.initial_state import InitialState
from warpfile.sim.runner import cosim
from warpfile.spec.config import Config
from warpfile.spec.stress import stress_trace
from warpfile.spec.structure import CLOCK_GATE
from warpfile.synth.area import count_instances, measure
from warpfile.synth.liberty import read_liberty
from warpfile.verilog.generate import generate

#: In ``make test``; all others in ``make check``.
IN_TEST = ("baseline", "rfc", "malekeh")
RIGHT = "if (!clk) open = enable | test_enable;"
assert RIGHT in CLOCK_GATE_TEXT
every_scheme = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in IN_TEST else pytest.mark.check) for name in SCHEMES]
)


def configuration(name: str, **changes: object) -> Config:
    return SCHEMES[name].configuration("tiny", **{"lanes": 1, "clock_gating": "arrays", **changes})


def mismatches(root: Path, name: str, verilog: str | None, simulator: str = "icarus", *, gates: bool = False) -> int:
    """Lockstep with a reset in mid-run. In Icarus all registers begin unknown, in Verilator with random values."""
    scheme, cfg = SCHEMES[name], configuration(name)
    if gates:
        scheme = logic.without_checks(scheme)
    trace = scheme.annotated(cfg, stress_trace(7, warps_per_cta=[2, 3], ctas=3, length=40, profile="mixed"), 7)
    initial_state = InitialState(reset_after=60)
    if simulator == "verilator":
        initial_state = replace(initial_state, power_up=11)
    given = {"simulator": simulator, "build_root": root / "build", "initial_state": initial_state}
    outcome = cosim(scheme, cfg, trace, verilog=verilog, explain=False, **given).outcome  # type: ignore[arg-type]
    assert outcome.mismatches or outcome.operands_checked == outcome.golden_operands_checked > 0
    return outcome.mismatches


@pytest.mark.needs("iverilog")
@every_scheme
def test_a_machine_with_clock_gates_equals_the_golden_model(root: Path, name: str) -> None:
    text = generated_verilog(SCHEMES[name], configuration(name), root / "build")
    assert text.count(f"  {CLOCK_GATE} ") > 2
    assert mismatches(root, name, text) == 0


@pytest.mark.check
@pytest.mark.parametrize("name", ["baseline", "bow_wr", "rfc"])
def test_it_does_after_random_values_at_power_up(root: Path, name: str) -> None:
    assert mismatches(root, name, None, "verilator") == 0


@pytest.mark.needs("iverilog")
@every_scheme
def test_gates_of_a_machine_with_clock_gates_equal_the_golden_model(root: Path, name: str) -> None:
    cfg = configuration(name)
    _, text = logic.gates(generated_verilog(SCHEMES[name], cfg, root / "build"), cfg, read_liberty())
    assert RIGHT in text
    assert mismatches(root, name, text, gates=True) == 0


@pytest.mark.needs("iverilog")
@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param("open = enable | test_enable;", id="no latch"),
        pytest.param("if (!clk) open = ~enable | test_enable;", id="inverted enable"),
        pytest.param("if (clk) open = enable | test_enable;", id="latch of the other half"),
        pytest.param("open = 1'b0;", id="never open"),
        pytest.param("open = 1'b1;", id="test enable in operation"),
    ],
)
def test_a_gate_that_is_none_is_found(root: Path, wrong: str) -> None:
    text = generated_verilog(SCHEMES["malekeh"], configuration("malekeh"), root / "build")
    assert mismatches(root, "malekeh", text.replace(RIGHT, wrong)) > 0


#: Of a scheme, gates of arrays and tables by their names, and those that `make test` looks at.
GATES = {
    "baseline": (r"unit\d+_slot\d+", r"entry\d+", "beat", "places", r"base\d+"),
    "bow": (r"slot\d+", r"register\d+"),
    "rfc": (r"row\d+", r"register\d+", r"place_base\d+", "found"),
    "pilot": (r"entry\d+",),
    "ltrf": (r"staged\d+_\d+", r"saved\d+", r"latched\d+_\d+", r"home\d+"),
    "corf": (r"partner\d+", r"held\d+", r"store\d+"),
    "modern": (r"tag\d+", r"entry\d+"),
    "larf": (r"note\d+", r"stage\d+"),
}
IN_TEST_GATES = (("bow", r"slot\d+"), ("ltrf", r"staged\d+_\d+"), ("corf", r"partner\d+"))


@pytest.mark.needs("iverilog")
@pytest.mark.parametrize(
    ("name", "gates"),
    [
        pytest.param(name, gates, marks=() if (name, gates) in IN_TEST_GATES else pytest.mark.check)
        for name, kinds in GATES.items()
        for gates in kinds
    ],
)
def test_gates_that_never_open_are_found(root: Path, name: str, gates: str) -> None:
    text = generated_verilog(SCHEMES[name], configuration(name), root / "build")
    gate = rf"(  {CLOCK_GATE} {gates}_gate \(\n    \.clk\(clk\),\n    \.enable\().*?\)"
    closed, count = re.subn(gate, r"\g<1>1'b0)", text)
    assert count > 0
    assert mismatches(root, name, closed) > 0


@pytest.mark.needs("iverilog")
@pytest.mark.parametrize(
    ("name", "register"),
    [("bow", "register0"), pytest.param("modern", "entry0", marks=pytest.mark.check)],
)
def test_an_enable_that_lacks_its_last_write_is_found(root: Path, name: str, register: str) -> None:
    text = generated_verilog(SCHEMES[name], configuration(name), root / "build")
    lacks, count = re.subn(rf"(assign {register}_enable = .*) \| .*;", r"\1;", text)
    assert count > 0
    assert mismatches(root, name, lacks) > 0


def test_without_clock_gates_there_is_no_pin_and_no_gate(root: Path) -> None:
    for cfg in (configuration("malekeh", clock_gating="none"), configuration("baseline", clock_gating="none")):
        assert not cfg.clock_gates
    text = generated_verilog(SCHEMES["baseline"], configuration("baseline", clock_gating="none"), root / "build")
    assert CLOCK_GATE not in text and "test_enable" not in text
    assert not configuration("baseline", clock_gating="none", storage="latches").clock_gates
    assert configuration("malekeh", clock_gating="none", storage="latches").clock_gates


@pytest.mark.parametrize("changes", [{}, {"clock_gating": "none", "storage": "latches"}], ids=["arrays", "latches"])
def test_what_is_generated_passes_lint_and_names_the_gate(tmp_path: Path, changes: dict[str, object]) -> None:
    made = generate(SCHEMES["malekeh"], configuration("malekeh", **changes), "tiny", tmp_path)
    assert lint(*(made.paths[what] for what in ("machine", "sram", "checks"))) == ""
    facts = made.facts["clock_gate"]
    assert (facts["module"], facts["file"], facts["test_enable"]) == (
        "warpfile_clock_gate",
        "malekeh_sram.v",
        "test_enable",
    )
    machine, models = made.paths["machine"].read_text(), made.paths["sram"].read_text()
    assert "module warpfile_clock_gate" not in machine
    apart = models.partition("`ifndef WARPFILE_NO_CLOCK_GATE_MODEL\n")[2]
    assert apart.count("\nmodule ") == 1 and "module warpfile_clock_gate (" in apart
    (pin,) = (port for port in made.facts["ports"] if port["name"] == "test_enable")
    assert (pin["direction"], pin["width"]) == ("input", 1)


def test_area_counts_the_gates_and_leaves_out_the_multiplexers(tmp_path: Path) -> None:
    gated, plain = (
        measure(SCHEMES["baseline"], configuration("baseline", clock_gating=form), cache=tmp_path, levels=False)
        for form in ("arrays", "none")
    )
    (gate,) = (one for one in gated.modules if one.name == CLOCK_GATE)
    cfg = configuration("baseline")
    words = cfg.lanes * cfg.collectors * cfg.source_slots
    beats_and_places = 2 * cfg.collectors
    assert gate.instances == words + beats_and_places + cfg.warps * cfg.buffer_depth + cfg.warps
    assert gate.nand2_equivalents == read_liberty().latched_area(0)
    assert gated.flip_flops == plain.flip_flops
    assert gated.nand2_equivalents < plain.nand2_equivalents
    assert gated.memory_bits == plain.memory_bits
    assert (
        count_instances({"warpfile": {CLOCK_GATE: 2, "lane": 3}, "lane": {CLOCK_GATE: 4}}, "warpfile")[CLOCK_GATE] == 14
    )
