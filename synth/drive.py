"""Drivers and loads of a cell library: its mid-size buffer, and memories that drive and load as that buffer does."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from warpfile.synth.liberty import Cell, Liberty

#: Loads behind an output of the design and at an input of a memory, in input capacitances of the buffer.
LOADS = 4

_BRACE = re.compile(r"[{}]")
_TABLES = ("cell_rise", "rise_transition", "cell_fall", "fall_transition")
_CELL = re.compile(r'\bcell\s*\(\s*"?([^\s")]+)"?\s*\)\s*\{')
_CAPACITANCE = re.compile(r'\bpin\s*\(\s*"?(\w+)"?\s*\)|\bcapacitance\s*:\s*"?([\d.eE+-]+)')
_UNIT = re.compile(r"capacitive_load_unit\s*\(\s*\"?([\d.eE+-]+)\"?\s*,\s*\"?(\w+)\"?\s*\)")
_TIME = re.compile(r"\btime_unit\s*:\s*\"?([\d.]*)(ns|ps)")
_NS = {"ns": 1.0, "ps": 1e-3}
#: The values of a table of delays, up to the bracket behind them.
_DELAYS = re.compile(r"(\bcell_(?:rise|fall)\b[^{]*\{.*?\bvalues\s*\()([^)]*)", re.DOTALL)
_NUMBER = re.compile(r"-?[\d.]+(?:[eE][-+]?\d+)?")
_FEMTO = {"ff": 1.0, "pf": 1000.0}

#: Parts of a memory's cell: the type of a port with several bits, the timing of an output, a check at an input.
_BUS = "type(bits_{width}) {{ base_type: array; data_type: bit; bit_width: {width}; bit_from: {last}; bit_to: 0; }}\n"
_LAUNCH = """\
    timing() {{ related_pin: "{clock}"; timing_type: rising_edge;
{tables} }}
"""
_CHECK = """\
    timing() {{ related_pin: "{clock}"; timing_type: {kind};
      rise_constraint(scalar) {{ values("0"); }} fall_constraint(scalar) {{ values("0"); }} }}
"""


@dataclass(frozen=True)
class Buffer:
    """A buffer with its pins, input capacitance and greatest load in the library's unit, and tables of its delay."""

    name: str
    input: str
    output: str
    area: float
    capacitance: float
    max_capacitance: float
    tables: str


def mid_size_buffer(library: Liberty) -> Buffer:
    """The buffer that everything is driven with.

    Of all buffers, those remain that may drive more than every smaller one (this drops delay cells); the
    middle one of these, or the weaker of the two in the middle, is taken. Raises ``ValueError``
    where no buffer has timing.
    """
    bodies = _CELL.split(library.text)[1:]
    named = zip(bodies[::2], bodies[1::2], strict=True)
    found = [_timed(cell, body) for name, body in named if (cell := library.cells.get(name)) and cell.is_buffer]
    if not any(found):
        raise ValueError(f"{library.name} cannot time: no buffer (a cell whose output is its input) has timing tables")
    front: list[Buffer] = []
    for buffer in sorted(filter(None, found), key=lambda each: (each.area, -each.max_capacitance, each.name)):
        if not front or buffer.max_capacitance > front[-1].max_capacitance:
            front.append(buffer)
    return front[(len(front) - 1) // 2]


def _timed(cell: Cell, body: str) -> Buffer | None:
    (source,), (output,) = cell.inputs, cell.functions
    behind = _group(body, "pin", output)
    capacitance = _number(_group(body, "pin", source), "capacitance")
    timing = _group(behind, "timing")
    tables = [_group(timing, table) for table in _TABLES]
    if not capacitance or not all(tables) or re.search(r"\bdont_use\s*:\s*\"?true", body):
        return None
    most = _number(behind, "max_capacitance")
    return Buffer(cell.name, source, output, cell.area, capacitance, most, "\n".join(tables))


def input_capacitances(library: Liberty) -> dict[tuple[str, str], float]:
    """Capacitance of each pin by cell and pin, in the library's unit; pins of which the file says none are left out."""
    found: dict[tuple[str, str], float] = {}
    bodies = _CELL.split(library.text)[1:]
    for name, body in zip(bodies[::2], bodies[1::2], strict=True):
        pin = ""
        for start, capacitance in _CAPACITANCE.findall(body):
            pin = start or pin
            if capacitance:
                found.setdefault((name, pin), float(capacitance))
    return found


def load_femtofarads(library: Liberty, buffer: Buffer) -> float:
    """``LOADS`` inputs of the buffer in fF."""
    return LOADS * buffer.capacitance * unit_femtofarads(library)


def unit_femtofarads(library: Liberty) -> float:
    """The library's unit of capacitance in fF."""
    unit = _UNIT.search(library.text)
    return float(unit[1]) * _FEMTO[unit[2].lower()] if unit else 1000.0


def with_memories(
    library: Liberty,
    buffer: Buffer,
    memories: Mapping[str, Mapping[str, Any]],
    clock: str,
    access_ns: Mapping[str, float] | None = None,
) -> str:
    """The library's text with a cell for each memory, whose ports are given as in a JSON netlist of yosys.

    Its outputs are driven by the buffer from the clock edge on, or from as many ns behind it as ``access_ns`` of
    the memory; its inputs have a setup time of 0 and ``LOADS`` times the capacitance of the buffer.
    """
    ports = [port for memory in memories.values() for port in memory["ports"].values()]
    widths = sorted({len(port["bits"]) for port in ports} - {1})
    types = "".join(_BUS.format(width=width, last=width - 1) for width in widths)
    found = _TIME.search(library.text)
    unit = _NS[found[2]] * float(found[1] or 1) if found else 1.0
    late = {
        name: replace(buffer, tables=with_longer_delays(buffer.tables, ns / unit))
        for name, ns in (access_ns or {}).items()
    }
    cells = (_memory(name, memory["ports"], late.get(name, buffer), clock) for name, memory in memories.items())
    return library.text[: library.text.rindex("}")] + types + "".join(cells) + "}\n"


def with_longer_delays(tables: str, delay: float) -> str:
    """Timing tables whose delays are so much longer, in the unit of the tables; transitions stay."""
    return _DELAYS.sub(lambda found: found[1] + _NUMBER.sub(lambda one: f"{float(one[0]) + delay:g}", found[2]), tables)


def _memory(name: str, ports: Mapping[str, Any], buffer: Buffer, clock: str) -> str:
    buses = "".join(_port(port, facts, buffer, clock) for port, facts in ports.items() if port != clock)
    pin = f"  pin({clock}) {{ direction: input; clock: true; capacitance: 0; }}\n"
    return f"cell({name}) {{\n  area: 0; interface_timing: true;\n{pin}{buses}}}\n"


def _port(name: str, facts: Mapping[str, Any], buffer: Buffer, clock: str) -> str:
    width = len(facts["bits"])
    kind = f"bus({name}) {{ bus_type: bits_{width};" if width > 1 else f"pin({name}) {{"
    head = f"  {kind} direction: {facts['direction']};"
    if facts["direction"] == "output":
        return f"{head}\n{_LAUNCH.format(clock=clock, tables=buffer.tables)}  }}\n"
    checks = "".join(_CHECK.format(clock=clock, kind=kind) for kind in ("setup_rising", "hold_rising"))
    return f"{head} capacitance: {LOADS * buffer.capacitance:g};\n{checks}  }}\n"


def _group(text: str, group: str, argument: str | None = None) -> str:
    """The first group of this name (and argument), from its name to its closing brace; "" if there is none."""
    inside = r"[^)]*" if argument is None else rf'\s*"?{re.escape(argument)}"?\s*'
    found = re.search(rf"\b{group}\s*\({inside}\)\s*{{", text)
    if not found:
        return ""
    depth, end = 1, found.end()
    while depth and (brace := _BRACE.search(text, end)):
        depth += 1 if brace[0] == "{" else -1
        end = brace.end()
    return text[found.start() : end]


def _number(text: str, attribute: str) -> float:
    found = re.search(rf"\b{attribute}\s*:\s*\"?([-+\d.eE]+)", text)
    return float(found[1]) if found else 0.0
