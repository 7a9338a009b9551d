"""A mapped netlist as Verilog that simulates: an assignment per gate, a register per flip-flop, a name per net.

The nets of a module are called ``n`` and yosys' number of the bit, instances ``i`` and their place, so that what a
simulation records can be found again in the netlist.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from warpfile.synth.liberty import Cell, Liberty

Module = Mapping[str, Any]
Connections = Mapping[str, list[int | str]]

_MODULE = re.compile(r"^module (\\\S+|\w+).*?^endmodule\n", re.MULTILINE | re.DOTALL)
_TOKEN = re.compile(r"\w+|[()!'*&+|^]")
_CLOSES = re.compile(r"[\w)']")
_PLAIN = {"*": "&", "+": "|", "!": "~"}


def gate_verilog(design: Mapping[str, Any], library: Liberty, memories: Iterable[str], verilog: str) -> str:
    """A mapped JSON netlist of yosys as Verilog of the same modules and ports; ``memories`` as ``verilog`` has them.

    Raises ``ValueError`` for a cell that is neither a gate nor a flip-flop that a rising edge sets to one of its pins.
    """
    texts = {match[1].removeprefix("\\"): match[0] for match in _MODULE.finditer(verilog)}
    modules: Mapping[str, Module] = design["modules"]
    return "".join(
        texts[name] if name in memories else "\n".join(_module(name, module, library)) + "\n"
        for name, module in modules.items()
    )


def instances(module: Module, library: Liberty) -> dict[str, str]:
    """Modules of the instances in a module, by the names that they have in the Verilog."""
    kinds = [cell["type"] for cell in module["cells"].values()]
    return {f"i{number}": kind for number, kind in enumerate(kinds) if kind not in library.cells}


def flip_flop_pins(cell: Cell, library: Liberty) -> tuple[str, str]:
    """Data and clock pin of a flip-flop. Raises ``ValueError`` for one with more."""
    found = re.search(rf'\bcell\s*\(\s*"?{cell.name}"?\s*\).*?\bff\s*\([^)]*\)\s*{{(.*?)}}', library.text, re.DOTALL)
    facts = dict(re.findall(r'(\w+)\s*:\s*"?([^";]*)"?\s*;', found[1])) if found else {}
    pins = facts.get("next_state", ""), facts.get("clocked_on", "")
    if set(facts) != {"next_state", "clocked_on"} or not set(pins) <= set(cell.inputs):
        raise ValueError(f"{cell.name} must be a flip-flop with data and clock alone for its switching to be counted")
    return pins


def _module(name: str, module: Module, library: Liberty) -> Iterator[str]:
    ports = module["ports"]
    yield _head(name, ports)
    registers = set(_registers(module, library))
    for port, facts in ports.items():
        yield f"  {facts['direction']} [{len(facts['bits']) - 1}:0] {_escaped(port)};"
    for bit in sorted(_bits(module)):
        yield f"  {'reg' if bit in registers else 'wire'} n{bit};"
    for port, facts in ports.items():
        if facts["direction"] == "input":
            yield from (f"  assign n{bit} = {_escaped(port)}[{at}];" for at, bit in enumerate(facts["bits"]))
        else:
            yield f"  assign {_escaped(port)} = {_joined(facts['bits'])};"
    for number, cell in enumerate(module["cells"].values()):
        kind, connections = cell["type"], cell["connections"]
        if kind in library.cells:
            yield from _cell(library, library.cells[kind], connections)
        else:
            pins = ", ".join(f".{_escaped(pin)}({_joined(bits)})" for pin, bits in connections.items())
            yield f"  {_called(kind)} i{number} ({pins});"
    yield "endmodule"


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


def _registers(module: Module, library: Liberty) -> Iterator[int]:
    """Nets that flip-flops drive."""
    for cell in module["cells"].values():
        kind = library.cells.get(cell["type"])
        if kind and kind.flip_flop:
            yield from (
                bit for pin in kind.functions for bit in cell["connections"].get(pin, ()) if isinstance(bit, int)
            )


def _cell(library: Liberty, cell: Cell, connections: Connections) -> Iterator[str]:
    nets = {pin: _net(bits[0]) for pin, bits in connections.items() if bits}
    if cell.flip_flop:
        data, clock = flip_flop_pins(cell, library)
        for pin in cell.functions:
            if pin in nets:
                yield f"  always @(posedge {nets[clock]}) {nets[pin]} <= {nets[data]};"
    elif cell.latch:
        raise ValueError(f"{cell.name} must be no latch for its switching to be counted")
    else:
        yield from (
            f"  assign {nets[pin]} = {expression(function, nets)};"
            for pin, function in cell.functions.items()
            if pin in nets
        )


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
