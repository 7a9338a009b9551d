"""A mapped design flattened into one module, whose cells and nets have short names that every tool takes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from warpfile.synth.liberty import Cell


@dataclass(frozen=True)
class Pin:
    """A pin of a cell, or a port of the design where ``cell`` is empty; ``bit`` counts in buses, otherwise it is 0."""

    cell: str
    name: str
    bit: int = 0


@dataclass
class Net:
    """What drives a net, and what reads it; ``driver`` is None where nothing does."""

    driver: Pin | None
    loads: list[Pin]


@dataclass
class Flat:
    """A design with a single module ``top``, and black boxes.

    ``design`` is as a JSON netlist of yosys: cells have names ``c0``, ``c1``, ..., and ``paths`` gives what they were
    called in the hierarchy, instances with "/" between. Memories are cells whose kind is in ``memories``. ``fresh`` is
    the number of the next new net.
    """

    design: dict[str, Any]
    top: str
    paths: dict[str, str]
    memories: frozenset[str]
    fresh: int

    @property
    def cells(self) -> dict[str, Any]:
        """Cells of the module by name."""
        found: dict[str, Any] = self.design["modules"][self.top]["cells"]
        return found

    @property
    def ports(self) -> Mapping[str, Any]:
        """Ports of the module by name."""
        found: Mapping[str, Any] = self.design["modules"][self.top]["ports"]
        return found

    def drives(self, kind: str, pin: str, cells: Mapping[str, Cell]) -> bool:
        """Whether a pin of a cell of this kind is an output."""
        if kind in self.memories:
            return bool(self.design["modules"][kind]["ports"][pin]["direction"] == "output")
        return cells[kind].directions[pin] == "output"

    def nets(self, cells: Mapping[str, Cell]) -> dict[int, Net]:
        """All nets but constants, by number."""
        found: dict[int, Net] = defaultdict(lambda: Net(None, []))
        for pin, bit, drives in self._ends(cells):
            if drives:
                found[bit].driver = pin
            else:
                found[bit].loads.append(pin)
        return dict(found)

    def _ends(self, cells: Mapping[str, Cell]) -> Iterator[tuple[Pin, int, bool]]:
        for name, port in self.ports.items():
            for index, bit in _numbers(port["bits"]):
                yield Pin("", name, index), bit, port["direction"] == "input"
        for name, cell in self.cells.items():
            for pin, bits in cell["connections"].items():
                drives = self.drives(cell["type"], pin, cells)
                for index, bit in _numbers(bits):
                    yield Pin(name, pin, index), bit, drives

    def named(self, pin: str) -> str:
        """A pin or cell as the timer prints it, with the name of the hierarchy."""
        cell, slash, rest = pin.partition("/")
        return f"{self.paths[cell]}{slash}{rest}" if cell in self.paths else pin

    def driver_name(self, net: Net) -> str:
        """What drives a net, with the name of the hierarchy: "cell/pin", or a port."""
        pin = net.driver
        if pin is None or not pin.cell:
            return pin.name if pin else ""
        return f"{self.paths[pin.cell]}/{pin.name}"

    def insert(self, kind: str, path: str, source: str, output: str, bit: int, loads: Iterable[Pin]) -> str:
        """Put a cell of one input behind net ``bit`` and before these of its loads; its name."""
        name, behind = f"c{len(self.paths)}", self.fresh
        self.fresh += 1
        self.paths[name] = path
        self.cells[name] = _cell(kind, {source: [bit], output: [behind]})
        for pin in loads:
            bits = self.cells[pin.cell]["connections"][pin.name] if pin.cell else self.ports[pin.name]["bits"]
            bits[pin.bit] = behind
        return name

    def names(self) -> Callable[[object], str]:
        """Names of nets by number: those of the ports that they are, otherwise ``n`` and the number; and constants."""
        found: dict[object, str] = {"0": "1'b0", "1": "1'b1", "x": "1'b0"}
        for name, port in self.ports.items():
            for wire, bit in zip(_wires(name, port["bits"]), port["bits"], strict=True):
                found.setdefault(bit, wire)
        return lambda bit: found.get(bit) or f"n{bit}"

    def verilog(self) -> str:
        """The module as Verilog."""
        ports, names = self.ports, self.names()
        lines = [f"module {self.top}({', '.join(ports)});"]
        lines += [f"  {one['direction']} {_range(one['bits'])}{name};" for name, one in ports.items()]
        for name, one in ports.items():
            ends = zip(_wires(name, one["bits"]), map(names, one["bits"]), strict=True)
            lines += [f"  assign {wire} = {net};" for wire, net in ends if wire != net]
        for name, cell in self.cells.items():
            pins = (f".{pin}({_bus(list(map(names, bits)))})" for pin, bits in cell["connections"].items())
            lines.append(f"  {cell['type']} {name} ({', '.join(pins)});")
        return "\n".join([*lines, "endmodule\n"])


def _numbers(bits: Iterable[Any]) -> Iterator[tuple[int, int]]:
    return ((index, bit) for index, bit in enumerate(bits) if isinstance(bit, int))


def _cell(kind: str, connections: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    return {"hide_name": 0, "type": kind, "parameters": {}, "attributes": {}, "connections": dict(connections)}


def _range(bits: Sequence[object]) -> str:
    return f"[{len(bits) - 1}:0] " if len(bits) > 1 else ""


def _wires(name: str, bits: Sequence[object]) -> list[str]:
    return [f"{name}[{index}]" for index in range(len(bits))] if len(bits) > 1 else [name]


def _bus(nets: Sequence[str]) -> str:
    return nets[0] if len(nets) == 1 else f"{{{', '.join(reversed(nets))}}}"


def flattened(design: Mapping[str, Any], top: str) -> Flat:
    """The design without its hierarchy: every cell of the library and every memory once per instance.

    Black boxes of the netlist are its memories. Nets that are wired through a module are one net.
    """
    return _Flattening(design["modules"], top).run()


class _Flattening:
    """One pass over all instances; nets that turn out to be one are merged at the end."""

    def __init__(self, modules: Mapping[str, Any], top: str) -> None:
        self._modules, self._top = modules, top
        self._boxes = {name for name, one in modules.items() if "blackbox" in one.get("attributes", {})}
        self._same: dict[Any, Any] = {}
        self._next = 0
        self._paths: dict[str, str] = {}
        self._cells: dict[str, Any] = {}

    def run(self) -> Flat:
        module = self._modules[self._top]
        ports = {
            name: {**port, "bits": [self._fresh() for _ in port["bits"]]} for name, port in module["ports"].items()
        }
        self._visit(self._top, "", {name: port["bits"] for name, port in ports.items()})
        for cell in self._cells.values():
            cell["connections"] = {pin: self._roots(bits) for pin, bits in cell["connections"].items()}
        ports = {name: {**port, "bits": self._roots(port["bits"])} for name, port in ports.items()}
        flat = {"attributes": {}, "ports": ports, "cells": self._cells, "netnames": {}}
        modules = {self._top: flat} | {name: self._modules[name] for name in sorted(self._boxes)}
        return Flat({"creator": "", "modules": modules}, self._top, self._paths, frozenset(self._boxes), self._next + 1)

    def _visit(self, name: str, path: str, outside: Mapping[str, Sequence[Any]]) -> None:
        """Take in one instance, whose ports are these nets."""
        inside: dict[Any, Any] = {}
        for port, facts in self._modules[name]["ports"].items():
            for own, bit in zip(facts["bits"], outside.get(port, ()), strict=False):
                self._join(inside.setdefault(own, bit) if isinstance(own, int) else own, bit)
        for cell, facts in self._modules[name]["cells"].items():
            pins = {pin: [self._net(inside, bit) for bit in bits] for pin, bits in facts["connections"].items()}
            if facts["type"] in self._modules and facts["type"] not in self._boxes:
                self._visit(facts["type"], f"{path}{cell}/", pins)
            else:
                new = f"c{len(self._cells)}"
                self._paths[new] = f"{path}{cell}"
                self._cells[new] = _cell(facts["type"], pins)

    def _fresh(self) -> int:
        self._next += 1
        return self._next

    def _net(self, inside: dict[Any, Any], bit: Any) -> Any:
        if not isinstance(bit, int):
            return bit
        if bit not in inside:
            inside[bit] = self._fresh()
        return inside[bit]

    def _join(self, one: Any, other: Any) -> None:
        """Make two nets, or a net and a constant, the same."""
        one, other = self._root(one), self._root(other)
        if one != other:
            kept, lost = (one, other) if isinstance(other, int) else (other, one)
            self._same[lost] = kept

    def _root(self, bit: Any) -> Any:
        while bit in self._same:
            bit = self._same[bit]
        return bit

    def _roots(self, bits: Iterable[Any]) -> list[Any]:
        return [self._root(bit) for bit in bits]
