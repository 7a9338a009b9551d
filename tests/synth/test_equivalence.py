"""Mapped control modules are proven to be their Verilog; a fault in a netlist is found."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest

from warpfile.schemes import SCHEMES, TOP
from warpfile.spec.structure import BOXES
from warpfile.synth.equivalence import unproven
from warpfile.synth.liberty import read_liberty
from warpfile.synth.mapped import map_gates

#: Modules of the frame and of the baseline's parts that are no data path.
CONTROL = (
    "collector_unit",
    "dispatch_arbiter",
    "instruction_buffer",
    "register_bank",
    "warp_scoreboard",
    "warpfile.collectors",
    "warpfile.frame",
    "warpfile.frame.barrier",
    "warpfile.frame.departure",
    "warpfile.frame.scheduler",
    "warpfile.frame.scheduler.ages",
    "warpfile.register_file",
    "warpfile.register_file.location",
    "write_after_read",
)
IN_TEST = ("dispatch_arbiter", "warp_scoreboard")
SECONDS = 60


@cache
def mapped(name: str = "baseline") -> tuple[str, Mapping[str, Any]]:
    verilog = SCHEMES[name].verilog(SCHEMES[name].configuration("tiny", lanes=1), probes=False)
    return verilog, map_gates(verilog, TOP, BOXES, read_liberty().text)


def answer(netlist: Mapping[str, Any], module: str) -> str:
    return unproven(mapped()[0], netlist, module, TOP, BOXES, read_liberty().text, SECONDS)


@pytest.mark.parametrize(
    "module", [pytest.param(one, marks=() if one in IN_TEST else pytest.mark.check) for one in CONTROL]
)
def test_a_mapped_module_is_its_verilog(module: str) -> None:
    assert answer(mapped()[1], module) == ""


def test_the_list_has_all_modules_that_are_no_data_path() -> None:
    data = {name for name in mapped()[1]["modules"] if name.endswith("_lane") or name in BOXES}
    assert set(mapped()[1]["modules"]) - data - {TOP, "warpfile.register_file.banks"} == set(CONTROL)


@pytest.mark.parametrize("module", IN_TEST)
def test_a_wrong_gate_is_found(module: str) -> None:
    """Of each kind of gate with two inputs the last one is another gate."""
    swapped = {"NAND2": "NOR2", "NOR2": "NAND2", "AND2": "OR2", "OR2": "AND2"}
    cells = mapped()[1]["modules"][module]["cells"]
    places = {cell["type"]: place for place, cell in cells.items() if cell["type"] in swapped}
    assert places
    for kind, place in places.items():
        wrong = copy.deepcopy(mapped()[1])
        wrong["modules"][module]["cells"][place]["type"] = swapped[kind]
        assert answer(wrong, module) == "differs"
