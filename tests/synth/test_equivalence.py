"""Mapped control modules are proven to be their Verilog; a fault in a netlist is found."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

import warpfile.synth.equivalence as equivalence
from tests.synth.netlists import PAGE, PROVEN, answer, answers, control, generated, mapped
from warpfile.schemes import SCHEMES

#: Of the baseline, in `make test`; all others in `make check`.
IN_TEST = ("dispatch_arbiter", "warp_scoreboard")
#: Those that a swapped gate is put into.
FAULTS = [("baseline", "dispatch_arbiter"), ("baseline", "warp_scoreboard")]
#: A module with sums.
SUMS = "warpfile.register_file.location"
MORE_FAULTS = [("corf", "coalescing_unit")]


@pytest.mark.parametrize("module", IN_TEST)
def test_a_mapped_module_is_its_verilog(module: str) -> None:
    assert answer("baseline", mapped("baseline")[1], module) == ""


@pytest.mark.check
@pytest.mark.parametrize("name", SCHEMES)
def test_mapped_modules_of_a_scheme_are_their_verilog(name: str) -> None:
    wrong = {one.module: one.verdict for one in answers(name) if one.verdict != PROVEN}
    assert wrong == {}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == "baseline" else pytest.mark.check) for name in SCHEMES]
)
def test_the_page_has_all_control_modules_of_a_scheme_that_it_has(name: str) -> None:
    """Of the baseline it has them in any case."""
    found = listed(name)
    assert found or name != "baseline"
    assert found in (set(), set(control(generated(name))))


def listed(name: str) -> set[str]:
    """Modules of a scheme's rows on the page."""
    return set(re.findall(rf"^\| `{name}` \| `([^`]+)` \|", PAGE.read_text(), re.MULTILINE))


def wrong_gates(name: str, module: str) -> Iterator[Mapping[str, Any]]:
    """Netlists of a scheme in which, of each kind of gate with two inputs, the last one of a module is another gate."""
    swapped = {"NAND2": "NOR2", "NOR2": "NAND2", "AND2": "OR2", "OR2": "AND2"}
    cells = mapped(name)[1]["modules"][module]["cells"]
    places = {cell["type"]: place for place, cell in cells.items() if cell["type"] in swapped}
    assert places
    for kind, place in places.items():
        wrong = copy.deepcopy(mapped(name)[1])
        wrong["modules"][module]["cells"][place]["type"] = swapped[kind]
        yield wrong


@pytest.mark.parametrize(
    ("name", "module"), [*FAULTS, *(pytest.param(*fault, marks=pytest.mark.check) for fault in MORE_FAULTS)]
)
def test_a_wrong_gate_is_found(name: str, module: str) -> None:
    assert {answer(name, wrong, module) for wrong in wrong_gates(name, module)} == {"differs"}


def test_the_form_of_large_modules_proves_a_module_and_finds_a_wrong_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(equivalence, "_MANY", 0)
    assert answer("baseline", mapped("baseline")[1], SUMS) == ""
    assert {answer("baseline", wrong, SUMS) for wrong in wrong_gates("baseline", SUMS)} == {"differs"}
