"""A design without hierarchy has the same cells, the same nets and the same path."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.synth.wires.designs import TOP, design, small
from warpfile.synth.liberty import Liberty
from warpfile.synth.timed import cell_counts
from warpfile.synth.timing import session, worst
from warpfile.synth.wires.flat import Pin


def test_every_cell_is_there_once_per_instance(liberty: Liberty) -> None:
    flat = small()
    kinds = Counter(one["type"] for one in flat.cells.values())
    assert kinds.pop("ram") == 1 and kinds == cell_counts(design()["modules"], TOP, liberty)
    assert kinds == {"DFF": 2, "INV": 6, "NAND2": 1}


def test_cells_keep_the_names_of_the_hierarchy() -> None:
    flat = small()
    assert {"one/reg", "two/inv2", "last", "rows"} <= set(flat.paths.values())
    reg = next(name for name, path in flat.paths.items() if path == "two/reg")
    assert flat.named(f"{reg}/Q") == "two/reg/Q" and flat.named("y") == "y"


def test_what_is_wired_through_a_module_is_one_net(liberty: Liberty) -> None:
    flat = small()
    named = {path: name for name, path in flat.paths.items()}
    net = next(net for net in flat.nets(liberty.cells).values() if net.driver == Pin(named["one/inv2"], "Y"))
    assert net.loads == [Pin(named["two/reg"], "D")]
    assert flat.cells[named["last"]]["connections"]["B"] == ["1"]


def test_every_bit_of_a_bus_is_a_pin_of_its_own(liberty: Liberty) -> None:
    flat = small()
    rows = next(name for name, path in flat.paths.items() if path == "rows")
    ends = {net.driver: net.loads for net in flat.nets(liberty.cells).values()}
    assert ends[Pin("", "row", 1)] == [Pin(rows, "address", 1)] and ends[Pin(rows, "data", 0)] == [Pin("", "out", 0)]


@pytest.mark.needs("sta")
def test_the_path_is_that_of_the_hierarchy(liberty: Liberty) -> None:
    """Register 0.1, three inverters, register or memory; the NAND2 behind drives four buffers."""
    flat = small()
    with session(design(), TOP, ["ram"], liberty) as timer:
        before = worst(timer)
    with session(flat.design, TOP, ["ram"], liberty, flat.verilog()) as timer:
        after = worst(timer)
    assert after.nanoseconds == before.nanoseconds
    assert (flat.named(after.start), flat.named(after.end)) == (before.start, before.end)


def test_an_inserted_cell_takes_over_the_loads_that_are_named(liberty: Liberty) -> None:
    flat = small()
    bit, net = next((bit, net) for bit, net in flat.nets(liberty.cells).items() if net.loads == [Pin("", "y")])
    name = flat.insert("BUF", "new", "A", "Y", bit, net.loads)
    nets = flat.nets(liberty.cells)
    assert nets[bit].loads == [Pin(name, "A")]
    assert nets[flat.cells[name]["connections"]["Y"][0]].loads == [Pin("", "y")]
