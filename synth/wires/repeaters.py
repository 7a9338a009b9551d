"""Buffers along long wires, by the places of loads, and behind cells that drive too much."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from warpfile.synth.drive import Buffer
from warpfile.synth.wires.flat import Flat, Net, Pin
from warpfile.synth.wires.floorplan import Point
from warpfile.synth.wires.placement import Placement


def repeated(flat: Flat, placement: Placement, nets: Mapping[int, Net], buffer: Buffer, limit_um: float) -> int:
    """Put buffers into all nets whose half perimeter is above a limit, so that no load is further from its driver.

    ``flat`` and ``placement`` get them; how many they are is returned. Loads are reached from where the driver is:
    those that are far away together over a trunk with buffers at equal distances, others in two halves. Every load
    keeps its signal.
    """
    before = len(flat.cells)
    for bit, net in nets.items():
        if net.driver and placement.half_perimeter(net) > limit_um:
            _Tree(flat, placement, buffer, limit_um, bit).grow(net.driver, net.loads)
    return len(flat.cells) - before


def driven(flat: Flat, placement: Placement, nets: Mapping[int, Net], buffer: Buffer, cells: Collection[str]) -> int:
    """Put a buffer right behind each of these cells, which then drives what the cell drove; how many they are."""
    before = len(flat.cells)
    for bit, net in nets.items():
        if net.driver and net.driver.cell in cells:
            path = f"{flat.paths[net.driver.cell]}_driver"
            name = flat.insert(buffer.name, path, buffer.input, buffer.output, bit, net.loads)
            placement.at[name] = placement.place(net.driver)
    return len(flat.cells) - before


@dataclass
class _Branch:
    """A buffer to be put in, and what is behind it."""

    at: Point
    loads: list[Pin | _Branch]


@dataclass
class _Tree:
    """The buffers of one net, whose number is ``bit``."""

    flat: Flat
    placement: Placement
    buffer: Buffer
    limit: float
    bit: int

    def grow(self, driver: Pin, loads: list[Pin]) -> None:
        path = self.flat.paths.get(driver.cell, driver.name)
        self._put_all(self._reached(self.placement.place(driver), loads), self.bit, f"{path}_repeater")

    def _reached(self, start: Point, loads: list[Pin]) -> list[Pin | _Branch]:
        """What is driven from ``start`` so that it reaches all of these loads."""
        places = [self.placement.place(pin) for pin in loads]
        low, high = _corner(min, places), _corner(max, places)
        near = (min(max(start[0], low[0]), high[0]), min(max(start[1], low[1]), high[1]))
        gap = _way(start, near)
        if gap + _way(low, high) <= self.limit:
            return list(loads)
        if gap > self.limit / 2:
            part = 1 / math.ceil(gap / self.limit)
            at = (start[0] + part * (near[0] - start[0]), start[1] + part * (near[1] - start[1]))
            return [_Branch(at, self._reached(at, loads))]
        axis = 0 if high[0] - low[0] > high[1] - low[1] else 1
        order = [pin for _, pin in sorted(zip(places, loads, strict=True), key=lambda one: one[0][axis])]
        middle = len(order) // 2
        return [*self._reached(start, order[:middle]), *self._reached(start, order[middle:])]

    def _put_all(self, sinks: list[Pin | _Branch], bit: int, path: str) -> None:
        for one in sinks:
            if isinstance(one, _Branch):
                self._put(one, bit, path)

    def _put(self, branch: _Branch, bit: int, path: str) -> None:
        loads = [one for one in branch.loads if isinstance(one, Pin)]
        name = self.flat.insert(self.buffer.name, path, self.buffer.input, self.buffer.output, bit, loads)
        self.placement.at[name] = branch.at
        self._put_all(branch.loads, self.flat.cells[name]["connections"][self.buffer.output][0], path)


def _corner(end: Callable[..., float], places: list[Point]) -> Point:
    return end(x for x, _ in places), end(y for _, y in places)


def _way(one: Point, other: Point) -> float:
    return abs(one[0] - other[0]) + abs(one[1] - other[1])
