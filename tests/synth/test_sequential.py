"""What stores is read from a library, and simulates as its Liberty file says."""

import subprocess
from pathlib import Path

import pytest

from warpfile.synth.gates import gate_verilog
from warpfile.synth.liberty import Liberty, read_liberty
from warpfile.synth.sequential import ClockGate, FlipFlop, clock_pins, sequential

#: A flip-flop with a low reset and both outputs, one that stores the opposite and has a preset, clock gates without and
#: with a pin for tests, and what is refused: a latch, a falling edge, a gate with an OR.
LIBRARY = """\
library (hand) {
  cell (NAND2) { area : 4;
    pin (A) { direction : input; }
    pin (B) { direction : input; }
    pin (Y) { direction : output; function : "(A B)'"; }
  }
  cell (DFFR) { area : 6;
    ff ("IQ","IQN") { next_state : "D"; clocked_on : "CK"; clear : "!R"; }
    pin (D) { direction : input; } pin (CK) { direction : input; } pin (R) { direction : input; }
    pin (Q) { direction : output; function : "IQ"; }
    pin (QN) { direction : output; function : "IQN"; }
  }
  cell (DFFN) { area : 6;
    ff (IQN, IQNN) { next_state : "!D"; clocked_on : "CK"; preset : "S"; }
    pin (D) { direction : input; } pin (CK) { direction : input; } pin (S) { direction : input; }
    pin (QN) { direction : output; function : "IQN"; }
  }
  cell (GATE) { area : 7; clock_gating_integrated_cell : "latch_posedge";
    pin (C) { direction : input; clock_gate_clock_pin : "true"; }
    pin (E) { direction : input; clock_gate_enable_pin : true; }
    pin (G) { direction : output; clock_gate_out_pin : "true"; }
  }
  cell (GATET) { area : 8; clock_gating_integrated_cell : latch_posedge_precontrol;
    pin (C) { direction : input; clock_gate_clock_pin : true; }
    pin (E) { direction : input; clock_gate_enable_pin : true; }
    pin (T) { direction : input; clock_gate_test_pin : true; }
    pin (G) { direction : output; clock_gate_out_pin : true; }
  }
  cell (LATCH) { area : 5; latch (IQ, IQN) { data_in : "D"; enable : "E"; }
    pin (D) { direction : input; } pin (E) { direction : input; }
    pin (Q) { direction : output; function : "IQ"; }
  }
  cell (FALLING) { area : 6; ff (IQ, IQN) { next_state : "D"; clocked_on : "!CK"; }
    pin (D) { direction : input; } pin (CK) { direction : input; }
    pin (Q) { direction : output; function : "IQ"; }
  }
  cell (ORGATE) { area : 7; clock_gating_integrated_cell : "latch_negedge";
    pin (C) { direction : input; clock_gate_clock_pin : true; }
    pin (E) { direction : input; clock_gate_enable_pin : true; }
    pin (G) { direction : output; clock_gate_out_pin : true; }
  }
}
"""


@pytest.fixture
def library(tmp_path: Path) -> Liberty:
    path = tmp_path / "hand.lib"
    path.write_text(LIBRARY)
    return read_liberty(path)


def test_flip_flops_and_clock_gates_are_read(library: Liberty) -> None:
    assert sequential(library, {"NAND2", "DFFR", "DFFN", "GATE", "GATET", "a module"}) == {
        "DFFR": FlipFlop("CK", "D", "IQ", "IQN", clear="!R"),
        "DFFN": FlipFlop("CK", "!D", "IQN", "IQNN", preset="S"),
        "GATE": ClockGate("C", ("E",), "G"),
        "GATET": ClockGate("C", ("E", "T"), "G"),
    }
    assert clock_pins(library, {"DFFR", "GATE", "NAND2"}) == {"DFFR": "CK", "GATE": "C"}


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        ("LATCH", "LATCH must be no latch"),
        ("FALLING", "FALLING must take its data at the rising edge of a pin"),
        ("ORGATE", "ORGATE must be a latch before an AND"),
    ],
)
def test_what_stores_in_another_way_is_refused(library: Liberty, kind: str, what: str) -> None:
    with pytest.raises(ValueError, match=f"{what} for its switching to be counted"):
        sequential(library, {"NAND2", kind})


_BENCH = """\
module bench;
  reg clk = 0, d = 0, r = 1, e = 0, t = 0, s = 0;
  wire q, qn, opposite, gated;
  cells dut (clk, d, r, e, t, s, q, qn, opposite, gated);
  initial begin
{steps}
    $finish;
  end
endmodule
"""


def simulated(library: Liberty, folder: Path, steps: str) -> list[str]:
    """What a bench prints that drives one of each: the flip-flop DFFN is clocked by the gate GATET."""
    names = ["clk", "d", "r", "e", "t", "s", "q", "qn", "opposite", "gated"]
    ports = {name: {"direction": "input" if at < 6 else "output", "bits": [at + 2]} for at, name in enumerate(names)}
    bit = {name: [at + 2] for at, name in enumerate(names)}
    cells = {
        "a": ("DFFR", {"D": "d", "CK": "clk", "R": "r", "Q": "q", "QN": "qn"}),
        "b": ("GATET", {"C": "clk", "E": "e", "T": "t", "G": "gated"}),
        "c": ("DFFN", {"D": "d", "CK": "gated", "S": "s", "QN": "opposite"}),
    }
    written = {
        name: {"type": kind, "connections": {pin: bit[net] for pin, net in pins.items()}}
        for name, (kind, pins) in cells.items()
    }
    text = gate_verilog({"modules": {"cells": {"ports": ports, "cells": written}}}, library, (), "")
    (folder / "bench.v").write_text(text + _BENCH.format(steps=steps))
    subprocess.run(["iverilog", "-g2005", "-o", folder / "bench", folder / "bench.v"], check=True)
    return subprocess.run([folder / "bench"], check=True, capture_output=True, text=True).stdout.splitlines()


@pytest.mark.needs("iverilog")
def test_a_reset_comes_without_a_clock_and_data_with_its_rising_edge(library: Liberty, tmp_path: Path) -> None:
    steps = """\
    #1 r = 0; #1 $display("%b%b", q, qn);
    r = 1; d = 1; #1 $display("%b%b", q, qn);
    clk = 1; #1 $display("%b%b", q, qn);
    d = 0; #1 clk = 0; #1 $display("%b%b", q, qn);
    clk = 1; #1 $display("%b%b", q, qn);
    clk = 0;"""
    assert simulated(library, tmp_path, steps) == ["01", "01", "10", "10", "01"]


@pytest.mark.needs("iverilog")
def test_a_gate_lets_a_whole_pulse_through_or_none(library: Liberty, tmp_path: Path) -> None:
    """The enable counts as it was when the clock rose; the flip-flop behind the gate stores the opposite of its data.

    A preset of that flip-flop comes without a clock.
    """
    steps = """\
    #1 e = 1; #1 clk = 1; #1 $display("%b%b", gated, opposite);
    e = 0; #1 $display("%b%b", gated, opposite);
    clk = 0; d = 1; #1 clk = 1; #1 $display("%b%b", gated, opposite);
    e = 1; #1 $display("%b%b", gated, opposite);
    e = 0; clk = 0; t = 1; #1 clk = 1; #1 $display("%b%b", gated, opposite);
    s = 1; #1 $display("%b%b", gated, opposite);"""
    assert simulated(library, tmp_path, steps) == ["11", "11", "01", "01", "10", "11"]
