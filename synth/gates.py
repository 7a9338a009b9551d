"""A mapped netlist as Verilog that simulates: an assignment per gate, a register per flip-flop, a name per net.

The nets of a module are called ``n`` and yosys' number of the bit, instances ``i`` and their place, so that what a
simulation records can be found again in the netlist. What a cell stores is ``s`` and the place of the cell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from warpfile.synth.liberty import Liberty
from warpfile.synth.sequential import ClockGate, FlipFlop, sequential

Module = Mapping[str, Any]
Connections = Mapping[str, list[int | str]]

_MODULE = re.compile(r"^module (\\\S+|\w+).*?^endmodule\n", re.MULTILINE | re.DOTALL)
_TOKEN = re.compile(r"\w+|[()!'*&+|^]")
_CLOSES = re.compile(r"[\w)']")
_PLAIN = {"*": "&", "+": "|", "!": "~"}


def gate_verilog(design: Mapping[str, Any], library: Liberty, memories: Iterable[str], verilog: str) -> str:
    """A mapped JSON netlist of yosys as Verilog of the same modules and ports; ``memories`` as ``verilog`` has them.

    Raises ``ValueError`` for a cell that is neither a gate nor one of :mod:`warpfile.synth.sequential`.
    """
    texts = {match[1].removeprefix("\\"): match[0] for match in _MODULE.finditer(verilog)}
    modules: Mapping[str, Module] = design["modules"]
    kinds = {cell["type"] for module in modules.values() for cell in module["cells"].values()}
    writer = _Writer(library, sequential(library, kinds))
    return "".join(
        texts[name] if name in memories else "\n".join(writer.module(name, module)) + "\n"
        for name, module in modules.items()
    )


def instances(module: Module, library: Liberty) -> dict[str, str]:
    """Modules of the instances in a module, by the names that they have in the Verilog."""
    kinds = [cell["type"] for cell in module["cells"].values()]
    return {f"i{number}": kind for number, kind in enumerate(kinds) if kind not in library.cells}


class _Writer:
    """Modules as Verilog; ``stores`` are cells that are no gates."""

    def __init__(self, library: Liberty, stores: Mapping[str, FlipFlop | ClockGate]) -> None:
        self._library, self._stores = library, stores

    def module(self, name: str, module: Module) -> Iterator[str]:
        """The lines of a module."""
        ports = module["ports"]
        yield _head(name, ports)
        for port, facts in ports.items():
            yield f"  {facts['direction']} [{len(facts['bits']) - 1}:0] {_escaped(port)};"
        yield from (f"  wire n{bit};" for bit in sorted(_bits(module)))
        for port, facts in ports.items():
            if facts["direction"] == "input":
                yield from (f"  assign n{bit} = {_escaped(port)}[{at}];" for at, bit in enumerate(facts["bits"]))
            else:
                yield f"  assign {_escaped(port)} = {_joined(facts['bits'])};"
        for number, cell in enumerate(module["cells"].values()):
            kind, connections = cell["type"], cell["connections"]
            if kind in self._library.cells:
                yield from self._cell(kind, number, connections)
            else:
                pins = ", ".join(f".{_escaped(pin)}({_joined(bits)})" for pin, bits in connections.items())
                yield f"  {_called(kind)} i{number} ({pins});"
        yield "endmodule"

    def _cell(self, kind: str, number: int, connections: Connections) -> Iterator[str]:
        nets = {pin: _net(bits[0]) for pin, bits in connections.items() if bits}
        functions, stored, store = self._library.cells[kind].functions, f"s{number}", self._stores.get(kind)
        if isinstance(store, ClockGate):
            if store.output in nets:
                yield from _clock_gate(store, stored, nets)
            return
        if store:
            yield from _flip_flop(store, stored, nets)
            nets |= {store.state: stored, store.inverse: f"(~{stored})"}
        yield from (
            f"  assign {nets[pin]} = {expression(function, nets)};"
            for pin, function in functions.items()
            if pin in nets
        )


def _flip_flop(cell: FlipFlop, stored: str, nets: Mapping[str, str]) -> Iterator[str]:
    ways = [(name, expression(way, nets)) for name, way in (("0", cell.clear), ("1", cell.preset)) if way]
    yield f"  reg {stored};"
    edges = [f"posedge {nets[cell.clock]}"]
    steps = []
    for value, way in ways:
        yield f"  wire {stored}_{value} = {way};"
        edges.append(f"posedge {stored}_{value}")
        steps.append(f"if ({stored}_{value}) {stored} <= 1'b{value}; else ")
    yield f"  always @({' or '.join(edges)}) {''.join(steps)}{stored} <= {expression(cell.data, nets)};"


def _clock_gate(cell: ClockGate, stored: str, nets: Mapping[str, str]) -> Iterator[str]:
    clock, enables = nets[cell.clock], " | ".join(nets[pin] for pin in cell.enables if pin in nets)
    yield f"  reg {stored};"
    yield f"  always @* if (!{clock}) {stored} = {enables};"
    yield f"  assign {nets[cell.output]} = {clock} & {stored};"


def _head(name: str, ports: Iterable[str]) -> str:
    return f"module {_called(name)} ({', '.join(map(_escaped, ports))});"


def _escaped(name: str) -> str:
    """A port may be called like a word of Verilog."""
    return f"\\{name} "


def _called(module: str) -> str:
    """Name of a module in the Verilog; those who read a machine know plain names only."""
    return module.replace(".", "__")


def _bits(module: Module) -> set[int]:
    """All nets of a module."""
    used = [bit for facts in module["ports"].values() for bit in facts["bits"]]
    used += [bit for cell in module["cells"].values() for bits in cell["connections"].values() for bit in bits]
    return {bit for bit in used if isinstance(bit, int)}


def expression(function: str, nets: Mapping[str, str]) -> str:
    """A function of a Liberty file as one of Verilog, with nets instead of pins."""
    written: list[str] = []
    for token in _TOKEN.findall(function):
        if token == "'":  # stands behind what it inverts
            start = _operand(written)
            written[start:] = ["~", "(", *written[start:], ")"]
            continue
        if (
            written
            and _CLOSES.fullmatch(written[-1][-1])
            and (token in ("!", "(") or token[0].isalnum() or token[0] == "_")
        ):
            written.append("&")
        written.append(_PLAIN.get(token, nets.get(token, f"1'b{token}" if token in "01" else token)))
    return " ".join(written)


def _operand(written: list[str]) -> int:
    """Where the last operand begins."""
    depth = 0
    for at in range(len(written) - 1, -1, -1):
        depth += (written[at] == ")") - (written[at] == "(")
        if depth == 0:
            return at
    raise ValueError("a parenthesis is not closed")


def _net(bit: int | str) -> str:
    return f"n{bit}" if isinstance(bit, int) else "1'b1" if bit == "1" else "1'b0"


def _joined(bits: Iterable[int | str]) -> str:
    return "{" + ", ".join(_net(bit) for bit in reversed(list(bits))) + "}"
