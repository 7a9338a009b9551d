"""Buffer trees in a mapped netlist, so that no driver has more loads than a limit, across the borders of modules."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from warpfile.synth.drive import Buffer
from warpfile.synth.liberty import Cell

#: Most loads of one driver.
LIMIT = 16
#: Fewest loads that get a buffer only to be away from a more urgent one.
SPLIT = 3

#: The port of every module that is its clock. Its net is taken as ideal: it gets no buffers and is not counted.
CLOCK = "clk"

#: Modules by name, as in a JSON netlist of yosys; black boxes have that attribute.
Netlist = dict[str, dict[str, Any]]

#: Bit of a port: module, port, index. The module that is looked at has no name here.
_Pin = tuple[str, str, int]


@dataclass(frozen=True)
class Urgency:
    """Slack in ns of pins by module, cell and pin, the worst of all instances of the module; delay of a buffer."""

    slacks: Mapping[tuple[str, str, str], float]
    buffer_ns: float


@dataclass(frozen=True)
class FanOut:
    """Most loads of one driver before and after the buffers, and the buffers put in, over all instances."""

    before: int
    after: int
    buffers: int


@dataclass
class _Sink:
    """One place that reads a net: ``bits[index]``, with as many loads as are behind it."""

    bits: list[Any]
    index: int
    loads: int = 1
    leaves: bool = False  #: it is an output port of the module
    slack: float = 0.0


@dataclass
class _Net:
    """What reads a bit; its driver, "port" or "cell" (None: nothing drives it); the driver's loads elsewhere, slack."""

    sinks: list[_Sink] = field(default_factory=list)
    driver: str | None = None
    elsewhere: int = 0
    slack: float = 0.0

    @property
    def loads(self) -> int:
        return self.elsewhere + _loads(self.sinks)


#: Puts a buffer before sinks; returns its input.
_Put = Callable[[list[_Sink]], _Sink]


def buffer_trees(
    netlist: Netlist, top: str, cells: Mapping[str, Cell], buffer: Buffer, urgency: Urgency | None = None
) -> FanOut:
    """Put buffers into ``netlist`` until no driver has more than ``LIMIT`` loads; nothing else changes.

    A load is a pin of a cell or of a black box, or a port of ``top``. Ports of modules are wires: what is behind them
    counts for the driver in front of them, and a module stays the same for all its instances. An output port that
    is wired to an input port or to another output port of its module gets a buffer, so that it has a driver of its own.
    Constants and nets of clocks are left alone. With ``urgency`` what has the most slack goes behind buffers first.
    """
    before = largest_fan_out(netlist, top, cells)
    borders = _Borders(netlist, cells, urgency)
    tree = functools.partial(_by_slack, delay=urgency.buffer_ns) if urgency else _by_levels
    instances = _instances(netlist, top)
    buffers = 0
    for name in _children_first(netlist, top):
        buffers += instances[name] * _buffer_module(netlist[name], borders.nets(netlist[name], name), buffer, tree)
        borders.note(name, borders.nets(netlist[name], name))
    return FanOut(before, largest_fan_out(netlist, top, cells), buffers)


def largest_fan_out(netlist: Netlist, top: str, cells: Mapping[str, Cell]) -> int:
    """Most loads of one driver; what is behind an output port that has no driver of its own counts as one load."""
    borders = _Borders(netlist, cells)
    largest = 0
    for name in _children_first(netlist, top):
        nets = borders.nets(netlist[name], name)
        largest = max([largest, *(net.loads for net in nets.values() if net.driver)])
        borders.note(name, nets)
    return largest


def _buffer_module(
    module: dict[str, Any], nets: Mapping[Any, _Net], buffer: Buffer, tree: Callable[[list[_Sink], int, _Put], None]
) -> int:
    """Buffers put into one module whose children are done."""
    named = (bit for wire in module["netnames"].values() for bit in wire["bits"])
    fresh = count(1 + max((bit for bit in named if isinstance(bit, int)), default=0))
    cells = module["cells"]
    first = len(cells)

    def put(bit: int, sinks: list[_Sink]) -> _Sink:
        behind, source = next(fresh), [bit]
        for sink in sinks:
            sink.bits[sink.index] = behind
        cells[f"fan_out_{behind}"] = {
            "hide_name": 0,
            "type": buffer.name,
            "parameters": {},
            "attributes": {},
            "connections": {buffer.input: source, buffer.output: [behind]},
        }
        return _Sink(source, 0, slack=min(sink.slack for sink in sinks))

    for bit, net in nets.items():
        for sink in net.sinks:
            sink.slack = net.slack if sink.leaves else sink.slack
        if net.driver:
            sinks = [put(bit, [sink]) if shared else sink for sink, shared in _outputs_marked(net)]
            tree(sinks, LIMIT - net.elsewhere, functools.partial(put, bit))
    for name, port in module["ports"].items():
        module["netnames"][name]["bits"] = port["bits"]
    return len(cells) - first


def _by_levels(sinks: list[_Sink], most: int, put: _Put) -> None:
    """Levels of buffers with about equal loads, until at most ``most`` loads are left."""
    while _loads(sinks) > most:
        sinks = [put(group) for group in _groups(sinks)]


def _by_slack(sinks: list[_Sink], most: int, put: _Put, delay: float) -> None:
    """Buffers before what has the most slack, until at most ``most`` loads are left.

    Another one keeps what has slack for it away from what has the least.
    """
    sinks = sorted(sinks, key=_slack)
    while _loads(sinks) > most:
        group = _fitting(sinks)
        behind = put(group)
        sinks = [sink for sink in sinks if not any(sink is one for one in group)]
        sinks = sorted([*sinks, replace(behind, slack=behind.slack - delay)], key=_slack)
    patient = [sink for sink in sinks if sink.slack > sinks[0].slack + 2 * delay]
    if _loads(patient) >= SPLIT:
        put(patient)


def _slack(sink: _Sink) -> float:
    return sink.slack


def _fitting(sinks: list[_Sink]) -> list[_Sink]:
    """Of sinks by rising slack the last that fit together; one alone only if it has several loads."""
    group: list[_Sink] = []
    for sink in reversed(sinks):
        if _loads([*group, sink]) <= LIMIT:
            group.append(sink)
    return group if _loads(group) > 1 else [max(sinks, key=lambda sink: sink.loads)]


def _outputs_marked(net: _Net) -> Iterator[tuple[_Sink, bool]]:
    """The sinks of a net, and whether each is an output port that needs a driver of its own."""
    taken = net.driver == "port"
    for sink in net.sinks:
        yield sink, sink.leaves and taken
        taken |= sink.leaves


def _groups(sinks: list[_Sink]) -> Iterator[list[_Sink]]:
    """Neighbouring sinks together, of about equal loads, none above ``LIMIT`` (one sink never is)."""
    share = -(-_loads(sinks) // -(-_loads(sinks) // LIMIT))
    group: list[_Sink] = []
    for sink in sinks:
        if group and _loads(group) + sink.loads > share:
            yield group
            group = []
        group.append(sink)
    yield group


def _loads(sinks: list[_Sink]) -> int:
    return sum(sink.loads for sink in sinks)


def _children_first(netlist: Netlist, top: str) -> list[str]:
    """Modules below and including ``top``, without black boxes, each after those that it instantiates."""
    order: dict[str, None] = {}

    def visit(name: str) -> None:
        for kind in dict.fromkeys(cell["type"] for cell in netlist[name]["cells"].values()):
            if kind in netlist and kind not in order and "blackbox" not in netlist[kind].get("attributes", {}):
                visit(kind)
        order[name] = None

    visit(top)
    return list(order)


def _instances(netlist: Netlist, top: str) -> dict[str, int]:
    counts = dict.fromkeys(netlist, 0) | {top: 1}
    for name in reversed(_children_first(netlist, top)):
        for cell in netlist[name]["cells"].values():
            if cell["type"] in netlist:
                counts[cell["type"]] += counts[name]
    return counts


class _Borders:
    """What the modules done so far look like from outside: loads behind each input, loads inside of each output."""

    def __init__(self, netlist: Netlist, cells: Mapping[str, Cell], urgency: Urgency | None = None) -> None:
        self._netlist = netlist
        self._cells = cells
        self._slacks = urgency.slacks if urgency else {}
        self._urgent: dict[_Pin, float] = {}
        self._behind: dict[_Pin, int] = {}
        self._inside: dict[_Pin, int] = {}

    def nets(self, module: Mapping[str, Any], name: str) -> dict[Any, _Net]:
        """Nets of a module by bit, without those of clocks; constants are nets without a driver."""
        nets: dict[Any, _Net] = {}
        clocks = list(module["ports"].get(CLOCK, {"bits": []})["bits"])
        for cell, kind, pin, bits, drives in self._ends(module):
            for index, bit in enumerate(bits):
                net = nets.setdefault(bit, _Net())
                place = kind, pin, index
                slack = self._urgent.get(place, self._slacks.get((name, cell, pin), 0.0))
                if drives:
                    net.driver = "cell" if kind else "port"
                    net.slack = slack
                    net.elsewhere = self._inside.get(place, 0)
                    if kind in self._cells and self._cells[kind].clock_gate:
                        clocks.append(bit)
                else:
                    net.sinks.append(_Sink(bits, index, self._behind.get(place, 1), not kind, slack))
        for bit in clocks:
            nets.pop(bit, None)
        return nets

    def _ends(self, module: Mapping[str, Any]) -> Iterator[tuple[str, str, str, list[Any], bool]]:
        """Cell, its kind, pin, its bits, and whether it drives them; the module's own ports under the names ""."""
        for name, port in module["ports"].items():
            yield "", "", name, port["bits"], port["direction"] == "input"
        for name, cell in module["cells"].items():
            for pin, bits in cell["connections"].items():
                yield name, cell["type"], pin, bits, self._direction(cell["type"], pin) == "output"

    def _direction(self, kind: str, pin: str) -> str:
        if kind in self._netlist:
            return self._netlist[kind]["ports"][pin]["direction"]
        return self._cells[kind].directions[pin]

    def note(self, name: str, nets: Mapping[Any, _Net]) -> None:
        """Remember the finished module ``name`` for those that instantiate it."""
        for port, facts in self._netlist[name]["ports"].items():
            for index, bit in enumerate(facts["bits"]):
                if (net := nets.get(bit)) and net.driver:
                    place = name, port, index
                    if facts["direction"] == "input":
                        self._behind[place] = net.loads
                        self._urgent[place] = min((sink.slack for sink in net.sinks), default=0.0)
                    else:
                        self._inside[place] = net.loads - 1


def name_cells(netlist: Netlist, cells: Mapping[str, Cell]) -> None:
    """Rename the cells that drive a named wire: ``wire_reg`` for flip-flops, ``wire_gate`` for others.

    Mapped cells have numbers only; with these names the pins of a path are found in the design's own Verilog.
    """
    for module in netlist.values():
        wires = _wire_names(module)
        renamed = {}
        for name, cell in module["cells"].items():
            kind = cells.get(cell["type"])
            driven = [cell["connections"][pin] for pin in kind.functions if pin in cell["connections"]] if kind else []
            wire = next((wires[bit] for (bit,) in driven if bit in wires), None)
            new = f"{wire}_{'reg' if kind and kind.flip_flop else 'gate'}" if wire else name
            taken = new in renamed or new in module["netnames"]
            renamed[name if taken else new] = cell | {"hide_name": int(taken or not wire)}
        module["cells"] = renamed


def _wire_names(module: Mapping[str, Any]) -> dict[int, str]:
    names: dict[int, str] = {}
    for name, wire in module["netnames"].items():
        if not wire["hide_name"]:
            for index, bit in enumerate(wire["bits"]):
                names.setdefault(bit, f"{name}[{index}]" if len(wire["bits"]) > 1 else name)
    return names
