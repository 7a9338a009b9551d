"""A netlist is placed, timed with its wires, gets repeaters and is sized: one result, always the same."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.synth.test_timed import ENABLED, GATE
from tests.synth.test_timing import CELLS, WIDE, library
from tests.synth.wires.designs import TOP, WIRES, design
from warpfile.synth import timed
from warpfile.synth.kept import KeptNetlist
from warpfile.synth.liberty import Liberty
from warpfile.synth.timed import TimedNetlist, timed_netlist
from warpfile.synth.timing import session, worst
from warpfile.synth.wires import technology
from warpfile.synth.wires.flat import flattened
from warpfile.synth.wires.flow import Surroundings, with_wires
from warpfile.synth.wires.result import Wires
from warpfile.synth.wires.technology import Layer

pytest.importorskip("coloquinte")
pytest.importorskip("PIL")
pytestmark = pytest.mark.needs("sta")


@pytest.fixture
def fine(liberty: Liberty, monkeypatch: pytest.MonkeyPatch) -> Liberty:
    """Wires that are long for such a small design."""
    wires = replace(WIRES, far_um=5.0, near=Layer("near", 50.0, 5.0), far=Layer("far", 50.0, 5.0))
    monkeypatch.setattr(technology, "read_technologies", lambda: (wires,))
    return liberty


def found(liberty: Liberty, pictures: list[bytes] | None = None) -> Wires:
    keep = (pictures if pictures is not None else []).append
    flat = flattened(design(40), TOP)
    return with_wires(flat, liberty, Surroundings({"ram": 200.0}, 32, keep), {"ram": 20.0})[0]


def test_a_path_with_wires_is_longer_than_without(fine: Liberty) -> None:
    with session(design(40), TOP, ["ram"], fine) as timer:
        bare = worst(timer).nanoseconds
    wires = found(fine)
    assert bare and wires.path.nanoseconds
    assert bare < wires.path.nanoseconds <= wires.placed_ns
    assert wires.path.start in ("one/reg/Q", "two/reg/Q", "a")


def test_cells_and_area_are_those_of_the_netlist_with_repeaters(fine: Liberty) -> None:
    wires = found(fine)
    assert wires.cells == 2 * 41 + 1 + wires.repeaters
    assert wires.area == pytest.approx(2 * (40 * 1 + 8) + 2 + wires.repeaters_area)
    assert wires.width_um * wires.height_um == pytest.approx((2 * 48 + 2) / 0.7 + 200, rel=0.05)


def test_the_same_netlist_has_the_same_result(fine: Liberty) -> None:
    pictures: list[bytes] = []
    assert found(fine, pictures) == found(fine, pictures)
    assert len(pictures) == 2 and pictures[0] == pictures[1] and pictures[0].startswith(b"\x89PNG")


def test_a_result_survives_json(fine: Liberty) -> None:
    wires = found(fine)
    assert Wires.from_json(json.loads(json.dumps(wires.to_json()))) == wires
    assert wires.longest == tuple(sorted(wires.longest, key=lambda one: -one[1])) and len(wires.longest) == 5


def test_a_library_without_known_wires_is_refused(liberty: Liberty, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(technology, "read_technologies", lambda: (replace(WIRES, cells=("XOR9",)),))
    with pytest.raises(ValueError, match=r"^--wires must have a library of wires\.toml"):
        found(liberty)


def test_a_timed_netlist_has_its_wires_beside_what_it_has_without(fine: Liberty) -> None:
    around = Surroundings({}, 32)
    bare = timed_netlist(WIDE, TOP, [], fine)
    found = timed_netlist(WIDE, TOP, [], fine, around=around)
    assert bare.wires is None and replace(found, wires=None) == bare
    assert found.wires and found.wires.cells == bare.cells + found.wires.repeaters
    assert TimedNetlist.from_json(json.loads(json.dumps(found.to_json()))) == found


def test_the_netlist_that_is_kept_is_the_one_that_was_counted(fine: Liberty) -> None:
    kept: list[KeptNetlist] = []
    bare = timed_netlist(WIDE, TOP, [], fine, keep=kept.append)
    found = timed_netlist(WIDE, TOP, [], fine, around=Surroundings({}, 32), keep=kept.append)
    assert found.wires
    assert [len(one.flat.cells) for one in kept] == [bare.cells, found.wires.cells]
    assert kept[0].wire_ff == {}
    assert sum(kept[1].wire_ff.values()) == pytest.approx(found.wires.metres * 1e6 * 5.0, abs=0.0005 * 1e6 * 5.0)


def test_a_clock_gate_before_many_flip_flops_gets_no_buffer(
    fine: Liberty, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Clocks are ideal: what stands behind the gate does not load it."""
    monkeypatch.setattr(timed, "SCRIPTS", {"yosys": ""})
    cells = library(tmp_path, *CELLS, GATE)
    kept: list[KeptNetlist] = []
    found = timed_netlist(ENABLED % (99, 99), TOP, [], cells, gates=True, around=Surroundings({}, 32), keep=kept.append)
    assert found.clock_gates == 1 and found.wires and found.wires.cells == found.cells + found.wires.repeaters
    flat = kept[0].flat
    (gate,) = (cell for cell in flat.cells.values() if cell["type"] == "ICG")
    (gated,) = (pin for pin in gate["connections"] if cells.cells[gate["type"]].directions[pin] == "output")
    loads = flat.nets(cells.cells)[gate["connections"][gated][0]].loads
    assert len(loads) == 100 and {flat.cells[pin.cell]["type"] for pin in loads} == {"DFF"}
