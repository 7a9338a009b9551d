"""A small hierarchical design, a library whose delays are known, and wires for it."""

from __future__ import annotations

import copy
import random
from pathlib import Path
from typing import Any

from tests.synth.test_timed import sized
from tests.synth.test_timing import CELLS, library
from warpfile.synth.liberty import Liberty
from warpfile.synth.wires.flat import Flat, Net, flattened
from warpfile.synth.wires.floorplan import Floorplan
from warpfile.synth.wires.placement import Placement, wired
from warpfile.synth.wires.technology import Layer, Technology

TOP = "warpfile"
#: One um2 is one um of a row; a net is on the same layer whatever its length.
WIRES = Technology(
    "hand", ("INV", "DFF"), 130, 1.0, 1e6, Layer("near", 2.0, 0.5), Layer("far", 2.0, 0.5), (0.5, 1.0), "test"
)


def cells(folder: Path) -> Liberty:
    """The library of the tests of timing, with two strengths of a driver."""
    return library(
        folder,
        *CELLS,
        sized("DRIVE_1", 3, 0.01, 10.0),
        sized("DRIVE_4", 5, 0.04, 2.5),
    )


def cell(kind: str, **pins: int | str | list[int]) -> dict[str, Any]:
    """A cell of a netlist."""
    wires = {pin: bits if isinstance(bits, list) else [bits] for pin, bits in pins.items()}
    return {"hide_name": 0, "type": kind, "parameters": {}, "attributes": {}, "connections": wires}


def module(ports: dict[str, tuple[str, list[int]]], **inside: dict[str, Any]) -> dict[str, Any]:
    """A module of a netlist; "i" and "o" are directions."""
    named = {"i": "input", "o": "output"}
    made = {name: {"direction": named[way], "bits": bits} for name, (way, bits) in ports.items()}
    return {"attributes": {}, "ports": made, "cells": inside, "netnames": {}}


def design(stages: int = 3) -> dict[str, Any]:
    """Two parts with a register and a chain of inverters each, one behind the other, and a memory between two ports.

    A third part is only a wire from its input to its output, and has a constant output.
    """
    chain = {f"inv{at}": cell("INV", A=10 + at, Y=11 + at) for at in range(stages)}
    part = module(
        {"clk": ("i", [2]), "a": ("i", [3]), "y": ("o", [10 + stages])}, reg=cell("DFF", C=2, D=3, Q=10), **chain
    )
    wire = module({"a": ("i", [2]), "y": ("o", [2]), "z": ("o", [3])})
    wire["ports"]["z"]["bits"] = ["1"]
    ram = module({"clk": ("i", [2]), "address": ("i", [3, 4]), "data": ("o", [5, 6])})
    ram["attributes"] = {"blackbox": "1"}
    top = module(
        {"clk": ("i", [2]), "a": ("i", [3]), "y": ("o", [4]), "row": ("i", [7, 8]), "out": ("o", [9, 10])},
        one=cell("part", clk=2, a=3, y=5),
        through=cell("wire", a=5, y=6, z=11),
        two=cell("part", clk=2, a=6, y=12),
        last=cell("NAND2", A=12, B=11, Y=4),
        rows=cell("ram", clk=2, address=[7, 8], data=[9, 10]),
    )
    modules = {"part": part, "wire": wire, "ram": ram, TOP: top}
    return {"creator": "", "modules": copy.deepcopy(modules)}


def row_of(kinds: list[str], loads: int = 1) -> dict[str, Any]:
    """A register, cells of these kinds one behind the other, and so many registers that read the last."""
    inside = {f"cell{at}": cell(kind, A=10 + at, Y=11 + at) for at, kind in enumerate(kinds)}
    end = 10 + len(kinds)
    inside |= {f"end{at}": cell("DFF", C=2, D=end, Q=100 + at) for at in range(loads)}
    return {
        "creator": "",
        "modules": {TOP: module({"clk": ("i", [2]), "a": ("i", [3])}, reg=cell("DFF", C=2, D=3, Q=10), **inside)},
    }


def scattered(flat: Flat, liberty: Liberty, side: float, seed: int = 1) -> tuple[Placement, dict[int, Net]]:
    """All cells anywhere in a square, ports in its corner; and the nets."""
    chance = random.Random(seed)
    nets = wired(flat, liberty)
    pins = {
        pin: (0.0, 0.0)
        for net in nets.values()
        for pin in [net.driver, *net.loads]
        if pin and pin.cell not in flat.cells
    }
    boxes = {
        pin: (side, side)
        for net in nets.values()
        for pin in [net.driver, *net.loads]
        if pin and flat.cells.get(pin.cell, {"type": ""})["type"] in flat.memories
    }
    at = {
        name: (chance.uniform(0, side), chance.uniform(0, side))
        for name, one in flat.cells.items()
        if one["type"] in liberty.cells
    }
    return Placement(Floorplan(side, side, 0.0, side, 1.0, (), pins | boxes), at), nets


def small(stages: int = 3) -> Flat:
    """The design without hierarchy."""
    return flattened(design(stages), TOP)
