"""Power of a timed netlist: its gates in lockstep beside the RTL, a window of the golden run, and the command."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import warpfile.results.power as power
from tests.synth.test_power import LEAKING
from tests.warpfile.conftest import Invoke
from tests.warpfile.results.test_logic import TRACE, small
from warpfile.output.difference import Difference
from warpfile.output.display import silent
from warpfile.results.power import PARTS, PowerReport, Request, Window, machine_power, netlist_toggles, window_of
from warpfile.results.run import golden_run
from warpfile.schemes import SCHEMES, TOP
from warpfile.spec.structure import BOXES
from warpfile.spec.workload import Workload, prepare
from warpfile.synth.kept import KeptNetlist
from warpfile.synth.liberty import NAND2_UNITS, read_liberty
from warpfile.synth.mapped import map_gates
from warpfile.synth.power import NetlistPower
from warpfile.synth.wires.flat import flattened

#: In ``make test``; all others in ``make check``.
IN_TEST = ("baseline",)


def mapped(name: str) -> KeptNetlist:
    """A scheme without probes in the project's own cells, which need no timer."""
    design = small(name)
    verilog = design.scheme.verilog(design.config, probes=False)
    return KeptNetlist(flattened(map_gates(verilog, TOP, BOXES, read_liberty().text), TOP), {})


@pytest.fixture(scope="module")
def baseline() -> KeptNetlist:
    return mapped("baseline")


def workload_of(name: str) -> Workload:
    design = small(name)
    return prepare(design.config, design.scheme.annotated(design.config, TRACE))


def toggles_of(netlist: KeptNetlist, name: str, last: int, root: Path) -> dict[int, int]:
    design = small(name)
    given = (design.scheme, design.config, netlist, read_liberty(), workload_of(name))
    return netlist_toggles(*given, 20, last, root / "build")


@pytest.mark.needs("iverilog")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in IN_TEST else pytest.mark.check) for name in SCHEMES]
)
def test_a_flat_netlist_equals_the_golden_model_and_toggles(root: Path, name: str) -> None:
    netlist = mapped(name)
    toggles = toggles_of(netlist, name, 39, root)
    clock = netlist.flat.ports["clk"]["bits"][0]
    assert toggles[clock] in (39, 40)  # up and down in each of 20 cycles; the edge before the first is not recorded
    assert sum(count > 0 for count in toggles.values()) > 100


@pytest.mark.needs("iverilog")
@pytest.mark.parametrize("port", ["result_ready", "decode_ready", "operands"])
def test_an_output_of_the_gates_that_differs_is_a_difference(
    root: Path, baseline: KeptNetlist, monkeypatch: pytest.MonkeyPatch, port: str
) -> None:
    """One bit of one output inverted, which no probe of the RTL shows."""
    original = power.gate_verilog

    def wrong(*given: Any) -> str:
        text = original(*given)
        name = next(one for one in baseline.flat.ports if one.startswith(port.split("_")[0]) and is_output(one))
        return text.replace(f"assign \\{name}  = {{", f"assign \\{name}  = ~{{", 1)

    def is_output(name: str) -> bool:
        return bool(baseline.flat.ports[name]["direction"] == "output")

    monkeypatch.setattr(power, "gate_verilog", wrong)
    with pytest.raises(Difference, match="baseline: gates differ from the golden model"):
        toggles_of(baseline, "baseline", 39, root)


@pytest.mark.parametrize(
    ("last", "text", "what"),
    [
        (100_000, LEAKING, r"window must end before the run does, after \d+ cycles, not in 100000"),
        (29, LEAKING.replace("leakage_power_unit", "other_unit"), r"hand\.lib must have a leakage_power_unit"),
        (29, LEAKING, r"hand\.lib has no clock gate: --no-gate-clocks keeps enables"),
        (29, NAND2_UNITS.read_text(), r"hand\.lib must have capacitances, a supply and internal powers"),
    ],
)
def test_what_cannot_be_priced_is_refused_before_a_netlist_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last: int, text: str, what: str
) -> None:
    monkeypatch.setattr(power, "timed", lambda *given, **more: pytest.fail("a netlist takes minutes"))
    (tmp_path / "hand.lib").write_text(text)
    design = small()
    with pytest.raises(ValueError, match=what):
        request = Request(TRACE, tmp_path / "hand.lib", 20, last, gates="no clock gate" in what)
        machine_power(design.scheme, design.config, request, silent)


def test_windows_that_follow_each_other_are_the_whole_run() -> None:
    design, workload = small(), workload_of("baseline")
    run = golden_run(design.scheme, design.config, "tiny", TRACE, silent)
    ends = (0, 30, run.cycles)
    windows = [
        window_of(design.scheme, design.config, workload, first, last - 1) for first, last in itertools.pairwise(ends)
    ]
    assert all(one.instructions > 0 for one in windows)
    assert sum(one.instructions for one in windows) == run.instructions
    assert sum(one.operands for one in windows) == run.operands_checked
    assert {name: sum(one.counters[name] for one in windows) for name in run.counters} == run.counters


def reported(gigahertz: float, **more: Any) -> PowerReport:
    """40 pJ of memories and 150 of logic in 10 cycles, 5 instructions and no operand."""
    logic = NetlistPower(7, 30, 80.0, 20.0, 50.0, more.get("wires"), more.get("clock_wires"), 2.0)
    netlist: Any = SimpleNamespace(flip_flops=12, clock_gates=3, to_json=lambda: {"area": 9})
    window = Window({}, 5, more.get("operands", 0))
    return PowerReport(netlist, logic, more.get("memories", 40.0), window, 20, 29, 4.0, gigahertz)


def test_a_cycle_costs_the_sum_of_its_parts_and_a_milliwatt_is_a_picojoule_per_nanosecond() -> None:
    """2 mW leak 4 pJ in 2 ns; 8, 2, 5 and 4 pJ are used. At 0.5 GHz a cycle of 23 pJ is 11.5 mW."""
    found = reported(0.5)
    assert [found.part(name) for name in PARTS] == [8, 2, 5, None, None, 4, 4]
    assert (found.picojoules, found.milliwatts) == (23, 11.5)
    assert (found.per_instruction, found.per_operand) == (46, None)
    assert reported(0.5, operands=10).per_operand == 23
    assert reported(0.5, wires=10.0, clock_wires=20.0).picojoules == 26
    assert reported(0.5, memories=None).picojoules == 19
    facts: Any = json.loads(json.dumps(found.to_json()))
    assert (facts["leakage_milliwatts"], facts["ungated_flip_flops"]) == (2, 7)
    assert facts["picojoules_per_cycle"]["all"] == 23 and facts["netlist"]["area"] == 9


@pytest.mark.needs("iverilog", "sta", "osu018")
@pytest.mark.check
def test_a_netlist_of_the_timed_flow_is_priced_part_by_part(root: Path, tmp_path: Path) -> None:
    """With osu018, which has no clock gates. Its memories are those of the window at 180 nm."""
    from warpfile.tools import OSU018

    design = small()
    request = Request(TRACE, OSU018, 20, 39, gates=False, root=tmp_path)
    found = machine_power(design.scheme, design.config, request, silent)
    assert found.power.clock > 0 < found.power.gates and found.power.registers > 0
    assert found.memories and found.memories > 0 and found.power.wires is None
    assert found.gigahertz == pytest.approx(1 / found.nanoseconds)


def test_the_command_shows_scheme_and_baseline(invoke: Invoke, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without making a netlist."""
    asked: list[Request] = []

    def found(chosen: Any, request: Request, report: object) -> dict[Any, PowerReport]:
        asked.append(request)
        designs = [it for one in chosen for it in (one, one.baseline)]
        return {(it.scheme.name, it.config): reported(0.5 if it.scheme.name == "bow" else 1.0) for it in designs}

    monkeypatch.setattr(power, "power_of", found)
    monkeypatch.setattr("warpfile.tools.find", lambda name: "there")
    more = ("--preset", "tiny", "--cycles", "20:29", "--delays", "cells.lib", "--json", "facts.json")
    result = invoke("power", "bow", "warp_reduce", *more)
    assert result.exit_code == 0, result.stderr
    assert "baseline, tiny" in result.stdout and "+9.5%" in result.stdout  # 23 pJ of 21
    assert "without a gate" in result.stdout and "The netlist is not placed" in result.stdout
    assert (asked[0].first, asked[0].last, asked[0].wires, asked[0].gates) == (20, 29, False, True)
    facts = json.loads((folder / "facts.json").read_text())["schemes"]["bow"]
    assert facts["milliwatts"] == 11.5 and facts["baseline"]["milliwatts"] == 21


@pytest.mark.parametrize(
    ("more", "what"),
    [
        (("--delays", "cells.lib"), "Missing option '--cycles'"),
        (("--cycles", "20:29"), "Missing option '--delays'"),
        (("--cycles", "29:20", "--delays", "cells.lib"), "--cycles must be FIRST:LAST, two cycles"),
    ],
)
def test_a_wrong_request_is_refused_in_one_line(invoke: Invoke, more: tuple[str, ...], what: str) -> None:
    result = invoke("power", "bow", "warp_reduce", *more)
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert what in result.stderr


def test_a_missing_tool_is_said(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warpfile.tools.find", lambda name: None if name == "iverilog" else "there")
    result = invoke("power", "bow", "warp_reduce", "--cycles", "20:29", "--delays", "cells.lib")
    assert result.exit_code == 2 and "iverilog is missing" in result.stderr
