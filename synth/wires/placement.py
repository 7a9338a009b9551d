"""Cells in rows, placed so that wires are short, by the placer coloquinte."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from warpfile.synth.fanout import CLOCK
from warpfile.synth.liberty import Liberty
from warpfile.synth.wires.flat import Flat, Net, Pin
from warpfile.synth.wires.floorplan import UTILISATION, Floorplan, Point

#: Effort of the placer, from 1 to 9, and its seed. More effort shortens wires by 2 % and takes twice as long or more.
EFFORT, SEED = 1, 1
#: How full rows are for the placer: cells are wider by this over the utilisation, so that none are crowded anywhere.
FULL = 0.8
#: Units of the placer per um.
_UNITS = 100


@dataclass
class Placement:
    """Where the middle of every cell is, in um, on a floorplan, which has the pins of memories and the ports."""

    plan: Floorplan
    at: dict[str, Point]

    def place(self, pin: Pin) -> Point:
        """Where a pin is: all pins of a cell of the library are in its middle."""
        return self.plan.pins.get(pin) or self.at[pin.cell]

    def half_perimeter(self, net: Net) -> float:
        """Half of the perimeter around all pins of a net, in um."""
        xs, ys = zip(*(self.place(pin) for pin in ends(net)), strict=True)
        return float(max(xs) - min(xs) + max(ys) - min(ys))


def ends(net: Net) -> list[Pin]:
    """All pins of a net, the driver first."""
    return [*([net.driver] if net.driver else []), *net.loads]


def wired(flat: Flat, library: Liberty) -> dict[int, Net]:
    """Nets that are wires: with a driver and loads, and not a clock, which is ideal."""
    nets = flat.nets(library.cells)
    clocks = set(flat.ports[CLOCK]["bits"]) if CLOCK in flat.ports else set()
    gates = {name for name, one in flat.cells.items() if (kind := library.cells.get(one["type"])) and kind.clock_gate}
    return {
        bit: net
        for bit, net in nets.items()
        if bit not in clocks and net.driver and net.driver.cell not in gates and net.loads
    }


def placed(
    flat: Flat, library: Liberty, plan: Floorplan, nets: Mapping[int, Net], weights: Mapping[int, float]
) -> Placement:
    """Place all cells of the library so that the half perimeters of ``nets`` are short; the same for the same input.

    A net counts as often as its weight says, once if it has none. Raises ``ValueError`` where the placer gives up, as
    it may with few cells.
    """
    from coloquinte import Circuit, ColoquinteParameters, Rectangle

    names = [name for name, one in flat.cells.items() if one["type"] in library.cells]
    number = {name: index for index, name in enumerate(names)}
    anchor, height = len(names), round(plan.row_um * _UNITS)
    areas = [library.cells[flat.cells[name]["type"]].area for name in names]
    widths = [max(1, round(area / plan.row_um * FULL / UTILISATION * _UNITS)) for area in areas]
    circuit = Circuit(anchor + 1)
    circuit.cell_width, circuit.cell_height = [*widths, 0], [*[height] * anchor, 0]
    circuit.cell_is_fixed = [*[False] * anchor, True]
    circuit.cell_is_obstruction = [*[True] * anchor, False]
    low, high = round(plan.low_um * _UNITS), round(plan.low_um * _UNITS) + height * _rows(plan)
    circuit.setup_rows(Rectangle(0, round(plan.width_um * _UNITS), low, high), height, True, True)
    for bit, net in nets.items():
        at = [(anchor, *plan.pins[pin]) if pin in plan.pins else (number[pin.cell], 0.0, 0.0) for pin in ends(net)]
        xs = [round(x * _UNITS) if cell == anchor else widths[cell] // 2 for cell, x, _ in at]
        ys = [round(y * _UNITS) if cell == anchor else height // 2 for cell, _, y in at]
        circuit.add_net([cell for cell, _, _ in at], xs, ys, weights.get(bit, 1.0))
    parameters = ColoquinteParameters(EFFORT, SEED)
    try:
        with _silent():
            circuit.place_global(parameters)
            circuit.legalize(parameters)
            circuit.place_detailed(parameters)
    except RuntimeError as error:
        raise ValueError(f"the placer gives up: {error}") from error
    found = zip(names, circuit.cell_x, circuit.cell_y, widths, strict=False)
    return Placement(plan, {name: ((x + w / 2) / _UNITS, (y + height / 2) / _UNITS) for name, x, y, w in found})


@contextmanager
def _silent() -> Iterator[None]:
    """Nothing that this process writes to standard output is seen: the placer says every step there."""
    sys.stdout.flush()
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def _rows(plan: Floorplan) -> int:
    return round((plan.high_um - plan.low_um) / plan.row_um)
