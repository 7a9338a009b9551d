"""The timed flow: cells left out, trees by slack, exchanged sizes, clock gates, and one netlist for all figures."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from tests.synth.test_timing import CELLS, CHECK, MEMORY, WIDE, gate, library, tables
from warpfile.synth import fo4, timed
from warpfile.synth.dont_use import dont_use
from warpfile.synth.fanout import CLOCK
from warpfile.synth.liberty import Liberty
from warpfile.synth.opensta import Session, TimingError
from warpfile.synth.sizing import size, strength, strengths
from warpfile.synth.timed import TimedNetlist, timed_netlist
from warpfile.synth.timing import AIM, aim, session, worst

needs_sta = pytest.mark.needs("sta")


def sized(name: str, area: float, load: float, slope: float) -> str:
    """A buffer with 0.02 ns and ``slope`` ns per pF, whose input has ``load`` pF."""
    text = gate(name, area, "A", 0.02, "positive_unate").replace("capacitance: 0.01;", f"capacitance: {load};")
    return text.replace(f'"{0.02}, {10.02}"', f'"0.02, {0.02 + 10 * slope}"')


GATE = """\
cell(ICG) { area: 12; clock_gating_integrated_cell: "latch_posedge";
  statetable("C E", "Q") { table: "L L : - : L, L H : - : H, H - : - : N"; }
  pin(Q) { direction: internal; internal_node: "Q"; }
  pin(C) { direction: input; clock: true; clock_gate_clock_pin: true; capacitance: 0.01; }
  pin(E) { direction: input; clock_gate_enable_pin: true; capacitance: 0.01; @ }
  pin(G) { direction: output; clock_gate_out_pin: true; state_function: "Q * C";
    timing() { related_pin: "C"; timing_sense: positive_unate; @@ } } }
""".replace("@@", tables(0.1)).replace("@", CHECK)
ENABLED = """\
module warpfile(clk, on, a, y);
  input clk, on; input [%d:0] a; output reg [%d:0] y;
  always @(posedge clk) if (on) y <= a;
endmodule
"""


def row(drive: str) -> dict[str, Any]:
    """A part with a register before this cell, whose output is that of the design, as a netlist of yosys."""

    def cell(kind: str, **pins: int) -> dict[str, Any]:
        wires = {pin: [bit] for pin, bit in pins.items()}
        return {"hide_name": 0, "type": kind, "parameters": {}, "attributes": {}, "connections": wires}

    ports: dict[str, Any] = {
        name: {"direction": "output" if name == "y" else "input", "bits": [bit]}
        for name, bit in ((CLOCK, 2), ("a", 3), ("y", 4))
    }
    wires = {name: {"hide_name": 0, "bits": port["bits"], "attributes": {}} for name, port in ports.items()}
    top = {"inner": cell("part", clk=2, a=3, y=4)}
    inner = {"one": cell("DFF", C=2, D=3, Q=5), "two": cell(drive, A=5, Y=4)}
    made = {
        name: {"attributes": {}, "ports": ports, "cells": cells, "netnames": wires}
        for name, cells in (("warpfile", top), ("part", inner))
    }
    return {"creator": "", "modules": copy.deepcopy(made)}


def drives(folder: Path, *more: tuple[str, float, float, float]) -> Liberty:
    return library(folder, *CELLS, sized("DRIVE_1", 3, 0.01, 10.0), *(sized(*one) for one in more))


def test_cells_that_a_designer_does_not_use_are_left_out(tmp_path: Path) -> None:
    names = {
        name: f"sky130_fd_sc_hd__{name}" for name in ("nor2_1", "nor4_1", "lpflow_isobufsrc_1", "edfxtp_1", "buf_4")
    }
    cells = library(tmp_path, *CELLS, *(gate(name, 3, "A", 0.04, "positive_unate") for name in names.values()))
    assert dont_use(cells.cells) == {names[name] for name in ("nor4_1", "lpflow_isobufsrc_1", "edfxtp_1")}


def test_strengths_are_cells_of_one_name_and_one_function(tmp_path: Path) -> None:
    cells = drives(tmp_path, ("DRIVE_4", 5, 0.02, 2.0), ("DRIVE_2", 9, 0.02, 4.0), ("OTHER_2", 2, 0.01, 4.0))
    order = ["DRIVE_1", "DRIVE_4", "DRIVE_2"]
    assert strengths(cells) == dict.fromkeys(order, order)


def test_sizes_may_stand_before_the_name_of_the_library(tmp_path: Path) -> None:
    names = ["NAx1p5", "NAxp5", "NAx2f", "NAx4"]
    cells = drives(tmp_path, *((f"{name}_ASAP7_75t_R", area, 0.01, 4.0) for area, name in enumerate(names, 1)))
    order = [f"{name}_ASAP7_75t_R" for name in names]
    assert strengths(cells) == dict.fromkeys(order, order)


@pytest.mark.parametrize(
    ("name", "number"),
    [("sg13g2_inv_4", 4), ("INVX2", 2), ("INVx1p5_ASAP7_75t_R", 1.5), ("BUFxp67f_ASAP7_75t_R", 0.67), ("PLAIN", 1)],
)
def test_the_strength_of_a_cell_is_in_its_name(name: str, number: float) -> None:
    assert strength(name) == number


def test_a_library_with_short_delays_has_a_shorter_aim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = library(tmp_path, *CELLS)
    for measured, aimed in ((0.02, 0.3), (0.5, AIM)):
        monkeypatch.setattr(fo4, "nanoseconds", lambda _library, measured=measured: measured)
        assert aim(cells) == pytest.approx(aimed)
    without = library(tmp_path, *(cell for cell in CELLS if "A'" not in cell))
    monkeypatch.setattr(fo4, "nanoseconds", lambda _library: 1 / 0)
    assert aim(without) == AIM, "one without inverters is not asked"


@needs_sta
def test_a_cell_is_exchanged_where_that_shortens_the_path(tmp_path: Path) -> None:
    """Register 0.1 and the driver's input; 0.02 and four loads at 10 ns per pF, or at 2.5 for four times the input."""
    cells = drives(tmp_path, ("DRIVE_4", 5, 0.04, 2.5))
    design = row("DRIVE_1")
    with session(design, "warpfile", [], cells) as timer:
        assert worst(timer).nanoseconds == pytest.approx(0.1 + 0.01 + 0.02 + 0.4)
        assert size(timer, design["modules"], "warpfile", cells) == 1
        assert worst(timer).nanoseconds == pytest.approx(0.1 + 0.04 + 0.02 + 0.1)
    assert design["modules"]["part"]["cells"]["two"]["type"] == "DRIVE_4"
    with session(design, "warpfile", [], cells) as timer:  # what is counted is what was timed
        assert worst(timer).nanoseconds == pytest.approx(0.1 + 0.04 + 0.02 + 0.1)


@needs_sta
def test_a_stronger_cell_that_costs_more_than_it_gains_is_not_taken(tmp_path: Path) -> None:
    """Its input costs the register 0.4 ns more, and four loads gain 0.3."""
    cells = drives(tmp_path, ("DRIVE_4", 5, 0.41, 2.5))
    design = row("DRIVE_1")
    with session(design, "warpfile", [], cells) as timer:
        assert size(timer, design["modules"], "warpfile", cells) == 0
        assert worst(timer).nanoseconds == pytest.approx(0.1 + 0.01 + 0.02 + 0.4)
    assert design == row("DRIVE_1")


@needs_sta
def test_fo4_is_an_inverter_with_four_behind_it(tmp_path: Path) -> None:
    assert fo4.nanoseconds(library(tmp_path)) == pytest.approx(0.02 + 4 * 0.01)


@needs_sta
def test_area_cells_and_path_are_those_of_one_netlist(tmp_path: Path) -> None:
    """A register before 200 ports: 13 buffers, or as many as the slacks ask for."""
    cells = library(tmp_path)
    found = timed_netlist(WIDE, "warpfile", [], cells)
    fan_out = found.path.fan_out
    assert fan_out and (found.flip_flops, found.cells) == (1, 1 + fan_out.buffers)
    assert found.area == 8 + 3 * fan_out.buffers and found.nand2_equivalents == found.area / 2
    assert found.path.nanoseconds and found.mapped_ns and 0.3 < found.path.nanoseconds <= found.mapped_ns
    assert found.fo4 == pytest.approx(found.path.nanoseconds / 0.06)
    assert TimedNetlist.from_json(json.loads(json.dumps(found.to_json()))) == found
    assert timed_netlist(WIDE, "warpfile", [], cells) == found


@needs_sta
def test_a_path_with_access_times_stands_beside_the_one_without(tmp_path: Path) -> None:
    """From the memory to a port buffer 0.04 and four loads, behind its time; FO4 is 0.06."""
    design, cells = (MEMORY % ("data", "held"), "warpfile", ["ram"]), library(tmp_path)
    bare = timed_netlist(*design, cells)
    found = timed_netlist(*design, cells, access_fo4={"ram": 20})
    assert bare.path.with_access is None and found.path.nanoseconds == bare.path.nanoseconds
    slow = found.path.with_access
    assert slow and slow.nanoseconds == pytest.approx(20 * 0.06 + 0.04 + 0.04)
    assert slow.start.startswith("rows/data[") and slow.access_fo4 == {"ram": 20}
    assert TimedNetlist.from_json(json.loads(json.dumps(found.to_json()))) == found


def test_without_a_timer_there_is_a_netlist_and_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timed.tools, "find", lambda _: None)
    found = timed_netlist(WIDE, "warpfile", [], library(tmp_path))
    assert (found.path.nanoseconds, found.path.reason) == (None, timed.tools.missing("sta"))
    assert found.flip_flops == 1 and found.cells > 10 and found.fo4 is None and found.swaps == 0


@needs_sta
@pytest.mark.parametrize(("bits", "gates"), [(8, 1), (7, 0)])
def test_flip_flops_with_one_enable_share_a_clock_gate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bits: int, gates: int
) -> None:
    """With one script: the other one stops where a library of a single strength has to make multiplexers."""
    monkeypatch.setattr(timed, "SCRIPTS", {"yosys": ""})
    cells = library(tmp_path, *CELLS, GATE)
    found = timed_netlist(ENABLED % (bits - 1, bits - 1), "warpfile", [], cells, gates=True)
    assert (found.flip_flops, found.clock_gates) == (bits, gates)
    assert found.ungated_area and found.gated_area
    assert (found.gated_area == 8 * bits + 12) if gates else (found.gated_area == found.ungated_area)
    assert found.ungated_area > found.gated_area or not gates


def test_gates_need_a_library_that_has_one(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^hand\.lib has no clock gate$"):
        timed_netlist(WIDE, "warpfile", [], library(tmp_path), gates=True)


@needs_sta
@pytest.mark.parametrize(
    ("netlist", "command", "what"),
    [("module m(;", "", "syntax error"), ("module m(a); input a; endmodule", "replace_cell no INV", "no")],
)
def test_what_a_session_refuses_is_an_error(tmp_path: Path, netlist: str, command: str, what: str) -> None:
    files = {"cells.lib": library(tmp_path).text, "m.v": netlist}
    script = "read_liberty cells.lib\nread_verilog m.v\nlink_design m\n"
    with pytest.raises(TimingError, match=f"OpenSTA refuses: .*{what}"), Session(files, script) as timer:
        timer.ask(command)
