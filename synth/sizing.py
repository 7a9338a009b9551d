"""Cells of a critical path exchanged for stronger and weaker ones, across modules, for as long as it helps."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Mapping

from warpfile.synth.dont_use import dont_use
from warpfile.synth.fanout import CLOCK, Netlist
from warpfile.synth.liberty import Cell, Liberty
from warpfile.synth.opensta import Session
from warpfile.synth.timing import PERIOD, worst

#: Part of the path that a pass over its cells has to gain, or it is the last.
GAIN = 5e-4
#: Paths that are looked at beside the worst, as a part of it, and how many of them the worst counts for.
WINDOW, WEIGHT = 0.05, 50
#: What differs in the names of a cell's sizes: ``_2``, ``X4``, or ``x1p5f`` before the name of the library.
_STRENGTH = re.compile(r"_?\d+$|x(?:p?\d+|\d+p\d+)f?(?=_ASAP7)")


def strengths(library: Liberty) -> dict[str, list[str]]:
    """Every cell that may be exchanged, with all that differ in the number at the end of their names, by area."""
    kinds: dict[object, list[Cell]] = defaultdict(list)
    for name in sorted(library.cells.keys() - dont_use(library.cells)):
        cell = library.cells[name]
        if cell.functions and not cell.clock_gate:
            key = _STRENGTH.sub("", name), *sorted(cell.directions.items()), *sorted(cell.functions.items())
            kinds[key].append(cell)
    order = ([cell.name for cell in sorted(some, key=lambda one: (one.area, one.name))] for some in kinds.values())
    return {name: names for names in order if len(names) > 1 for name in names}


def strength(name: str) -> float:
    """The number in the name of a cell that tells its strength: 1.5 of ``INVx1p5_ASAP7_75t_R``. Without one, 1."""
    found = _STRENGTH.search(name)
    return float(found[0].strip("_xf").replace("p", ".")) if found else 1.0


def places(netlist: Netlist, top: str) -> dict[str, list[str]]:
    """Paths of all instances of every module, each with "/" behind it; that of ``top`` is empty."""
    found: dict[str, list[str]] = defaultdict(list)

    def visit(module: str, path: str) -> None:
        found[module].append(path)
        for name, cell in netlist[module]["cells"].items():
            below = netlist.get(cell["type"])
            if below and "blackbox" not in below.get("attributes", {}):
                visit(cell["type"], f"{path}{name}/")

    visit(top, "")
    return found


class _Search:
    """Exchanges of single cells, in all instances of their module at once."""

    def __init__(self, timer: Session, netlist: Netlist, top: str, choice: Mapping[str, list[str]]) -> None:
        self._timer, self._netlist, self._choice = timer, netlist, choice
        self._places = places(netlist, top)
        self._modules = {path: module for module, paths in self._places.items() for path in paths}
        self._hopeless: set[tuple[str, str]] = set()
        self.swaps = 0
        self._period = PERIOD
        self.nanoseconds = self._nanoseconds()
        self._aim((1 - WINDOW) * self.nanoseconds)

    def run(self, passes: int | None) -> None:
        """Pass after pass over the worst path. A cell that has not helped is tried again when no other one helps."""
        for _ in itertools.count() if passes is None else range(passes):
            before, again, swaps = self.nanoseconds, bool(self._hopeless), self.swaps
            for cell in worst(self._timer).cells:
                self._improve(cell.instance)
            self.nanoseconds = self._nanoseconds()
            self._aim((1 - WINDOW) * self.nanoseconds)
            if self.swaps == swaps or self.nanoseconds > before * (1 - GAIN):
                if not again:
                    break
                self._hopeless.clear()
        self._aim(PERIOD)

    def _aim(self, period: float) -> None:
        """Set the clock: a little too fast, so that all paths that are nearly the worst have negative slack."""
        self._period = period
        self._timer.ask(f"create_clock -name {CLOCK} -period {self._period:.6f} [get_ports {CLOCK}]")
        self._score = self._measured()

    def _nanoseconds(self) -> float:
        return self._period - float(self._timer.ask("worst_slack"))

    def _improve(self, instance: str) -> None:
        head, slash, name = instance.rpartition("/")
        module = self._modules[head + slash]
        cell = self._netlist[module]["cells"].get(name)
        sizes = self._choice.get(cell["type"], []) if cell else []
        if not sizes or (module, name) in self._hopeless:
            return
        before, at = self._score, sizes.index(cell["type"])
        for step in (1, -1):
            while 0 <= at + step < len(sizes) and self._exchanged(module, name, sizes[at + step], sizes[at]):
                at += step
            if self._score < before:
                break
        else:
            self._hopeless.add((module, name))

    def _exchanged(self, module: str, name: str, new: str, old: str) -> bool:
        """Whether the path is shorter with ``new``; otherwise it stays ``old``."""
        self._put(module, name, new)
        now = self._measured()
        if now >= self._score - 1e-6:
            self._put(module, name, old)
            return False
        self._netlist[module]["cells"][name]["type"] = new
        self._score = now
        self.swaps += 1
        return True

    def _put(self, module: str, name: str, kind: str) -> None:
        paths = " ".join(f"{{{path}{name}}}" for path in self._places[module])
        self._timer.ask(f"foreach path {{{paths}}} {{ replace_cell $path {kind} }}")

    def _measured(self) -> float:
        """What a swap has to lessen: how late the latest signal is, many times, and how late all are together."""
        late, all_late = self._timer.ask("list [worst_slack] [total_negative_slack]").split()
        return -WEIGHT * float(late) - float(all_late)


def size(timer: Session, netlist: Netlist, top: str, library: Liberty, passes: int | None = None) -> int:
    """Exchange cells of ``netlist``, which ``timer`` has, until the critical path gets no shorter; how many were.

    A cell is exchanged in all instances of its module: a module stays one netlist. Cells are exchanged for those of
    :func:`strengths`, one step up or down at a time. At most so many ``passes`` over the worst path are made.
    """
    search = _Search(timer, netlist, top, strengths(library))
    search.run(passes)
    return search.swaps
