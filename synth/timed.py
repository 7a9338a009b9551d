"""The timed flow: one netlist of a design for its area, its cells and its critical path."""

from __future__ import annotations

import copy
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from warpfile import tools
from warpfile.synth import fo4
from warpfile.synth.accessed import sized_with_access
from warpfile.synth.dont_use import PATTERNS
from warpfile.synth.drive import Buffer, load_femtofarads, mid_size_buffer
from warpfile.synth.fanout import SPLIT, Netlist, Urgency, buffer_trees, name_cells
from warpfile.synth.kept import KeptNetlist
from warpfile.synth.liberty import Cell, Liberty
from warpfile.synth.mapped import GATED, SCRIPTS, map_timed
from warpfile.synth.opensta import Session
from warpfile.synth.sizing import GAIN, WEIGHT, WINDOW, places, size
from warpfile.synth.timing import AIM, PERIOD, TIMED, CriticalPath, aim, session, worst
from warpfile.synth.wires.flat import flattened
from warpfile.synth.wires.flow import Surroundings, with_wires
from warpfile.synth.wires.result import Wires

#: All that decides a netlist beside its Verilog and its library.
FLOW = f"{TIMED}{SCRIPTS}{PATTERNS}{GATED}{SPLIT}{GAIN}{WINDOW}{WEIGHT}"
#: Instances of a module whose slacks are looked at.
_LOOKED_AT = 8
#: Fewest loads of a net whose slacks are asked for.
_LOADS = 3


@dataclass(frozen=True)
class TimedNetlist:
    """What one netlist has. ``script`` is one of :data:`warpfile.synth.mapped.SCRIPTS`; areas are the library's.

    ``mapped_ns`` is the path with buffers by number of loads and cells as mapped, ``path`` that of the netlist itself,
    whose cells, exchanged ``swaps`` times, are those that are counted. ``fo4_ns`` is the delay of an inverter that
    drives four. ``ungated_area`` is that of the netlist without clock gates, before cells are exchanged, as
    ``gated_area`` is with them; both are None where no gates were asked for. ``wires`` is what the netlist has when it
    is placed, None where that was not asked for; all other fields are without wires.
    """

    script: str
    cells: int
    flip_flops: int
    clock_gates: int
    area: float
    nand2_equivalents: float
    path: CriticalPath
    mapped_ns: float | None = None
    swaps: int = 0
    fo4_ns: float | None = None
    ungated_area: float | None = None
    gated_area: float | None = None
    wires: Wires | None = None

    @property
    def fo4(self) -> float | None:
        """The critical path in delays of an inverter that drives four."""
        return self.path.nanoseconds / self.fo4_ns if self.path.nanoseconds and self.fo4_ns else None

    def to_json(self) -> dict[str, object]:
        """All fields by name."""
        return asdict(self) | {"path": self.path.to_json(), "wires": self.wires and self.wires.to_json()}

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> TimedNetlist:
        """What :meth:`to_json` gave."""
        wires = facts.get("wires") and Wires.from_json(facts["wires"])
        return cls(**{**facts, "path": CriticalPath.from_json(facts["path"]), "wires": wires})


@dataclass
class _Draft:
    """A netlist with buffers, and its path."""

    script: str
    design: dict[str, Any]
    path: CriticalPath
    mapped_ns: float | None = None

    @property
    def nanoseconds(self) -> float:
        return math.inf if self.path.nanoseconds is None else self.path.nanoseconds


def timed_netlist(
    verilog: str,
    top: str,
    memories: Collection[str],
    liberty: Liberty,
    *,
    gates: bool = False,
    access_fo4: Mapping[str, float] | None = None,
    around: Surroundings | None = None,
    keep: Callable[[KeptNetlist], None] = lambda _netlist: None,
    progress: Callable[[str], None] = lambda _step: None,
) -> TimedNetlist:
    """Map a design for speed, buffer and size it with the timer, and count the cells of that netlist.

    Every script is tried and the fastest netlist is kept. ``memories`` and borders are as in
    :func:`warpfile.synth.timing.critical_path`. With ``gates`` enables become clock gates of the library.
    With ``access_fo4`` it is sized once more with memories that take that time, and ``path`` has ``with_access``.
    With ``around`` it is also placed, by :func:`warpfile.synth.wires.flow.with_wires`. ``keep`` is given the netlist
    itself, as placed where it is. Without OpenSTA nothing is
    tried, sized or placed, and ``path`` has the reason. Raises as both of these do, and ``ValueError`` where gates are
    asked for and the library has none.
    """
    if gates and not any(cell.clock_gate for cell in liberty.cells.values()):
        raise ValueError(f"{liberty.name} has no clock gate")
    flow = _Flow(verilog, top, memories, liberty)
    scripts = list(SCRIPTS) if tools.find("sta") else list(SCRIPTS)[-1:]
    drafts = []
    for script in scripts:
        progress(f"mapping, script {script}")
        drafts.append(flow.draft(script, gates))
    best = min(drafts, key=lambda draft: draft.nanoseconds)
    netlist: Netlist = best.design["modules"]
    more: dict[str, Any] = flow.areas(best) if gates else {}
    wire_ff: Mapping[int, float] = {}
    if tools.find("sta"):
        progress("sizing")
        with session(best.design, top, memories, liberty) as timer:
            more["swaps"] = size(timer, netlist, top, liberty)
            best.path = worst(timer, best.path.fan_out)
        if access_fo4:
            opened = partial(_opened, best.design, top, memories, liberty)
            best.path, again = sized_with_access(opened, best.path, netlist, top, liberty, access_fo4)
            more["swaps"] += again
        more |= {"mapped_ns": best.mapped_ns, "fo4_ns": fo4.nanoseconds(liberty)}
    flat = flattened(best.design, top)
    if around and tools.find("sta"):
        more["wires"], wire_ff = with_wires(flat, liberty, around, access_fo4 or {}, progress)
    keep(KeptNetlist(flat, wire_ff))
    return _counted(best, top, liberty, more)


def _opened(
    design: Mapping[str, Any], top: str, memories: Collection[str], liberty: Liberty, access_ns: Mapping[str, float]
) -> Session:
    return session(design, top, memories, liberty, access_ns=access_ns)


def _counted(draft: _Draft, top: str, liberty: Liberty, more: Mapping[str, Any]) -> TimedNetlist:
    netlist = draft.design["modules"]
    kinds = cell_counts(netlist, top, liberty)
    area = _area(netlist, top, liberty)
    return TimedNetlist(
        draft.script,
        kinds.total(),
        sum(count for kind, count in kinds.items() if liberty.cells[kind].flip_flop),
        sum(count for kind, count in kinds.items() if liberty.cells[kind].clock_gate),
        area,
        round(area / liberty.nand2_area, 3),
        draft.path,
        **more,
    )


def cell_counts(netlist: Netlist, top: str, liberty: Liberty) -> Counter[str]:
    """Cells of the library by name, over all instances of all modules."""
    kinds: Counter[str] = Counter()
    for module, paths in places(netlist, top).items():
        for cell in netlist[module]["cells"].values():
            if cell["type"] in liberty.cells:
                kinds[cell["type"]] += len(paths)
    return kinds


def _area(netlist: Netlist, top: str, liberty: Liberty) -> float:
    kinds = cell_counts(netlist, top, liberty)
    return round(sum(liberty.cells[kind].area * count for kind, count in kinds.items()), 3)


@dataclass
class _Flow:
    """The steps before cells are exchanged."""

    verilog: str
    top: str
    memories: Collection[str]
    liberty: Liberty

    @property
    def buffer(self) -> Buffer:
        return mid_size_buffer(self.liberty)

    def mapped(self, script: str, gates: bool) -> dict[str, Any]:
        """Mapped, every cell with a name."""
        drive = f"set_driving_cell {self.buffer.name}\nset_load {load_femtofarads(self.liberty, self.buffer):g}\n"
        target = aim(self.liberty) if tools.find("sta") else AIM
        design = map_timed(self.verilog, self.top, self.memories, self.liberty, drive, target, script, gates)
        name_cells(design["modules"], self.liberty.cells)
        for module in design["modules"].values():
            _name_all(module)
        return design

    def draft(self, script: str, gates: bool) -> _Draft:
        """Mapped, and the best of trees by number of loads and of those made anew from slacks."""
        bare = self.mapped(script, gates)
        first, urgency = self._buffered(script, bare, None)
        second, _ = self._buffered(script, bare, urgency) if urgency else (first, None)
        return replace(min(first, second, key=lambda one: one.nanoseconds), mapped_ns=first.path.nanoseconds)

    def areas(self, gated: _Draft) -> dict[str, float]:
        """Areas of a netlist with clock gates, and of one without them that has trees by number of loads."""
        bare = self.mapped(gated.script, gates=False)["modules"]
        buffer_trees(bare, self.top, self.liberty.cells, self.buffer)
        both = {"gated_area": gated.design["modules"], "ungated_area": bare}
        return {name: _area(modules, self.top, self.liberty) for name, modules in both.items()}

    def _buffered(self, script: str, bare: dict[str, Any], urgency: Urgency | None) -> tuple[_Draft, Urgency | None]:
        design = copy.deepcopy(bare)
        fan_out = buffer_trees(design["modules"], self.top, self.liberty.cells, self.buffer, urgency)
        if not tools.find("sta"):
            return _Draft(script, design, CriticalPath(None, tools.missing("sta"), fan_out=fan_out)), None
        with session(design, self.top, self.memories, self.liberty) as timer:
            path = worst(timer, fan_out)
            if urgency:
                return _Draft(script, design, path), None
            slacks = _slacks(timer, bare["modules"], self.top, self.liberty.cells, path)
        return _Draft(script, design, path), Urgency(slacks, 2 * fo4.nanoseconds(self.liberty))


def _name_all(module: dict[str, Any]) -> None:
    """Give every cell a name that yosys keeps and the timer prints as it is."""
    cells = {}
    for number, (name, cell) in enumerate(module["cells"].items()):
        new = f"cell{number}" if name.startswith("$") else name.replace("\\", "n")
        cells[new if new not in cells else f"cell{number}"] = cell | {"hide_name": 0}
    module["cells"] = cells


def _slacks(
    timer: Session, netlist: Netlist, top: str, cells: Mapping[str, Cell], path: CriticalPath
) -> dict[tuple[str, str, str], float]:
    """By how much the pins of nets with several loads have more slack than the worst path, by module, cell and pin."""
    found = {}
    least = PERIOD - (path.nanoseconds or PERIOD)
    for module, paths in places(netlist, top).items():
        pins = _loaded(netlist[module], cells)
        names = " ".join(f"{{{cell}/{pin}}}" for cell, pin in pins)
        instances = " ".join(f"{{{path}}}" for path in paths[:_LOOKED_AT])
        answer = timer.ask(_ASK_SLACKS.format(pins=names, paths=instances)) if pins else ""
        for (cell, pin), slack in zip(pins, answer.split(), strict=True):
            found[module, cell, pin] = float(slack) - least
    return found


#: Worst slack of each pin over some instances of a module; 1000 where no path is.
_ASK_SLACKS = (
    "set found {{}}; foreach pin {{{pins}}} {{ set worst 1000; foreach path {{{paths}}} {{"
    " set one [sta::find_pin $path$pin]; foreach way {{max_rise_slack max_fall_slack}} {{"
    " set slack [get_property $one $way]; if {{[string is double -strict $slack] && $slack < $worst}}"
    " {{ set worst $slack }} }} }}; lappend found $worst }}; set found"
)


def _loaded(module: Mapping[str, Any], cells: Mapping[str, Cell]) -> list[tuple[str, str]]:
    """Pins of cells of the library on nets with several loads, or that leave the module."""
    pins: dict[Any, list[tuple[str, str]]] = defaultdict(list)
    for name, cell in module["cells"].items():
        for pin, bits in cell["connections"].items() if cell["type"] in cells else ():
            pins[bits[0]].append((name, pin))
    borders = {bit for port in module["ports"].values() for bit in port["bits"]}
    borders |= {
        bit
        for cell in module["cells"].values()
        if cell["type"] not in cells
        for bits in cell["connections"].values()
        for bit in bits
    }
    return [pin for bit, some in pins.items() if len(some) > _LOADS or bit in borders for pin in some]
