"""The power of a netlist of the timed flow: cells by their switching, wires by their capacitance, and leakage.

docs/power.md says what each part is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from warpfile.synth.arrays import ArrayPrices
from warpfile.synth.fanout import CLOCK
from warpfile.synth.kept import KeptNetlist
from warpfile.synth.liberty import Liberty, groups
from warpfile.synth.switching import Powers, clock_nets, powers, switching
from warpfile.synth.wires.result import Wires
from warpfile.synth.wires.technology import technology

#: Length of the shortest rectilinear spanning tree of n random points of an area A, over sqrt(n A): measured of 5,000.
TREE = 0.81
_LEAKAGE_UNIT = re.compile(r'leakage_power_unit\s*:\s*"?([\d.]*)\s*([munp]?)W')
_MILLIWATTS = {"": 1e3, "m": 1.0, "u": 1e-3, "n": 1e-6, "p": 1e-9}
_CELL_LEAKAGE = re.compile(r'\bcell_leakage_power\s*:\s*"?([\d.eE+-]+)')
_VALUE = re.compile(r'\bvalue\s*:\s*"?([\d.eE+-]+)')


@dataclass(frozen=True)
class NetlistPower:
    """What a netlist uses in some cycles: pJ of all of them together, and the mW that its cells leak.

    ``ungated`` flip-flops have no clock gate. ``wires`` and ``clock_wires`` are None for a netlist that was not placed.
    """

    ungated: int
    toggles: int
    clock: float
    registers: float
    gates: float
    wires: float | None
    clock_wires: float | None
    leakage_mw: float


def checked_powers(library: Liberty) -> Powers:
    """Prices of a library's pins. Raises ``ValueError`` where they, or the unit of leakage, are missing."""
    prices = powers(library)
    if prices is None or not prices.internal:
        raise ValueError(f"{library.name} must have capacitances, a supply and internal powers")
    _leakage_unit(library)
    return prices


def netlist_power(
    netlist: KeptNetlist, wires: Wires | None, toggles: Mapping[int, int], library: Liberty, prices: Powers
) -> NetlistPower:
    """Power of a flat netlist whose nets toggle so often; ``wires`` is the result of its placement.

    ``prices`` are the library's, of :func:`checked_powers`.
    """
    module = netlist.flat.design["modules"][netlist.flat.top]
    found = switching(netlist.flat.top, module, 1, toggles, library, prices)
    cells = [cell for cell in module["cells"].values() if cell["type"] in library.cells]
    half = prices.volts**2 / 2 * 1e-3  # pJ of a transition of one fF
    clocks = clock_nets(cells, library)
    of_wires = of_clocks = None
    if wires:
        of_wires = half * sum(toggles.get(bit, 0) * ff for bit, ff in netlist.wire_ff.items())
        of_clocks = half * sum(
            toggles.get(bit, 0) * clock_wire_ff(sinks, wires, library) for bit, sinks in clocks.items()
        )
    leaks = leakages(library, {cell["type"] for cell in cells})
    leakage = sum(leaks[cell["type"]] for cell in cells)
    parts = (found.clock or 0.0, found.registers or 0.0, found.gates or 0.0)
    gates = sum(library.cells[cell["type"]].clock_gate for cell in cells)
    ungated = sum(clocks[bit] for bit in netlist.flat.ports[CLOCK]["bits"]) - gates
    return NetlistPower(ungated, found.toggles, *parts, of_wires, of_clocks, leakage)


def clock_wire_ff(sinks: int, wires: Wires, library: Liberty) -> float:
    """Estimated capacitance of a clock net of so many sinks, which are anywhere in the rows of a placement."""
    length = TREE * math.sqrt(sinks * wires.area / wires.utilisation) if sinks > 1 else 0.0
    return length * technology(library).layer(length).ff


def leakages(library: Liberty, kinds: set[str]) -> dict[str, float]:
    """What each of these cells leaks, in mW: the library's figure for the cell, else the mean of those of its states.

    Raises ``ValueError`` for a library without the unit or without a figure.
    """
    scale = _leakage_unit(library)
    bodies = {name: body for name, body in groups(library.text, "cell") if name in kinds}
    return {name: scale * _leakage(library.name, name, body) for name, body in bodies.items()}


def _leakage_unit(library: Liberty) -> float:
    """In mW."""
    unit = _LEAKAGE_UNIT.search(library.text)
    if not unit:
        raise ValueError(f"{library.name} must have a leakage_power_unit")
    return float(unit[1] or 1) * _MILLIWATTS[unit[2]]


def _leakage(library: str, name: str, body: str) -> float:
    if whole := _CELL_LEAKAGE.search(body):
        return float(whole[1])
    states = [float(value[1]) for _, state in groups(body, "leakage_power") if (value := _VALUE.search(state))]
    if not states:
        raise ValueError(f"{library}: cell {name} must have a leakage")
    return sum(states) / len(states)


def scaled_to(prices: ArrayPrices, node_nm: float, volts: float) -> float:
    """Energy of an access at a node and supply over that at the prices': capacitance goes with length."""
    return node_nm / prices.node_nm * (volts / prices.volts) ** 2
