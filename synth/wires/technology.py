"""Wires of known libraries: resistance, capacitance, rows and tracks, from a table with its sources."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from warpfile.spec.reading import read_toml
from warpfile.synth.liberty import Liberty
from warpfile.synth.rules import LIST, NUMBER, TABLE, TEXT, check

TABLE_OF_WIRES = Path(__file__).with_name("wires.toml")

_OF_LIBRARY = {
    "name": TEXT,
    "cells": LIST,
    "node_nm": NUMBER,
    "row_um": NUMBER,
    "far_um": NUMBER,
    "near": TABLE,
    "far": TABLE,
    "pitches_um": LIST,
    "source": TEXT,
}
_OF_LAYER = {"layer": TEXT, "ohm": NUMBER, "ff": NUMBER}


@dataclass(frozen=True)
class Layer:
    """A wire on one layer: ``ohm`` and ``ff`` (fF) per um."""

    layer: str
    ohm: float
    ff: float


@dataclass(frozen=True)
class Technology:
    """What wires of a library are: nets up to ``far_um`` long are on ``near``, longer ones on ``far``.

    ``cells`` are beginnings of names of cells, all of which the library has. ``row_um`` is the height of a row, and
    ``node_nm`` what the technology is called by.
    """

    name: str
    cells: tuple[str, ...]
    node_nm: float
    row_um: float
    far_um: float
    near: Layer
    far: Layer
    pitches_um: tuple[float, ...]
    source: str

    @property
    def tracks_per_um(self) -> float:
        """Um of wire that an um2 has room for, on all layers for signals."""
        return sum(1 / pitch for pitch in self.pitches_um)

    def layer(self, length_um: float) -> Layer:
        """The layer of a net of such a length."""
        return self.far if length_um > self.far_um else self.near


@functools.cache
def read_technologies(path: Path = TABLE_OF_WIRES) -> tuple[Technology, ...]:
    """The table. Raises ``ValueError`` with file, place and rule for a file that cannot be used."""
    table = read_toml(path)
    check(table, {"libraries": LIST}, str(path))
    found = []
    for number, one in enumerate(table["libraries"], 1):
        at = f"{path}: library {number}"
        check(one, _OF_LIBRARY, at)
        for name in ("near", "far"):
            check(one[name], _OF_LAYER, f"{at}, {name}")
        layers = {name: Layer(**one[name]) for name in ("near", "far")}
        lists = {name: tuple(one[name]) for name in ("cells", "pitches_um")}
        found.append(Technology(**{**one, **layers, **lists}))
    return tuple(found)


def technology(library: Liberty) -> Technology:
    """The wires of a library, which is known by the names of its cells. Raises ``ValueError`` for an unknown one."""
    known = read_technologies()
    for one in known:
        if all(any(cell.startswith(start) for cell in library.cells) for start in one.cells):
            return one
    names = ", ".join(one.name for one in known)
    raise ValueError(f"--wires must have a library of {TABLE_OF_WIRES.name} ({names}), not {library.name}")
