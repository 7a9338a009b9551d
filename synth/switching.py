"""What the switching of a mapped netlist costs, net by net, from the capacitances and internal powers of its library.

    energy of a net = toggles x (C V^2 / 2 + internal energy of its driver + internal energy of the pins behind it)

C are the input pins on the net, wires have none. Internal energies are the middle of each table, the mean of rise and
fall and of all conditions (docs/energy.md).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from warpfile.synth.liberty import Liberty, groups
from warpfile.synth.sequential import clock_pins

_UNIT = re.compile(r"capacitive_load_unit\s*\(\s*\"?([\d.eE+-]+)\"?\s*,\s*\"?(\w+)\"?\s*\)")
_VOLTS = re.compile(r"\bnom_voltage\s*:\s*\"?([\d.]+)")
_PICO = {"ff": 1e-3, "pf": 1.0}
#: Cells of a JSON netlist of yosys.
Cells = list[Mapping[str, Any]]


@dataclass(frozen=True)
class Pin:
    """Capacitance, and internal energy of a transition of the pin, in pF and pJ."""

    picofarads: float
    internal: float


@dataclass(frozen=True)
class Powers:
    """A library's supply and its pins by cell and name; ``internal``: whether any pin has an internal power."""

    volts: float
    pins: Mapping[str, Mapping[str, Pin]]
    internal: bool


@dataclass(frozen=True)
class ModuleSwitching:
    """All instances of a module together: toggles of its nets and picojoules in all cycles that were looked at.

    ``clock`` is the energy of nets that clock flip-flops and clock gates, ``registers`` that of nets which flip-flops
    drive, ``gates`` that of all others. Energies are None for a library without power.
    """

    name: str
    instances: int
    cells: int
    flip_flops: int
    toggles: int
    clock: float | None
    registers: float | None
    gates: float | None

    @property
    def picojoules(self) -> float | None:
        """All of it."""
        return None if self.clock is None else self.clock + (self.registers or 0.0) + (self.gates or 0.0)


def powers(library: Liberty) -> Powers | None:
    """Pins of a library with their energies; None for one without capacitances, unit or supply."""
    unit, supply = _UNIT.search(library.text), _VOLTS.search(library.text)
    if not unit or not supply:
        return None
    scale = float(unit[1]) * _PICO[unit[2].lower()]  # of a pF, and of the pJ that an energy is given in
    cells = {cell: dict(_pins(body, scale)) for cell, body in groups(library.text, "cell") if cell in library.cells}
    internal = any(pin.internal for pins in cells.values() for pin in pins.values())
    return Powers(float(supply[1]), cells, internal)


def _pins(body: str, scale: float) -> Iterator[tuple[str, Pin]]:
    for name, pin in groups(body, "pin"):
        found = re.search(r"\bcapacitance\s*:\s*\"?([\d.eE+-]+)", pin)
        energies = [
            middle(table)
            for _, power in groups(pin, "internal_power")
            for kind in ("rise_power", "fall_power")
            for _, table in groups(power, kind)
        ]
        internal = sum(energies) / len(energies) if energies else 0.0
        yield name, Pin(float(found[1]) * scale if found else 0.0, internal * scale)


def middle(table: str) -> float:
    """The value in the middle of a table, towards its beginning."""
    values = re.search(r"\bvalues\s*\((.*?)\)", table, re.DOTALL)
    rows = [row.replace(",", " ").split() for row in re.findall(r'"([^"]*)"', values[1])] if values else []
    if not rows or not rows[0]:
        raise ValueError("a table of internal power must have values")
    row = rows[(len(rows) - 1) // 2]
    return float(row[(len(row) - 1) // 2])


def switching(
    name: str,
    module: Mapping[str, Any],
    instances: int,
    toggles: Mapping[int, int],
    library: Liberty,
    prices: Powers | None,
) -> ModuleSwitching:
    """One module of a mapped netlist; ``toggles`` of each of its nets, in all instances together."""
    cells = [cell for cell in module["cells"].values() if cell["type"] in library.cells]
    flip_flops = [cell for cell in cells if library.cells[cell["type"]].flip_flop]
    changes = sum(toggles.get(bit, 0) for bit in _driven(cells, library))
    facts = (name, instances, len(cells), len(flip_flops), changes)
    if prices is None or not prices.internal:
        return ModuleSwitching(*facts, None, None, None)
    clocks, driven = set(clock_nets(cells, library)), set(_driven(flip_flops, library))
    sums = {"clock": 0.0, "registers": 0.0, "gates": 0.0}
    for bit, each in _per_toggle(cells, prices).items():
        kind = "clock" if bit in clocks else "registers" if bit in driven else "gates"
        sums[kind] += toggles.get(bit, 0) * each
    return ModuleSwitching(*facts, **sums)


def clock_nets(cells: Cells, library: Liberty) -> Counter[int]:
    """Nets that clock flip-flops and clock gates, with the number of those that each clocks."""
    pins = clock_pins(library, {cell["type"] for cell in cells})
    return Counter(bit for cell in cells if (pin := pins.get(cell["type"])) for bit in cell["connections"][pin])


def _driven(cells: Cells, library: Liberty) -> Iterator[int]:
    """Nets that cells drive."""
    for cell in cells:
        for pin in library.cells[cell["type"]].functions:
            yield from cell["connections"].get(pin, ())


def _per_toggle(cells: Cells, prices: Powers) -> dict[int, float]:
    """Picojoules of a transition of each net."""
    each: dict[int, float] = {}
    for cell in cells:
        pins = prices.pins[cell["type"]]
        for name, bits in cell["connections"].items():
            for bit in bits:
                pin = pins[name]
                each[bit] = each.get(bit, 0.0) + pin.internal + pin.picofarads * prices.volts**2 / 2
    return each
