"""Where wires are: by tile of the cells' region against the room for them, and by part of the design."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from warpfile.synth.wires.flat import Flat, Net
from warpfile.synth.wires.placement import Placement, ends
from warpfile.synth.wires.technology import Technology

#: Tiles along the longer side of the cells' region.
TILES = 32
#: Levels of the hierarchy that a part is named by.
_LEVELS = 2
_COUNT = re.compile(r"\d+$")

_Floats = NDArray[np.float64]


def congestion(
    placement: Placement, nets: Mapping[int, Net], lengths_um: Mapping[int, float], technology: Technology
) -> _Floats:
    """Um of wire in each tile over the um that there is room for, columns first.

    A net's length is spread evenly over the box around its pins, as far as that lies in the region.
    """
    plan = placement.plan
    side = max(plan.width_um, plan.high_um - plan.low_um) / TILES
    columns, rows = (max(1, round(one / side)) for one in (plan.width_um, plan.high_um - plan.low_um))
    pins = ([placement.place(pin) for pin in ends(net)] for net in nets.values())
    boxes = np.array([[*map(min, zip(*at, strict=True)), *map(max, zip(*at, strict=True))] for at in pins])
    boxes = boxes.reshape(-1, 4)
    across = _shares(boxes[:, 0], boxes[:, 2], np.linspace(0, plan.width_um, columns + 1))
    along = _shares(boxes[:, 1], boxes[:, 3], np.linspace(plan.low_um, plan.high_um, rows + 1))
    demand: _Floats = (across * np.array([lengths_um[bit] for bit in nets])[:, None]).T @ along
    tile = plan.width_um / columns * (plan.high_um - plan.low_um) / rows
    full: _Floats = demand / (tile * technology.tracks_per_um)
    return full


def _shares(low: _Floats, high: _Floats, edges: _Floats) -> _Floats:
    """Which part of each stretch lies between each two edges."""
    span = np.maximum(high - low, 1e-6)[:, None]
    least, most = low[:, None], low[:, None] + span
    shares: _Floats = np.clip(np.minimum(most, edges[1:]) - np.maximum(least, edges[:-1]), 0, None) / span
    return shares


def part(path: str) -> str:
    """The part of the design that a cell is in: the first levels of its path, without the numbers of instances."""
    levels = [_COUNT.sub("", one) for one in path.split("/")[:-1][:_LEVELS]]
    return "/".join(levels) or "top"


def metres_by_part(flat: Flat, nets: Mapping[int, Net], lengths_um: Mapping[int, float]) -> list[tuple[str, float]]:
    """Metres of wire that the cells of each part drive, most first; those of ports are "ports"."""
    found: dict[str, float] = defaultdict(float)
    for bit, net in nets.items():
        path = flat.paths.get(net.driver.cell) if net.driver else None
        found["ports" if path is None else part(path)] += lengths_um[bit] * 1e-6
    return sorted(found.items(), key=lambda one: (-one[1], one[0]))
