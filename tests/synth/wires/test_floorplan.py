"""Rows have room for the cells and wires, memories their areas, and lanes are in the same place everywhere."""

from __future__ import annotations

import pytest

from tests.synth.wires.designs import TOP, WIRES, cell, module, small
from warpfile.synth.liberty import Liberty
from warpfile.synth.wires.flat import Flat, Pin, flattened
from warpfile.synth.wires.floorplan import CONTROL, UTILISATION, floorplan


def two_memories(bits: int) -> Flat:
    """Two memories with words of so many bits, both read and written by ports of the design."""
    word = list(range(10, 10 + bits))
    ram = module({"clk": ("i", [2]), "address": ("i", [3]), "data": ("o", word)})
    ram["attributes"] = {"blackbox": "1"}
    ports = {"clk": ("i", [2]), "address": ("i", [3]), "one": ("o", word), "two": ("o", [bit + bits for bit in word])}
    rams = {name: cell("ram", clk=2, address=3, data=ports[name][1]) for name in ("one", "two")}
    logic = {f"reg{at}": cell("DFF", C=2, D=3, Q=1000 + at) for at in range(100)}
    return flattened({"modules": {"ram": ram, TOP: module(ports, **rams, **logic)}}, TOP)


def test_cells_and_memories_have_their_areas(liberty: Liberty) -> None:
    plan = floorplan(two_memories(256), liberty, WIRES, {"ram": 5000.0}, 128)
    assert (plan.high_um - plan.low_um) * plan.width_um == pytest.approx(100 * 8 / UTILISATION)
    for strip in plan.strips:
        assert (strip.high_um - strip.low_um) * plan.width_um == pytest.approx(5000)
    assert plan.width_um * plan.height_um == pytest.approx(100 * 8 / UTILISATION + 2 * 5000)
    assert 0.8 < plan.width_um / plan.height_um < 1.25


def test_memories_are_beside_the_cells_and_not_on_them(liberty: Liberty) -> None:
    plan = floorplan(two_memories(256), liberty, WIRES, {"ram": 5000.0}, 128)
    assert {strip.pins_um for strip in plan.strips} == {plan.low_um, plan.high_um}
    assert all(strip.high_um <= plan.low_um or strip.low_um >= plan.high_um for strip in plan.strips)


def test_bits_of_a_lane_are_above_each_other(liberty: Liberty) -> None:
    flat = two_memories(256)
    plan = floorplan(flat, liberty, WIRES, {"ram": 5000.0}, 128)
    for strip in plan.strips:
        for bit in (0, 127, 200):
            x, y = plan.pins[Pin(strip.cell, "data", bit)]
            assert y == strip.pins_um
            assert x == plan.pins[Pin("", "one", bit % 128)][0] == plan.pins[Pin(strip.cell, "data", bit % 128)][0]
    places = [plan.pins[Pin("", "two", bit)][0] for bit in range(128)]
    assert places == sorted(places) and 0 < places[0] < places[-1] < plan.width_um


def test_other_pins_are_in_the_middle(liberty: Liberty) -> None:
    plan = floorplan(two_memories(256), liberty, WIRES, {"ram": 5000.0}, 128)
    for pin, (x, _) in plan.pins.items():
        assert pin.name in ("data", "one", "two") or abs(x - plan.width_um / 2) <= CONTROL / 2 * plan.width_um


def test_a_memory_needs_an_area(liberty: Liberty) -> None:
    with pytest.raises(ValueError, match=r"^no area is known of ram$"):
        floorplan(small(), liberty, WIRES, {}, 128)
