"""Cells are placed in rows, beside each other, so that wires are shorter than anywhere else, and always the same."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from tests.synth.wires.designs import TOP, WIRES, cell, module, scattered, small
from warpfile.synth.liberty import Liberty
from warpfile.synth.wires.flat import Flat, Pin, flattened
from warpfile.synth.wires.floorplan import floorplan
from warpfile.synth.wires.parasitics import lengths
from warpfile.synth.wires.placement import Placement, placed, wired

pytest.importorskip("coloquinte")


def chains(count: int, length: int) -> Flat:
    """Registers with a long chain of buffers each, in shuffled order."""
    inside: dict[str, Any] = {}
    for at, chain in itertools.product(range(length), range(count)):
        bit = 100 + chain * (length + 2) + at
        inside[f"cell{chain}_{at}"] = cell("BUF", A=bit, Y=bit + 1)
    for chain in range(count):
        inside[f"reg{chain}"] = cell("DFF", C=2, D=100 + chain * (length + 2) + length, Q=100 + chain * (length + 2))
    return flattened({"modules": {TOP: module({"clk": ("i", [2])}, **inside)}}, TOP)


def placement_of(flat: Flat, liberty: Liberty, weights: dict[int, float] | None = None) -> Placement:
    plan = floorplan(flat, liberty, WIRES, {"ram": 50.0}, 32)
    return placed(flat, liberty, plan, wired(flat, liberty), weights or {})


def test_a_placed_netlist_has_shorter_wires_than_a_scattered_one(liberty: Liberty) -> None:
    flat = chains(20, 20)
    placement = placement_of(flat, liberty)
    anywhere, nets = scattered(flat, liberty, placement.plan.width_um)
    assert sum(lengths(placement, nets).values()) < 0.3 * sum(lengths(anywhere, nets).values())


def test_the_same_netlist_is_placed_in_the_same_way(liberty: Liberty) -> None:
    assert placement_of(chains(5, 20), liberty).at == placement_of(chains(5, 20), liberty).at


def test_cells_stand_in_rows_and_not_on_each_other(liberty: Liberty) -> None:
    flat = chains(5, 20)
    placement = placement_of(flat, liberty)
    plan, rows = placement.plan, {}
    for name, (x, y) in placement.at.items():
        half = liberty.cells[flat.cells[name]["type"]].area / plan.row_um / 2
        assert half - 0.02 <= x <= plan.width_um - half + 0.02
        row = (y - plan.low_um) / plan.row_um - 0.5
        assert row == pytest.approx(round(row), abs=0.02) and 0 <= round(row) * plan.row_um < plan.high_um - plan.low_um
        rows.setdefault(round(row), []).append((x - half, x + half))
    assert placement.at.keys() == set(flat.cells)
    for row in rows.values():
        assert all(one[1] <= other[0] + 0.03 for one, other in itertools.pairwise(sorted(row)))


def test_a_net_with_more_weight_becomes_shorter(liberty: Liberty) -> None:
    flat = chains(20, 20)
    nets = wired(flat, liberty)
    some = list(nets)[::10]
    found = [lengths(placement_of(flat, liberty, dict.fromkeys(some, weight)), nets) for weight in (0.1, 10.0)]
    assert sum(found[1][bit] for bit in some) < sum(found[0][bit] for bit in some)


def test_memories_and_ports_stay_where_they_are(liberty: Liberty) -> None:
    flat = small(40)
    placement = placement_of(flat, liberty)
    rows = next(name for name, path in flat.paths.items() if path == "rows")
    assert placement.place(Pin(rows, "address", 1)) == placement.plan.pins[Pin(rows, "address", 1)]
    assert rows not in placement.at


def test_the_clock_and_constants_are_no_wires(liberty: Liberty) -> None:
    flat = small()
    nets = wired(flat, liberty)
    assert nets.keys().isdisjoint(flat.ports["clk"]["bits"]) and all(isinstance(bit, int) for bit in nets)
    assert nets.keys() >= set(flat.ports["row"]["bits"])


def test_the_placer_says_nothing(liberty: Liberty, capfd: pytest.CaptureFixture[str]) -> None:
    placement_of(small(40), liberty)
    print("afterwards")
    assert capfd.readouterr().out == "afterwards\n"


def test_a_placer_that_gives_up_is_an_error_of_one_line(liberty: Liberty, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise RuntimeError("no room")

    monkeypatch.setattr("coloquinte.Circuit.legalize", refuse)
    with pytest.raises(ValueError, match=r"^the placer gives up: no room$"):
        placement_of(small(40), liberty)
