"""Switching, worked by hand in a library of two cells, and the gates that are simulated for it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from warpfile.synth.gates import expression, gate_verilog, instances
from warpfile.synth.liberty import Liberty, read_liberty
from warpfile.synth.switching import middle, powers, switching
from warpfile.synth.timing import _sta
from warpfile.tools import OSU018

#: 1 V, 10 fF per unit: an energy of the file is in 10 fJ. Middles are marked; means are of rise and fall.
LIBRARY = """\
library (hand) {
  capacitive_load_unit (10, ff);
  nom_voltage : 2.0;
  cell (NAND2) {
    area : 2;
    pin (A) { direction : input; capacitance : 3; }
    pin (B) { direction : input; capacitance : 5; }
    pin (Y) {
      direction : output; function : "!(A B)"; capacitance : 0;
      internal_power () { related_pin : "A";
        rise_power (t) { index_1 ("1, 2, 3"); values ("1, 4, 1", "7, 10, 7", "1, 4, 1"); }
        fall_power (t) { values ("1, 2, 3", "5, 20, 6", "7, 8, 9"); }
      }
    }
  }
  cell (DFF) {
    area : 6;
    ff (IQ, IQN) { next_state : "D"; clocked_on : "CK"; }
    pin (D) { direction : input; capacitance : 1; }
    pin (CK) { direction : input; capacitance : 2; clock : true;
      internal_power () { rise_power (s) { values ("6"); } fall_power (s) { values ("8"); } } }
    pin (Q) { direction : output; function : "IQ"; }
  }
}
"""

#: A flip-flop (net 2 by clock 1, data 3) and a gate that makes its data from it and an input.
MODULE: dict[str, Any] = {
    "ports": {
        "clk": {"direction": "input", "bits": [1]},
        "a": {"direction": "input", "bits": [4]},
        "q": {"direction": "output", "bits": [2, "0"]},
    },
    "cells": {
        "f": {"type": "DFF", "connections": {"D": [3], "CK": [1], "Q": [2]}},
        "g": {"type": "NAND2", "connections": {"A": [2], "B": [4], "Y": [3]}},
    },
}


@pytest.fixture
def library(tmp_path: Path) -> Liberty:
    path = tmp_path / "hand.lib"
    path.write_text(LIBRARY)
    return read_liberty(path)


def test_a_net_costs_its_pins_and_what_is_inside_of_cells(library: Liberty) -> None:
    """2 V: half of C V^2 is 2 pJ per pF. In units of 10 fF: pins of 3, 5, 1 and 2 are 0.06, 0.1, 0.02 and 0.04 pJ.

    The gate's output costs the mean of 10 and 20 units inside, 0.15 pJ; a clock edge 7 units, 0.07 pJ.
    """
    toggles = {1: 100, 2: 10, 3: 4, 4: 6}
    found = switching("m", MODULE, 3, toggles, library, powers(library))
    assert found.clock == pytest.approx(100 * (0.04 + 0.07))
    assert found.registers == pytest.approx(10 * 0.06)
    assert found.gates == pytest.approx(4 * (0.02 + 0.15) + 6 * 0.1)
    assert found.picojoules == pytest.approx(11 + 0.6 + 0.68 + 0.6)
    # The toggles of what drives it, not of what comes in.
    assert (found.instances, found.cells, found.flip_flops, found.toggles) == (3, 2, 1, 14)


def test_a_library_without_power_gives_toggles_alone(library: Liberty) -> None:
    bare = read_liberty()
    assert powers(bare) is None
    found = switching("m", MODULE, 1, {2: 1, 3: 1}, library, powers(bare))
    assert (found.toggles, found.picojoules, found.clock) == (2, None, None)


@pytest.mark.parametrize(
    ("table", "value"),
    [
        ('values ("1, 2, 3, 4")', 2),
        ('index_1 ("9, 9"); values ( \\\n "1, 2", \\\n "3, 4");', 1),
        ('values ("1", "2", "3")', 2),
    ],
)
def test_the_middle_of_a_table_is_towards_its_beginning(table: str, value: float) -> None:
    assert middle(table) == value


def test_a_table_without_values_is_refused() -> None:
    with pytest.raises(ValueError, match="a table of internal power must have values"):
        middle('index_1 ("1, 2")')


# Gates as Verilog.


@pytest.mark.parametrize(
    ("function", "written"),
    [
        ("(!((A B)+C))", "( ~ ( ( a & b ) | c ) )"),
        ("A*B'", "a & ~ ( b )"),
        ("(A+B)' C", "~ ( ( a | b ) ) & c"),
        ("A !B", "a & ~ b"),
        ("A^B", "a ^ b"),
        ("A&1|0", "a & 1'b1 | 1'b0"),
    ],
)
def test_functions_are_written_as_verilog(function: str, written: str) -> None:
    assert expression(function, {"A": "a", "B": "b", "C": "c"}) == written


def test_a_netlist_is_written_with_a_name_per_net(library: Liberty) -> None:
    text = gate_verilog({"modules": {"top.m": MODULE}}, library, (), "")
    assert "module top__m (\\clk , \\a , \\q );" in text
    assert "  assign n1 = \\clk [0];" in text and "  assign \\q  = {1'b0, n2};" in text
    assert "  reg s0;" in text and "  always @(posedge n1) s0 <= n3;" in text and "  assign n2 = s0;" in text
    assert "  assign n3 = ~ ( n2 & n4 );" in text


def test_memories_stay_as_they_are_and_instances_are_numbered(library: Liberty) -> None:
    ram = "module ram (\n  input clk\n);\nendmodule\n"
    outer = {"ports": {}, "cells": {"x": {"type": "DFF", "connections": {}}, "y": {"type": "ram", "connections": {}}}}
    outer["cells"]["x"]["connections"] = {"D": ["0"], "CK": [1], "Q": [2]}
    text = gate_verilog(
        {"modules": {"top": outer, "ram": {"ports": {}, "cells": {}}}},
        library,
        ("ram",),
        f"{ram}module a ();\nendmodule\n",
    )
    assert text.endswith(ram) and "  ram i1 ();" in text
    assert instances(outer, library) == {"i1": "ram"}


# Beside OpenSTA.

_NETLIST = """\
module top (clk, a, d, y, z);
  input clk, a, d; output y, z;
  INVX1 h (.A(a), .Y(y));
  INVX1 k (.A(y), .Y(z));
  DFFPOSX1 f (.D(d), .CLK(clk));
endmodule
"""
#: Transitions in 0.42 ns lie in the middle of the tables; every input changes so often in a period of 10 ns.
_SCRIPT = """\
read_liberty cells.lib
read_verilog mapped.v
link_design top
create_clock -name clk -period 10 [get_ports clk]
set_input_delay 0 -clock clk [get_ports {a d}]
set_input_transition 0.42 [all_inputs]
foreach activity {0 1} {
  set_power_activity -input -activity $activity -duty 0.5
  report_power -instances [get_cells {f h}] -digits 6
}
puts "path end"
"""
_POWER = re.compile(r"^ *([\d.e+-]+) +([\d.e+-]+) +[\d.e+-]+ +[\d.e+-]+ ([fh])$", re.MULTILINE)


@pytest.mark.needs("sta", "osu018")
def test_pins_on_a_net_and_inside_of_a_flip_flop_cost_what_opensta_says() -> None:
    """The clock costs the same without activity and with it, so the difference is the data pin's."""
    library = read_liberty(OSU018)
    prices = powers(library)
    assert prices is not None
    report = _sta(_NETLIST, library.text, _SCRIPT)
    found = [(cell, (float(internal), float(outside))) for internal, outside, cell in _POWER.findall(report)]
    idle, busy = dict(found[:2]), dict(found[2:])
    picojoule = 1e-12 / 10e-9  # in a period, as watts
    half = prices.volts**2 / 2
    assert busy["h"][1] == pytest.approx(prices.pins["INVX1"]["A"].picofarads * half * picojoule, rel=1e-4)
    data = prices.pins["DFFPOSX1"]["D"].internal
    assert busy["f"][0] - idle["f"][0] == pytest.approx(data * picojoule, rel=1e-3)
