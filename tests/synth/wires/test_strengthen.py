"""Late cells that drive too much become stronger, many at once, and others stay."""

from __future__ import annotations

import pytest

from tests.synth.wires.designs import TOP, WIRES, row_of, scattered
from warpfile.synth.liberty import Liberty
from warpfile.synth.opensta import Session
from warpfile.synth.timing import session, worst
from warpfile.synth.wires.flat import Flat, flattened
from warpfile.synth.wires.parasitics import lengths, spef
from warpfile.synth.wires.slack import POWER, WEIGHT, slacks, weights
from warpfile.synth.wires.strengthen import Strengthening

pytestmark = pytest.mark.needs("sta")


def with_wire(flat: Flat, liberty: Liberty, um: float) -> tuple[Session, dict[int, float]]:
    """A session in which every cell is so far from the one before, and the capacitances of the wires in pF."""
    placement, nets = scattered(flat, liberty, 1)
    placement.at |= {name: (um * at, 0.0) for at, name in enumerate(placement.at)}
    text = spef(flat, placement, nets, WIRES)
    found = {bit: length * WIRES.near.ff / 1000 for bit, length in lengths(placement, nets).items()}
    return session(flat.design, TOP, [], liberty, flat.verilog(), text), found


def kinds(flat: Flat) -> dict[str, str]:
    return {flat.paths[name]: one["type"] for name, one in flat.cells.items()}


def test_a_cell_before_a_long_wire_becomes_stronger(liberty: Liberty) -> None:
    """10 ns per pF of wire become 2.5, for four times the input."""
    flat = flattened(row_of(["DRIVE_1", "INV"]), TOP)
    timer, wire = with_wire(flat, liberty, 1000.0)
    with timer:
        before = worst(timer).nanoseconds
        search = Strengthening(timer, flat, liberty, wire)
        search.run()
        after = worst(timer).nanoseconds
    assert kinds(flat)["cell0"] == "DRIVE_4" and kinds(flat)["cell1"] == "INV" and search.swaps == 1
    assert before and after and after < before - 2


def test_what_was_exchanged_is_what_is_timed_anew(liberty: Liberty) -> None:
    """Parasitics stay as they are when a cell is exchanged."""
    flat = flattened(row_of(["DRIVE_1", "INV"]), TOP)
    timer, wire = with_wire(flat, liberty, 1000.0)
    with timer:
        Strengthening(timer, flat, liberty, wire).run()
        after = worst(timer).nanoseconds
    timer, _ = with_wire(flat, liberty, 1000.0)
    with timer:
        assert worst(timer).nanoseconds == after


def test_a_cell_with_little_to_drive_stays(liberty: Liberty) -> None:
    flat = flattened(row_of(["DRIVE_1", "INV"]), TOP)
    timer, wire = with_wire(flat, liberty, 0.1)
    with timer:
        search = Strengthening(timer, flat, liberty, wire)
        search.run()
        assert search.overloaded(8.0) == []
    assert kinds(flat)["cell0"] == "DRIVE_1" and search.swaps == 0


def test_a_cell_without_a_stronger_one_is_overloaded(liberty: Liberty) -> None:
    flat = flattened(row_of(["NAND2", "DRIVE_4"]), TOP)
    for cell in flat.cells.values():
        if cell["type"] == "NAND2":
            cell["connections"]["B"] = ["1"]
    timer, wire = with_wire(flat, liberty, 1000.0)
    with timer:
        search = Strengthening(timer, flat, liberty, wire)
        assert {flat.paths[name] for name in search.overloaded(8.0)} == {"cell0", "cell1", "reg"}
        assert search.overloaded(1e6) == []


def test_nets_of_the_worst_path_count_most(liberty: Liberty) -> None:
    flat = flattened(row_of(["INV"] * 9), TOP)
    timer, _ = with_wire(flat, liberty, 0.0)
    nets = flat.nets(liberty.cells)
    with timer:
        found = weights(timer, flat, nets, liberty)
        slack = slacks(timer, [next(f"{name}/Q" for name, path in flat.paths.items() if path == "reg")])
        path = worst(timer).nanoseconds
    assert path and slack == pytest.approx([10 - path], abs=1e-3)
    drivers = {flat.paths[net.driver.cell]: found[bit] for bit, net in nets.items() if net.driver and bit in found}
    assert drivers["cell4"] == pytest.approx(1 + WEIGHT, rel=1e-3)
    assert 1 <= min(found.values()) < 1 + WEIGHT * 0.5**POWER + 0.1  # the last register drives nothing
