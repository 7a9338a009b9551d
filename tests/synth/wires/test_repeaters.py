"""Repeaters make wires short, keep every signal where it was, and make long chains faster."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.synth.wires.designs import TOP, WIRES, row_of, scattered, small
from tests.synth.wires.test_parasitics import path
from warpfile.synth.drive import mid_size_buffer
from warpfile.synth.liberty import Liberty
from warpfile.synth.wires.flat import Flat, Net, Pin, flattened
from warpfile.synth.wires.parasitics import spef
from warpfile.synth.wires.placement import Placement, wired
from warpfile.synth.wires.repeaters import driven, repeated


def sources(flat: Flat, liberty: Liberty, added: set[str]) -> dict[Pin, Pin | None]:
    """What drives every load, seen through the buffers that were added."""
    nets = flat.nets(liberty.cells)
    driver = {load: net.driver for net in nets.values() for load in net.loads}

    def followed(pin: Pin | None) -> Pin | None:
        return followed(driver[Pin(pin.cell, "A")]) if pin and pin.cell in added else pin

    return {load: followed(pin) for load, pin in driver.items() if load.cell not in added}


def wide(liberty: Liberty, loads: int = 40, side: float = 2000.0) -> tuple[Flat, Placement, dict[int, Net]]:
    flat = flattened(row_of(["BUF"], loads), TOP)
    return flat, *scattered(flat, liberty, side)


def parts(placement: Placement, nets: Mapping[int, Net]) -> list[float]:
    return [placement.half_perimeter(net) for net in nets.values()]


@pytest.mark.parametrize("limit", [300.0, 700.0])
def test_every_load_keeps_its_signal(liberty: Liberty, limit: float) -> None:
    for flat, (placement, nets) in ((flat, scattered(flat, liberty, 2000.0)) for flat in (small(), wide(liberty)[0])):
        before, cells = sources(flat, liberty, set()), set(flat.cells)
        count = repeated(flat, placement, nets, mid_size_buffer(liberty), limit)
        added = flat.cells.keys() - cells
        assert len(added) == count > 0
        assert sources(flat, liberty, added) == before
        assert added <= placement.at.keys()


def test_a_load_that_is_moved_to_another_net_would_be_seen(liberty: Liberty) -> None:
    flat, *_ = wide(liberty)
    before = sources(flat, liberty, set())
    flat.cells["c2"]["connections"]["D"] = list(flat.cells["c0"]["connections"]["D"])
    assert sources(flat, liberty, set()) != before


def furthest(placement: Placement, nets: Mapping[int, Net]) -> float:
    """From a driver to one of its loads, along the axes."""
    ways = [
        (placement.place(net.driver), placement.place(load))
        for net in nets.values()
        if net.driver
        for load in net.loads
    ]
    return max(abs(one[0] - other[0]) + abs(one[1] - other[1]) for one, other in ways)


def test_no_load_is_further_from_its_driver_than_the_limit(liberty: Liberty) -> None:
    flat, placement, nets = wide(liberty)
    assert furthest(placement, nets) > 1500.0
    repeated(flat, placement, nets, mid_size_buffer(liberty), 500.0)
    assert furthest(placement, wired(flat, liberty)) <= 500.001


def test_two_pins_have_repeaters_at_equal_distances(liberty: Liberty) -> None:
    flat, placement, nets = wide(liberty, loads=1)
    named = {old: new for new, old in flat.paths.items()}
    placement.at |= {named["reg"]: (0.0, 0.0), named["cell0"]: (0.0, 0.0), named["end0"]: (1000.0, 400.0)}
    assert repeated(flat, placement, nets, mid_size_buffer(liberty), 500.0) == 2
    assert sorted(parts(placement, wired(flat, liberty)))[-3:] == pytest.approx([1400 / 3] * 3)


def test_short_nets_are_left_alone(liberty: Liberty) -> None:
    flat, placement, nets = wide(liberty, side=100.0)
    assert repeated(flat, placement, nets, mid_size_buffer(liberty), 500.0) == 0


@pytest.mark.needs("sta")
def test_a_long_wire_becomes_faster(liberty: Liberty) -> None:
    """Half of the resistance times the capacitance, which grow with the length, against a buffer more each."""
    times = {}
    for limit in (1e6, 5000.0, 2500.0):
        flat, placement, nets = wide(liberty, loads=1)
        named = {old: new for new, old in flat.paths.items()}
        placement.at |= {named["reg"]: (0.0, 0.0), named["cell0"]: (0.0, 0.0), named["end0"]: (10000.0, 0.0)}
        repeated(flat, placement, nets, mid_size_buffer(liberty), limit)
        times[limit] = path(flat, liberty, spef(flat, placement, wired(flat, liberty), WIRES))
    assert times[2500.0] < times[5000.0] < times[1e6]


def test_a_buffer_behind_a_cell_drives_what_the_cell_drove(liberty: Liberty) -> None:
    flat, placement, nets = wide(liberty)
    before, cells = sources(flat, liberty, set()), set(flat.cells)
    weak = next(name for name, old in flat.paths.items() if old == "cell0")
    assert driven(flat, placement, nets, mid_size_buffer(liberty), {weak}) == 1
    (added,) = flat.cells.keys() - cells
    assert sources(flat, liberty, {added}) == before and placement.at[added] == placement.at[weak]
    loads = [net.loads for net in wired(flat, liberty).values() if net.driver == Pin(weak, "Y")]
    assert loads == [[Pin(added, "A")]]
