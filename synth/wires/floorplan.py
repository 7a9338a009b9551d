"""Where everything is that does not move: rows of cells, memories as strips above and below them, and ports."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from warpfile.synth.liberty import Liberty
from warpfile.synth.wires.flat import Flat, Pin
from warpfile.synth.wires.technology import Technology

#: Part of the region of cells that cells take; the rest is for wires and repeaters.
UTILISATION = 0.7
#: Ports of memories and of the design with so many bits are data, whose bits are spread over the lanes.
DATA_BITS = 128
#: Part of an edge, in its middle, over which all other pins are spread.
CONTROL = 0.25

#: A place in um.
Point = tuple[float, float]


@dataclass(frozen=True)
class Strip:
    """A memory as wide as the die: its cell, and its lower and upper edge in um. ``pins_um`` is the edge with pins."""

    cell: str
    low_um: float
    high_um: float
    pins_um: float


@dataclass(frozen=True)
class Floorplan:
    """The die in um: cells are in rows from ``low_um`` to ``high_um``, over the whole width; memories are outside."""

    width_um: float
    height_um: float
    low_um: float
    high_um: float
    row_um: float
    strips: tuple[Strip, ...]
    pins: Mapping[Pin, Point]


def floorplan(
    flat: Flat, library: Liberty, technology: Technology, memories_um2: Mapping[str, float], lane_bits: int
) -> Floorplan:
    """A square die, as docs/wires.md says. ``memories_um2`` is the area of one instance of each memory by its kind.

    ``lane_bits`` is the number of bits of a row of all lanes: in wider ports every so many bits are one row. Raises
    ``ValueError`` for a memory without an area.
    """
    cells_um2 = sum(library.cells[one["type"]].area for one in flat.cells.values() if one["type"] in library.cells)
    boxes = {name: one["type"] for name, one in flat.cells.items() if one["type"] in flat.memories}
    if unknown := sorted(set(boxes.values()) - memories_um2.keys()):
        raise ValueError(f"no area is known of {', '.join(unknown)}")
    total = cells_um2 / UTILISATION + sum(memories_um2[kind] for kind in boxes.values())
    row = technology.row_um
    rows = max(1, math.ceil(cells_um2 / UTILISATION / math.sqrt(total) / row))
    width = cells_um2 / UTILISATION / (rows * row)
    order = sorted(boxes, key=lambda name: (memories_um2[boxes[name]], flat.paths[name]))
    heights = {name: memories_um2[boxes[name]] / width for name in order}
    low = sum(heights[name] for name in order[1::2])
    high = low + rows * row
    strips = (*_stacked(order[::2], heights, high, 1), *_stacked(order[1::2], heights, low, -1))
    pins = _pins("", flat.ports, width, lane_bits, high)
    for strip in strips:
        ports = flat.design["modules"][boxes[strip.cell]]["ports"]
        pins |= _pins(strip.cell, ports, width, lane_bits, strip.pins_um)
    height = high + sum(heights[name] for name in order[::2])
    return Floorplan(width, height, low, high, row, strips, pins)


def _stacked(order: list[str], heights: Mapping[str, float], start: float, way: int) -> list[Strip]:
    """Strips one behind the other, away from the cells: ``way`` is 1 upwards and -1 downwards."""
    found = []
    for name in order:
        end = start + way * heights[name]
        found.append(Strip(name, min(start, end), max(start, end), start))
        start = end
    return found


def _pins(cell: str, ports: Mapping[str, Any], width: float, lane_bits: int, edge: float) -> dict[Pin, Point]:
    """Places of pins along an edge: data by lane and bit over the whole width, others over its middle ``CONTROL``."""
    found: dict[Pin, Point] = {}
    control: list[Pin] = []
    for name, port in ports.items():
        bits = len(port["bits"])
        period = lane_bits if bits % lane_bits == 0 else bits
        pins = [Pin(cell, name, bit) for bit in range(bits)]
        if bits >= DATA_BITS:
            found |= {pin: ((pin.bit % period + 0.5) / period * width, edge) for pin in pins}
        else:
            control += pins
    start, step = (1 - CONTROL) / 2 * width, CONTROL * width / max(1, len(control))
    return found | {pin: (start + (at + 0.5) * step, edge) for at, pin in enumerate(control)}
