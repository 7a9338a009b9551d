"""The critical path of a whole design: drivers from the library, memories as borders, the timer's report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from warpfile.synth import timing
from warpfile.synth.drive import load_femtofarads, mid_size_buffer, with_longer_delays, with_memories
from warpfile.synth.fanout import LIMIT
from warpfile.synth.liberty import Liberty, read_liberty
from warpfile.synth.timing import AIM, CriticalPath, PathCell, critical_path

needs_sta = pytest.mark.needs("sta")

#: Every delay is its base plus 1 ns per pF of load, whatever the input's slope; every input has 0.01 pF.
HEAD = """\
library(hand) {
  delay_model: table_lookup; time_unit: "1ns"; capacitive_load_unit(1, pf);
  voltage_unit: "1V"; current_unit: "1mA"; pulling_resistance_unit: "1kohm"; leakage_power_unit: "1nW";
  input_threshold_pct_rise: 50; input_threshold_pct_fall: 50;
  output_threshold_pct_rise: 50; output_threshold_pct_fall: 50;
  slew_lower_threshold_pct_rise: 20; slew_lower_threshold_pct_fall: 20;
  slew_upper_threshold_pct_rise: 80; slew_upper_threshold_pct_fall: 80;
  lu_table_template(t) { variable_1: input_net_transition; variable_2: total_output_net_capacitance;
    index_1("0, 1"); index_2("0, 10"); }
"""
CHECK = (
    'timing() { related_pin: "C"; timing_type: setup_rising;'
    ' rise_constraint(scalar) { values("0.05"); } fall_constraint(scalar) { values("0.05"); } }'
)


def tables(base: float) -> str:
    delay, slope = f'"{base}, {base + 10}"', '"0.01, 0.01"'
    names = {"cell_rise": delay, "cell_fall": delay, "rise_transition": slope, "fall_transition": slope}
    return " ".join(f"{name}(t) {{ values({row}, {row}); }}" for name, row in names.items())


def gate(name: str, area: float, function: str, base: float, sense: str, most: float = 5.0) -> str:
    inputs = sorted(set(function) & set("AB"))
    pins = "".join(f"  pin({pin}) {{ direction: input; capacitance: 0.01; }}\n" for pin in inputs)
    arcs = "".join(
        f'    timing() {{ related_pin: "{pin}"; timing_sense: {sense}; {tables(base)} }}\n' for pin in inputs
    )
    output = f'  pin(Y) {{ direction: output; function: "{function}"; max_capacitance: {most};\n{arcs}  }}\n'
    return f"cell({name}) {{ area: {area};\n{pins}{output}}}\n"


FLIP_FLOP = f"""\
cell(DFF) {{ area: 8; ff(IQ, IQN) {{ clocked_on: "C"; next_state: "D"; }}
  pin(C) {{ direction: input; clock: true; capacitance: 0.01; }}
  pin(D) {{ direction: input; capacitance: 0.01; {CHECK} }}
  pin(Q) {{ direction: output; function: "IQ";
    timing() {{ related_pin: "C"; timing_type: rising_edge; {tables(0.1)} }} }} }}
"""
CELLS = (
    gate("INV", 1, "A'", 0.02, "negative_unate"),
    gate("NAND2", 2, "(A*B)'", 0.03, "negative_unate"),
    gate("BUF", 3, "A", 0.04, "positive_unate"),
    FLIP_FLOP,
)

WIDE = """\
module warpfile(clk, a, y);
  input clk, a; output [199:0] y;
  part inner (.clk(clk), .a(a), .y(y));
endmodule
module part(clk, a, y);
  input clk, a; output [199:0] y; reg one;
  always @(posedge clk) one <= a;
  assign y = {200{one}};
endmodule
"""

MEMORY = """\
module warpfile(clk, address, y);
  input clk; input [1:0] address; output [3:0] y;
  wire [3:0] data; reg [1:0] held;
  always @(posedge clk) held <= address;
  assign y = %s;
  ram rows (.clk(clk), .address(%s), .data(data));
endmodule
module ram(clk, address, data);
  input clk; input [1:0] address; output reg [3:0] data;
  always @(posedge clk) data <= {2{address}};
endmodule
"""

#: What OpenSTA 2.0.17 printed of a design with the cells above, from the start point to the slack.
REPORT = """\
Startpoint: held[0]_reg (rising edge-triggered flip-flop clocked by clk)
Endpoint: rows (rising edge-triggered flip-flop clocked by clk)
Path Group: clk
Path Type: max

    Delay      Time   Description
-------------------------------------------------------------
   0.0000    0.0000   clock clk (rise edge)
   0.0000    0.0000   clock network delay (ideal)
   0.0000    0.0000 ^ held[0]_reg/C (DFF)
   0.1100    0.1100 v held[0]_reg/Q (DFF)
   0.0600    0.1700 ^ _3_/Y (INV)
   0.0000    0.1700 ^ rows/address[0] (ram)
             0.1700   data arrival time

  10.0000   10.0000   clock clk (rise edge)
   0.0000   10.0000   clock network delay (ideal)
   0.0000   10.0000   clock reconvergence pessimism
            10.0000 ^ rows/clk (ram)
   0.0000   10.0000   library setup time
            10.0000   data required time
-------------------------------------------------------------
            10.0000   data required time
            -0.1700   data arrival time
-------------------------------------------------------------
             9.8300   slack (MET)
path end
"""


def library(folder: Path, *cells: str) -> Liberty:
    path = folder / "hand.lib"
    path.write_text(HEAD + "".join(cells or CELLS) + "}\n")
    return read_liberty(path)


def test_the_buffer_is_the_middle_one_of_those_that_drive_more_than_smaller_ones(tmp_path: Path) -> None:
    sizes = {"X1": (2, 1.0), "X2": (3, 2.0), "SLOW": (4, 1.5), "X4": (5, 4.0), "X8": (9, 8.0)}
    found = [gate(name, area, "A", 0.04, "positive_unate", most) for name, (area, most) in sizes.items()]
    banned = gate("BANNED", 4, "A", 0.04, "positive_unate", 3.0).replace("area: 4;", "area: 4; dont_use: true;")
    assert mid_size_buffer(library(tmp_path, *CELLS[:2], FLIP_FLOP, *found, banned)).name == "X2"
    assert mid_size_buffer(library(tmp_path, *CELLS[:2], FLIP_FLOP, *found[1:])).name == "X4"


def test_a_load_is_given_in_femtofarads(tmp_path: Path) -> None:
    cells = library(tmp_path)
    assert load_femtofarads(cells, mid_size_buffer(cells)) == pytest.approx(4 * 10.0)
    path = tmp_path / "other.lib"
    path.write_text(cells.text.replace("(1, pf)", '(2.0, "ff")'))
    other = read_liberty(path)
    assert load_femtofarads(other, mid_size_buffer(other)) == pytest.approx(4 * 0.01 * 2)


def test_a_library_without_timing_is_refused_in_one_line() -> None:
    with pytest.raises(ValueError, match=r"^nand2\.lib cannot time: no buffer .* has timing tables$"):
        critical_path(WIDE, "warpfile", [], read_liberty())


def test_a_missing_timer_is_a_reason_and_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing.tools, "find", lambda _: None)
    monkeypatch.setattr(timing, "map_for_speed", lambda *_: pytest.fail("synthesised for nothing"))
    found = critical_path(WIDE, "warpfile", [], library(tmp_path))
    assert (found.nanoseconds, found.reason) == (None, timing.tools.missing("sta"))
    assert json.loads(json.dumps(found.to_json()))["nanoseconds"] is None


def test_memories_become_cells_of_the_library(tmp_path: Path) -> None:
    cells = library(tmp_path)
    ports = {"clk": ("input", 1), "write": ("input", 1), "row": ("input", 3), "data": ("output", 8)}
    ram = {"ports": {name: {"direction": way, "bits": [0] * width} for name, (way, width) in ports.items()}}
    path = tmp_path / "more.lib"
    path.write_text(with_memories(cells, mid_size_buffer(cells), {"ram": ram}, "clk"))
    assert set(read_liberty(path).cells) == {*cells.cells, "ram"}
    assert path.read_text().count("type(bits_") == 2


def test_the_report_of_the_timer_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(timing.tools, "find", lambda _: "sta")
    monkeypatch.setattr(timing, "_sta", lambda *_: REPORT)
    found = critical_path(MEMORY % ("data", "~held"), "warpfile", ["ram"], library(tmp_path), aim_ns=AIM)
    assert found.nanoseconds == 0.17
    assert (found.start, found.end) == ("held[0]_reg/Q", "rows/address[0]")
    assert found.cells == (PathCell("held[0]_reg", "DFF", 0.11), PathCell("_3_", "INV", 0.17))
    facts = json.loads(json.dumps(found.to_json()))
    assert facts["cells"][1] == {"instance": "_3_", "cell": "INV", "nanoseconds": 0.17}
    assert facts["fan_out"] == {"before": 1, "after": 1, "buffers": 0}


def test_a_design_without_paths_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(timing.tools, "find", lambda _: "sta")
    monkeypatch.setattr(timing, "_sta", lambda *_: "No paths found.\npath end\n")
    found = critical_path(MEMORY % ("data", "~held"), "warpfile", ["ram"], library(tmp_path), aim_ns=AIM)
    assert found.nanoseconds is None and "no path" in found.reason


@needs_sta
def test_a_path_ends_at_the_pins_of_a_memory(tmp_path: Path) -> None:
    """Register 0.1 and one load of 0.01; inverter 0.02 and four loads at the memory, which needs no setup time."""
    found = critical_path(MEMORY % ("data", "~held"), "warpfile", ["ram"], library(tmp_path))
    assert found.nanoseconds == pytest.approx(0.1 + 0.01 + 0.02 + 0.04)
    assert found.start.startswith("held[") and found.end.startswith("rows/address[")


@needs_sta
def test_a_path_begins_at_the_pins_of_a_memory(tmp_path: Path) -> None:
    """Buffer 0.04 and one load of 0.01; inverter 0.02 and the four loads behind a port."""
    found = critical_path(MEMORY % ("~data", "address"), "warpfile", ["ram"], library(tmp_path))
    assert found.nanoseconds == pytest.approx(0.04 + 0.01 + 0.02 + 0.04)
    assert found.start.startswith("rows/data[") and found.end.startswith("y[")
    assert [cell.cell for cell in found.cells] == ["ram", "INV"]


@needs_sta
def test_a_memory_takes_its_time_before_its_outputs_change(tmp_path: Path) -> None:
    """FO4 of these cells: inverter 0.02 and four loads of 0.01. Ten of them come before the buffer at the output."""
    found = critical_path(MEMORY % ("~data", "address"), "warpfile", ["ram"], library(tmp_path), access_fo4={"ram": 10})
    assert found.nanoseconds == pytest.approx(0.04 + 0.01 + 0.02 + 0.04)
    slow = found.with_access
    assert slow and slow.fo4_ns == pytest.approx(0.06) and slow.access_fo4 == {"ram": 10}
    assert slow.nanoseconds == pytest.approx(10 * 0.06 + found.nanoseconds)
    assert slow.start.startswith("rows/data[") and slow.end.startswith("y[")
    assert CriticalPath.from_json(json.loads(json.dumps(found.to_json()))) == found


@needs_sta
@pytest.mark.parametrize(("fo4", "start", "ns"), [(1, "held[", 0.17), (2, "rows/data[", 2 * 0.06 + 0.04 + 0.04)])
def test_the_slowest_path_is_another_one_where_a_memory_is_slow(
    tmp_path: Path, fo4: float, start: str, ns: float
) -> None:
    """From a register to the memory 0.17; from the memory to a port buffer 0.04 and four loads, and its time."""
    found = critical_path(MEMORY % ("data", "~held"), "warpfile", ["ram"], library(tmp_path), access_fo4={"ram": fo4})
    assert found.start.startswith("held[") and found.nanoseconds == pytest.approx(0.17)
    assert found.with_access and found.with_access.nanoseconds == pytest.approx(ns)
    assert found.with_access.start.startswith(start)


def test_delays_of_tables_grow_and_transitions_do_not() -> None:
    tables = 'cell_rise(t) { values("0.1, 0.2", "1e-3, 4"); }\nrise_transition(t) { values("0.5"); }'
    assert with_longer_delays(tables, 1) == tables.replace('"0.1, 0.2", "1e-3, 4"', '"1.1, 1.2", "1.001, 5"')


@needs_sta
def test_a_large_net_is_slower_without_trees(tmp_path: Path) -> None:
    """One register before 200 ports of four loads each, or before 13 buffers, one of them before a port and 15 more."""
    cells = library(tmp_path)
    bare, buffered = (critical_path(WIDE, "warpfile", [], cells, buffered=trees) for trees in (False, True))
    assert bare.nanoseconds == pytest.approx(0.1 + 200 * 0.04)
    assert buffered.nanoseconds == pytest.approx(0.1 + 13 * 0.01 + 0.04 + 0.04 + 15 * 0.01 + 0.04 + 0.04)
    assert buffered.fan_out and (buffered.fan_out.before, buffered.fan_out.after) == (200, LIMIT)
    assert [cell.cell for cell in buffered.cells] == ["DFF", "BUF", "BUF"]


@needs_sta
@pytest.mark.parametrize(
    ("netlist", "what"),
    [
        ("module warpfile(;", "syntax error"),
        ("module warpfile(a); input a; NONE u (.A(a)); endmodule", "NONE"),
    ],
)
def test_what_the_timer_refuses_is_an_error(tmp_path: Path, netlist: str, what: str) -> None:
    script = 'read_liberty cells.lib\nread_verilog mapped.v\nlink_design warpfile\nputs "path end"\n'
    with pytest.raises(timing.TimingError, match=f"OpenSTA refuses: .*{what}"):
        timing._sta(netlist, library(tmp_path).text, script)
