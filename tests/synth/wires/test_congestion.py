"""Wires are spread over the tiles below their nets, and belong to the parts that drive them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.synth.wires.designs import TOP, WIRES, row_of, scattered, small
from warpfile.synth.liberty import Liberty
from warpfile.synth.wires.congestion import TILES, congestion, metres_by_part, part
from warpfile.synth.wires.flat import flattened
from warpfile.synth.wires.parasitics import lengths


def test_all_wire_is_in_some_tile(liberty: Liberty) -> None:
    placement, nets = scattered(small(30), liberty, 320.0)
    found = lengths(placement, nets)
    full = congestion(placement, nets, found, WIRES)
    tile = (320.0 / TILES) ** 2
    assert full.shape == (TILES, TILES)
    assert full.sum() * tile * WIRES.tracks_per_um == pytest.approx(sum(found.values()), rel=1e-6)


def test_a_net_in_one_tile_fills_only_that(liberty: Liberty) -> None:
    """Tiles of 10 um, in which there is room for 300 um of wire."""
    flat = flattened(row_of(["INV"]), TOP)
    placement, nets = scattered(flat, liberty, 320.0)
    named = {old: new for new, old in flat.paths.items()}
    placement.at |= {named["cell0"]: (12.0, 25.0), named["end0"]: (18.0, 28.0)}
    bit, net = next((bit, net) for bit, net in nets.items() if net.driver and net.driver.cell == named["cell0"])
    full = congestion(placement, {bit: net}, {bit: 60.0}, WIRES)
    assert full[1, 2] == pytest.approx(60 / 300) and np.count_nonzero(full) == 1


def test_a_part_is_named_without_the_numbers_of_instances() -> None:
    paths = ("frame/buffer5/head[3]_reg", "frame/buffer6/x/y/z", "frame/cell7", "cell8")
    assert [part(path) for path in paths] == ["frame/buffer", "frame/buffer", "frame", "top"]


def test_wire_belongs_to_the_part_that_drives_it(liberty: Liberty) -> None:
    flat = small()
    placement, nets = scattered(flat, liberty, 100.0)
    found = lengths(placement, nets)
    parts = dict(metres_by_part(flat, nets, found))
    assert sum(parts.values()) == pytest.approx(sum(found.values()) * 1e-6)
    assert parts.keys() == {"one", "two", "top", "ports"}
    assert parts["ports"] == pytest.approx(
        sum(found[bit] for bit, net in nets.items() if net.driver and not net.driver.cell) * 1e-6
    )
