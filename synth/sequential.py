"""Flip-flops and clock gates of a library: what sets them, and which of their pins is the clock."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from warpfile.synth.liberty import Cell, Liberty, groups

_FACT = re.compile(r'(\w+)\s*:\s*"?([^";]*?)"?\s*;')
_ROLE = re.compile(r"clock_gate_(clock|enable|test|out)_pin\s*:\s*\"?true")


@dataclass(frozen=True)
class FlipFlop:
    """What takes ``data`` at the rising edge of pin ``clock``.

    ``state`` and ``inverse`` are what functions of outputs call its value and the opposite. ``clear`` and ``preset``
    are functions of pins, empty where there is none.
    """

    clock: str
    data: str
    state: str
    inverse: str
    clear: str = ""
    preset: str = ""


@dataclass(frozen=True)
class ClockGate:
    """Pin ``clock`` comes out at ``output`` while any of ``enables`` was 1 when it rose."""

    clock: str
    enables: tuple[str, ...]
    output: str


def sequential(library: Liberty, kinds: Collection[str]) -> dict[str, FlipFlop | ClockGate]:
    """Of these cells those that store, by name.

    Raises ``ValueError`` for a latch, and for what is set in another way than these two.
    """
    cells = [library.cells[kind] for kind in sorted(kinds) if kind in library.cells]
    stores = {cell.name: cell for cell in cells if cell.flip_flop or cell.latch or cell.clock_gate}
    bodies = {name: body for name, body in groups(library.text, "cell") if name in stores} if stores else {}
    return {name: _read(stores[name], body) for name, body in bodies.items()}


def _read(cell: Cell, body: str) -> FlipFlop | ClockGate:
    if cell.clock_gate:
        return _clock_gate(cell, body)
    if not cell.flip_flop:
        raise ValueError(f"{cell.name} must be no latch for its switching to be counted")
    states, inside = next(iter(groups(body, "ff")))
    facts: Mapping[str, str] = dict(_FACT.findall(inside))
    state, inverse = (one.strip(' "') for one in states.split(","))
    if facts.get("clocked_on") not in cell.inputs or not facts.get("next_state"):
        raise ValueError(f"{cell.name} must take its data at the rising edge of a pin for its switching to be counted")
    more = {name: facts.get(name, "") for name in ("clear", "preset")}
    return FlipFlop(facts["clocked_on"], facts["next_state"], state, inverse, **more)


def _clock_gate(cell: Cell, body: str) -> ClockGate:
    roles = dict(_roles(body))
    kind = re.search(r'clock_gating_integrated_cell\s*:\s*"?(\w+)', body)
    if not kind or not kind[1].startswith("latch_posedge") or not {"clock", "enable", "out"} <= set(roles):
        raise ValueError(f"{cell.name} must be a latch before an AND for its switching to be counted")
    enables = tuple(roles[role] for role in ("enable", "test") if role in roles)
    return ClockGate(roles["clock"], enables, roles["out"])


def _roles(body: str) -> Iterator[tuple[str, str]]:
    for pin, facts in groups(body, "pin"):
        if role := _ROLE.search(facts):
            yield role[1], pin


def clock_pins(library: Liberty, kinds: Collection[str]) -> dict[str, str]:
    """The clock pin of each of these cells that stores. Raises as :func:`sequential`."""
    return {name: one.clock for name, one in sequential(library, kinds).items()}
