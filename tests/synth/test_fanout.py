"""Buffer trees: every driver within the limit, counted in the flattened netlist, and nothing else changed."""

from __future__ import annotations

import copy
import json
import random
from collections import Counter
from typing import Any

import pytest

from warpfile.synth.drive import Buffer
from warpfile.synth.fanout import CLOCK, LIMIT, FanOut, Netlist, Urgency, buffer_trees, name_cells
from warpfile.synth.liberty import read_liberty
from warpfile.synth.yosys import YosysError, run

LIBRARY = read_liberty()
BUFFER = Buffer("BUF", "A", "Y", area=1.0, capacitance=1.0, max_capacitance=1.0, tables="")

DESIGN = """\
module top(clk, rst, a, b, y, z);
  input clk, rst, a; input [199:0] b; output [199:0] y; output [39:0] z;
  reg shared; wire [3:0] seen;
  always @(posedge clk) shared <= a & !rst;
  genvar n;
  generate for (n = 0; n < 4; n = n + 1) begin : slice
    part inner (.clk(clk), .rst(rst), .select(shared), .b(b[50*n +: 50]), .y(y[50*n +: 50]), .seen(seen[n]));
  end endgenerate
  assign z = {40{^seen}} ^ b[39:0];
endmodule
(* keep_hierarchy *) module part(clk, rst, select, b, y, seen);
  input clk, rst, select; input [49:0] b; output reg [49:0] y; output seen;
  always @(posedge clk) y <= rst ? 50'b0 : select ? b : y;
  assign seen = select;
endmodule
"""

MAP = """\
read_verilog design.v
hierarchy -top top
synth -flatten -noabc -top top
dfflibmap -liberty cells.lib
abc -liberty cells.lib
opt_clean -purge
delete t:$scopeinfo
write_json mapped.json
"""

EQUIVALENT = """\
read_liberty cells.lib
read_json before.json
hierarchy -top top
setattr -mod -unset keep_hierarchy *
flatten
rename top gold
design -stash gold
design -reset
read_liberty cells.lib
read_json after.json
hierarchy -top top
setattr -mod -unset keep_hierarchy *
flatten
rename top gate
design -copy-from gold gold
equiv_make gold gate both
hierarchy -top both
flatten
equiv_simple
equiv_induct
equiv_status -assert
"""


@pytest.fixture(scope="module")
def mapped() -> dict[str, Any]:
    text = run(MAP, {"design.v": DESIGN, "cells.lib": LIBRARY.text}, ["mapped.json"])["mapped.json"]
    return json.loads(text)


def sinks(netlist: Netlist) -> dict[str, tuple[str, object]]:
    """The net that each cell pin and port of the flattened netlist reads: an independent walk through the hierarchy."""
    same: dict[tuple[str, object], tuple[str, object]] = {}
    read: dict[str, tuple[str, object]] = {}

    def visit(path: str, module: dict[str, Any]) -> None:
        for name, cell in module["cells"].items():
            inner = netlist.get(cell["type"])
            for pin, bits in cell["connections"].items():
                for index, bit in enumerate(bits):
                    if inner:
                        port = inner["ports"][pin]
                        outer, below = (path, bit), (f"{path}/{name}", port["bits"][index])
                        here, there = (below, outer) if port["direction"] == "input" else (outer, below)
                        same[here] = there
                    elif LIBRARY.cells[cell["type"]].directions[pin] == "input":
                        read[f"{path}/{name}.{pin}"] = (path, bit)
            if inner:
                visit(f"{path}/{name}", inner)

    visit("", netlist["top"])
    for name, port in netlist["top"]["ports"].items():
        if port["direction"] == "output":
            read |= {f"{name}[{index}]": ("", bit) for index, bit in enumerate(port["bits"])}
    return {place: root(same, net) for place, net in read.items()}


def root(parents: dict[Any, Any], node: Any) -> Any:
    while node in parents:
        node = parents[node]
    return node


def largest(netlist: Netlist) -> int:
    """Most loads of a driver, without clocks and constants."""
    clocks = {("", bit) for bit in netlist["top"]["ports"][CLOCK]["bits"]}
    found = Counter(net for net in sinks(netlist).values() if net not in clocks and isinstance(net[1], int))
    return max(found.values())


def read_through_buffers(netlist: Netlist) -> dict[str, tuple[str, object]]:
    """What each pin and port reads, with the buffers of the trees taken for wires."""
    found = sinks(netlist)
    parents = {}
    for place, net in found.items():
        path, _, cell = place.rpartition("/")
        if cell.startswith("fan_out_"):
            parents[path, int(cell.removeprefix("fan_out_").removesuffix(".A"))] = net
    return {place: root(parents, net) for place, net in found.items() if "fan_out_" not in place}


def random_module(rng: random.Random, children: dict[str, Any], cells: int) -> dict[str, Any]:
    """Cells and instances with random wires; a few nets, and now and then a constant, are read most."""
    bits = iter(range(1000, 1, -1))  # the clock is the greatest: a new bit must not be the same
    widths = {CLOCK: 1, "i": 3, "o": 4}
    ports = {name: {"direction": "input", "bits": [next(bits) for _ in range(widths[name])]} for name in (CLOCK, "i")}
    made = {f"cell{n}": {"type": "NAND2", "connections": {"Y": [next(bits)]}} for n in range(cells)}
    sources = ["0", *ports["i"]["bits"], *(cell["connections"]["Y"][0] for cell in made.values())]

    def some(width: int) -> list[object]:
        return [rng.choice(sources[:6] if rng.random() < 0.6 else sources) for _ in range(width)]

    for n in range(5 if children else 0):  # a part reads earlier parts only: no ring of wires without a driver
        wires = {CLOCK: list(ports[CLOCK]["bits"]), "i": some(widths["i"])}
        wires["o"] = [next(bits) for _ in range(widths["o"])]
        made[f"part{n}"] = {"type": rng.choice([*children]), "connections": wires}
        sources += wires["o"]
    for n in range(cells):
        made[f"cell{n}"]["connections"] |= {"A": some(1), "B": some(1)}
    ports["o"] = {"direction": "output", "bits": some(widths["o"])}
    wires = {name: {"hide_name": 0, "bits": list(port["bits"])} for name, port in ports.items()}
    wires["rest"] = {"hide_name": 0, "bits": [bit for bit in sources if bit != "0"]}
    return {"ports": ports, "cells": made, "netnames": wires}


def random_netlist(seed: int) -> Netlist:
    rng = random.Random(seed)
    leaves = {f"leaf{n}": random_module(rng, {}, rng.choice([0, 3, 60])) for n in range(2)}
    middles = {f"middle{n}": random_module(rng, leaves, rng.choice([0, 2, 20])) for n in range(2)}
    return leaves | middles | {"top": random_module(rng, middles | leaves, 80)}


def buffered(design: dict[str, Any]) -> tuple[dict[str, Any], FanOut]:
    result = copy.deepcopy(design)
    return result, buffer_trees(result["modules"], "top", LIBRARY.cells, BUFFER)


def equivalent(before: dict[str, Any], after: dict[str, Any]) -> None:
    files = {"before.json": json.dumps(before), "after.json": json.dumps(after), "cells.lib": LIBRARY.text}
    run(EQUIVALENT, files, [])


def test_no_driver_has_more_loads_than_the_limit(mapped: dict[str, Any]) -> None:
    after, fan_out = buffered(mapped)
    assert fan_out.before == largest(mapped["modules"]) > 200
    assert fan_out.after == largest(after["modules"]) <= LIMIT


@pytest.mark.parametrize("seed", range(25))
def test_any_hierarchy_keeps_the_limit_and_its_wires(seed: int) -> None:
    netlist = random_netlist(seed)
    before, wires = largest(netlist), read_through_buffers(netlist)
    fan_out = buffer_trees(netlist, "top", LIBRARY.cells, BUFFER)
    assert before > LIMIT >= max(largest(netlist), fan_out.after)
    assert read_through_buffers(netlist) == wires
    flat = sum("fan_out_" in place for place in sinks(netlist))
    assert fan_out.buffers == flat > 0
    for module in netlist.values():
        assert all(module["netnames"][name]["bits"] == port["bits"] for name, port in module["ports"].items())


def urgency(netlist: Netlist, seed: int) -> Urgency:
    rng = random.Random(seed)
    cells = ((name, module["cells"]) for name, module in netlist.items())
    return Urgency({(name, cell, pin): rng.random() for name, some in cells for cell in some for pin in "ABY"}, 0.1)


@pytest.mark.parametrize("seed", range(25))
def test_trees_by_slack_keep_the_limit_and_the_wires(seed: int) -> None:
    netlist = random_netlist(seed)
    wires = read_through_buffers(netlist)
    fan_out = buffer_trees(netlist, "top", LIBRARY.cells, BUFFER, urgency(netlist, seed))
    assert max(largest(netlist), fan_out.after) <= LIMIT
    assert read_through_buffers(netlist) == wires
    assert fan_out.buffers == sum("fan_out_" in place for place in sinks(netlist)) > 0


@pytest.mark.parametrize("place", [0, 20, 39])
def test_the_most_urgent_load_stays_at_its_driver(place: int) -> None:
    """Forty inverters: without slacks all are behind buffers; with them the urgent one alone is not."""
    cells = {f"cell{n}": {"type": "INV", "connections": {"A": [2], "Y": [n + 3]}} for n in range(40)}
    ports = {"a": {"direction": "input", "bits": [2]}}
    module = {"ports": ports, "cells": cells, "netnames": {"a": {"hide_name": 0, "bits": [2]}}}
    urgent = f"cell{place}"
    slacks = {("top", f"cell{n}", "A"): 0.0 if n == place else 1.0 for n in range(40)}
    level, ordered = copy.deepcopy({"top": module}), copy.deepcopy({"top": module})
    buffer_trees(level, "top", LIBRARY.cells, BUFFER)
    buffer_trees(ordered, "top", LIBRARY.cells, BUFFER, Urgency(slacks, 0.1))
    assert level["top"]["cells"][urgent]["connections"]["A"] != [2]
    near = {
        name
        for name, cell in ordered["top"]["cells"].items()
        if cell["type"] == "INV"
        if cell["connections"]["A"] == [2]
    }
    assert near == {urgent}


def test_a_netlist_within_the_limit_stays_as_it_is() -> None:
    netlist = random_netlist(0)
    buffer_trees(netlist, "top", LIBRARY.cells, BUFFER)
    again = copy.deepcopy(netlist)
    assert buffer_trees(again, "top", LIBRARY.cells, BUFFER).buffers == 0
    assert again == netlist


def test_buffers_do_not_change_the_function(mapped: dict[str, Any]) -> None:
    equivalent(mapped, buffered(mapped)[0])


def test_an_inverter_for_a_buffer_is_found(mapped: dict[str, Any]) -> None:
    after, _ = buffered(mapped)
    cells = after["modules"]["part"]["cells"]
    broken = next(name for name in cells if name.startswith("fan_out_"))
    cells[broken]["type"] = "INV"
    with pytest.raises(YosysError, match="unproven"):
        equivalent(mapped, after)


def test_cells_are_named_after_the_wires_they_drive(mapped: dict[str, Any]) -> None:
    named = copy.deepcopy(mapped)
    name_cells(named["modules"], LIBRARY.cells)
    inner = named["modules"]["part"]["cells"]
    registers = {name for name, cell in inner.items() if cell["type"] == "DFF"}
    assert registers == {f"y[{index}]_reg" for index in range(50)}
    assert "shared_reg" in named["modules"]["top"]["cells"] and "z[7]_gate" in named["modules"]["top"]["cells"]
    equivalent(mapped, named)


def test_a_name_that_is_taken_stays_a_number(mapped: dict[str, Any]) -> None:
    named = copy.deepcopy(mapped)
    top = named["modules"]["top"]
    top["netnames"]["shared_reg"] = {"hide_name": 0, "bits": ["x"], "attributes": {}}
    name_cells(named["modules"], LIBRARY.cells)
    assert "shared_reg" not in top["cells"] and len(top["cells"]) == len(mapped["modules"]["top"]["cells"])


def test_the_clock_gets_no_buffers(mapped: dict[str, Any]) -> None:
    after, _ = buffered(mapped)
    for name, module in after["modules"].items():
        clock = module["ports"][CLOCK]["bits"]
        sinks = [cell["connections"]["C"] for cell in module["cells"].values() if cell["type"] == "DFF"]
        assert sinks and all(bits == clock for bits in sinks), name
