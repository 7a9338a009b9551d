"""Cells exchanged many at once for the strengths that their loads ask for, where signals are late."""

from __future__ import annotations

from collections.abc import Mapping

from warpfile.synth.drive import input_capacitances
from warpfile.synth.fo4 import smallest_inverter
from warpfile.synth.liberty import Liberty
from warpfile.synth.opensta import Session
from warpfile.synth.sizing import strength, strengths
from warpfile.synth.timing import PERIOD
from warpfile.synth.wires.flat import Flat
from warpfile.synth.wires.slack import slacks

#: What a cell may drive, in inputs of an inverter of its strength; one after the other, each as long as it helps.
EFFORTS = (16.0, 8.0, 5.0, 3.0)
#: Part of the worst path above which signals are late, and that a round has to gain, or the next effort follows.
LATE, GAIN = 0.8, 0.01


class Strengthening:
    """Exchanges in a flat netlist that a session of the timer has, whose wires have ``wire`` by number of net.

    Capacitances are in the library's unit.
    """

    def __init__(self, timer: Session, flat: Flat, library: Liberty, wire: Mapping[int, float]) -> None:
        self._timer, self._flat, self._library = timer, flat, library
        self._choice = strengths(library)
        self._inputs = input_capacitances(library)
        self._wire = wire
        self._drivers = {bit: net for bit, net in flat.nets(library.cells).items() if net.driver and net.driver.cell}
        inverter = smallest_inverter(library)
        self._unit = self._inputs[inverter.name, inverter.inputs[0]]
        self.swaps = 0

    def run(self) -> None:
        """Exchange cells until none of the efforts shortens the path."""
        best = self._nanoseconds()
        for effort in EFFORTS:
            gain = 1.0
            while gain > GAIN:
                now = self._round(effort, best)
                gain, best = 1 - now / best, min(now, best)

    def overloaded(self, effort: float) -> list[str]:
        """Cells of which no strength is enough for what they drive, and whose signals are late."""
        return self._late([name for name, load in self._loads().items() if self._has_no_size(name, load, effort)])

    def _has_no_size(self, name: str, load: float, effort: float) -> bool:
        kind = self._flat.cells[name]["type"]
        return load > effort * self._unit * strength(self._choice.get(kind, [kind])[-1])

    def _nanoseconds(self) -> float:
        return PERIOD - float(self._timer.ask("worst_slack"))

    def _round(self, effort: float, best: float) -> float:
        """The path with other strengths, which are taken back if it is not shorter."""
        wanted = self._wanted(effort)
        before = {name: self._flat.cells[name]["type"] for name in wanted}
        self._put(wanted)
        now = self._nanoseconds()
        if now < best:
            self.swaps += len(wanted)
        else:
            self._put(before)
        return now

    def _wanted(self, effort: float) -> dict[str, str]:
        """Late cells with too much to drive, and the strength that they should have."""
        found = {}
        for name, load in self._loads().items():
            kind = self._flat.cells[name]["type"]
            sizes = self._choice.get(kind, [kind])
            stronger = sizes[sizes.index(kind) :]
            new = next((one for one in stronger if load <= effort * self._unit * strength(one)), sizes[-1])
            if new != kind:
                found[name] = new
        return {name: found[name] for name in self._late(list(found))}

    def _loads(self) -> dict[str, float]:
        """What every cell drives on all of its outputs; clock gates are not among them, as clocks are ideal."""
        found: dict[str, float] = {}
        for bit, net in self._drivers.items():
            name = net.driver.cell if net.driver else ""
            kinds = ((self._flat.cells[pin.cell]["type"], pin.name) for pin in net.loads if pin.cell)
            load = sum(self._inputs.get(kind, 0.0) for kind in kinds) + self._wire.get(bit, 0.0)
            found[name] = found.get(name, 0.0) + load
        return {name: load for name, load in found.items() if self._functions(name)}

    def _functions(self, name: str) -> list[str]:
        """Outputs with a function: none of a memory and of a clock gate."""
        cell = self._library.cells.get(self._flat.cells[name]["type"])
        return list(cell.functions) if cell else []

    def _late(self, names: list[str]) -> list[str]:
        pins = [f"{name}/{self._functions(name)[0]}" for name in names]
        least = PERIOD - LATE * self._nanoseconds()
        return [name for name, slack in zip(names, slacks(self._timer, pins), strict=True) if slack < least]

    def _put(self, kinds: Mapping[str, str]) -> None:
        pairs = " ".join(f"{name} {kind}" for name, kind in kinds.items())
        self._timer.ask(f"foreach {{name kind}} {{{pairs}}} {{ replace_cell $name $kind }}")
        for name, kind in kinds.items():
            self._flat.cells[name]["type"] = kind
