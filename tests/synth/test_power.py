"""Power of a flat netlist by hand: cells, wires, clock wires, leakage."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.synth.test_switching import LIBRARY, MODULE
from tests.synth.wires.designs import WIRES
from warpfile.synth.arrays import read_array_prices
from warpfile.synth.kept import KeptNetlist
from warpfile.synth.liberty import Liberty, read_liberty
from warpfile.synth.power import TREE, checked_powers, leakages, netlist_power, scaled_to
from warpfile.synth.wires import technology
from warpfile.synth.wires.flat import Flat

#: Leakage as a figure of the cell, and of two states; the unit is 10 nW.
LEAKING = (
    LIBRARY.replace("library (hand) {", 'library (hand) {\n  leakage_power_unit : "10nW";', 1)
    .replace("area : 6;", "area : 6; cell_leakage_power : 3;")
    .replace("area : 2;", 'area : 2; leakage_power () { value : 1; when : "A"; } leakage_power () { value : "5"; }')
)
TOGGLES = {1: 100, 2: 10, 3: 4, 4: 6}


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Liberty:
    known = technology.Technology(**{**vars(WIRES), "cells": ("NAND2", "DFF")})
    monkeypatch.setattr(technology, "read_technologies", lambda: (known,))
    path = tmp_path / "hand.lib"
    path.write_text(LEAKING)
    return read_liberty(path)


def netlist(cells: dict[str, Any], wire_ff: dict[int, float]) -> KeptNetlist:
    module = {**MODULE, "cells": cells}
    return KeptNetlist(Flat({"modules": {"top": module}}, "top", {}, frozenset(), 9), wire_ff)


def placed(area: float, utilisation: float) -> Any:
    """The result of a placement, of which only the area of its rows counts."""
    return SimpleNamespace(area=area, utilisation=utilisation)


def test_cells_cost_what_their_switching_costs_and_leak_in_every_state(library: Liberty) -> None:
    """The flip-flop leaks 3 units of 10 nW, the gate the mean of 1 and 5."""
    found = netlist_power(netlist(MODULE["cells"], {}), None, TOGGLES, library, checked_powers(library))
    assert (found.clock, found.registers) == (pytest.approx(11), pytest.approx(0.6))
    assert found.gates == pytest.approx(0.68 + 0.6)
    assert found.leakage_mw == pytest.approx((3 + 3) * 1e-5)
    assert (found.wires, found.clock_wires, found.ungated, found.toggles) == (None, None, 1, 14)


def test_wires_cost_their_capacitance_and_a_clock_that_of_a_tree(library: Liberty) -> None:
    """2 V: 2 pJ per pF. Two flip-flops in rows of 800 um2, whose wires have 0.5 fF per um."""
    cells = {**MODULE["cells"], "h": {"type": "DFF", "connections": {"D": [4], "CK": [1], "Q": [5]}}}
    wires: Any = placed(200.0, 0.25)
    found = netlist_power(netlist(cells, {2: 30.0, 3: 50.0, 5: 70.0}), wires, TOGGLES, library, checked_powers(library))
    assert found.wires == pytest.approx(2e-3 * (10 * 30 + 4 * 50))
    assert found.clock_wires == pytest.approx(2e-3 * 100 * TREE * (2 * 800) ** 0.5 * 0.5)


def test_one_flip_flop_needs_no_tree(library: Liberty) -> None:
    found = netlist_power(netlist(MODULE["cells"], {}), placed(200.0, 0.25), TOGGLES, library, checked_powers(library))
    assert (found.wires, found.clock_wires) == (0, 0)


def test_the_length_of_a_tree_is_that_through_many_random_points() -> None:
    points = np.random.default_rng(1).random((5000, 2))
    nearest, inside = np.full(len(points), np.inf), np.zeros(len(points), bool)
    at, total = 0, 0.0
    for _ in range(len(points) - 1):
        inside[at] = True
        nearest = np.minimum(nearest, np.abs(points - points[at]).sum(axis=1))
        at = int(np.where(inside, np.inf, nearest).argmin())
        total += float(nearest[at])
    assert total / len(points) ** 0.5 == pytest.approx(TREE, abs=0.01)


def test_a_library_must_have_power_and_leakage(library: Liberty, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"nand2\.lib must have capacitances, a supply and internal powers"):
        checked_powers(read_liberty())
    (tmp_path / "bare.lib").write_text(LIBRARY)
    with pytest.raises(ValueError, match=r"bare\.lib must have a leakage_power_unit"):
        leakages(read_liberty(tmp_path / "bare.lib"), {"DFF"})
    (tmp_path / "bare.lib").write_text(LEAKING.replace("cell_leakage_power : 3;", ""))
    with pytest.raises(ValueError, match=r"bare\.lib: cell DFF must have a leakage"):
        leakages(read_liberty(tmp_path / "bare.lib"), {"DFF"})


def test_an_access_scales_with_length_and_the_square_of_the_supply() -> None:
    """From 22 nm and 0.8 V to twice and five times as much."""
    assert scaled_to(read_array_prices(), 44, 4.0) == pytest.approx(2 * 25)
