"""Wires of libraries come from a table, and a library that it does not have is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.synth.test_timing import library
from warpfile.synth.wires.technology import TABLE_OF_WIRES, read_technologies, technology


def test_a_library_is_known_by_its_cells(tmp_path: Path) -> None:
    known = {one.name: one for one in read_technologies()}
    assert len(known) == len(read_technologies()) >= 4
    cells = library(tmp_path)
    for one in known.values():
        for start in one.cells:
            cells.cells[f"{start}1"] = cells.cells["INV"]
        assert technology(cells) == one
        for start in one.cells:
            del cells.cells[f"{start}1"]


def test_another_library_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^--wires must have a library of wires\.toml \(.*osu018.*\), not hand\.lib$"):
        technology(library(tmp_path))


def test_short_nets_are_on_near_layers_and_long_ones_on_far_layers() -> None:
    for one in read_technologies():
        assert one.layer(one.far_um) == one.near and one.layer(one.far_um + 1) == one.far
        assert one.far.ohm < one.near.ohm
        assert one.tracks_per_um == pytest.approx(sum(1 / pitch for pitch in one.pitches_um))


@pytest.mark.parametrize(
    ("old", "new"), [("ohm = 0.8929", 'ohm = "much"'), ("row_um = 2.72\n", ""), ("source", "where")]
)
def test_a_table_that_cannot_be_used_is_refused_with_its_place(tmp_path: Path, old: str, new: str) -> None:
    file = tmp_path / "wires.toml"
    file.write_text(TABLE_OF_WIRES.read_text().replace(old, new))
    with pytest.raises(ValueError, match=r"wires\.toml: library 1.*must be"):
        read_technologies(file)
