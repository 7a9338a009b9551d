"""Parts of a design and what connects them, taken from its Verilog, folded to a number of levels.

A connection is found by following names: through assignments that only rename, cut or join bits. Where a value is
computed, the connection ends in the *own logic* of the module that computes it. Bits of a connection are those of all
pins in which it ends, and between modules at most those of the pin in which it starts.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from warpfile.hdl.expressions import Cat, Const, Expression, Ref, UnknownTextError, refs, width
from warpfile.hdl.netlist import Instance, Netlist, parts, read, reads
from warpfile.synth.netlist import ModuleFacts, instance_counts, read_modules

#: Of every part; they are not drawn.
COMMON = ("clk", "rst")
_MODULE = re.compile(r"^module (\\\S+|\w+)", re.MULTILINE)
_PORT = re.compile(r"^ +(input|output) (?:wire |reg )? *(?:\[(\d+):0\])? *(\w+)", re.MULTILINE)

#: A place in the folded design: names of modules from the top to a part; () is the top's own logic.
Place = tuple[str, ...]
#: Bits of a connection by the name of the signal, in the module where the two ends meet.
Signals = Counter[str]


@dataclass(frozen=True)
class Block:
    """A box: all instances of ``module`` in one place. Flip-flops and memory bits are of one, with all parts in it."""

    place: Place
    module: str
    count: int
    flip_flops: int
    memory_bits: int
    parts: Mapping[str, int]  #: modules drawn as this box, and how many of each one instance has, itself included
    opened: bool  #: whether its parts have boxes of their own; then the numbers are of its own logic


@dataclass(frozen=True)
class Diagram:
    """Boxes, and signals between two of them; the ports of the machine are ``inputs`` and ``outputs``."""

    blocks: tuple[Block, ...]
    connections: Mapping[tuple[Place, Place], Signals]
    inputs: Mapping[Place, Signals]
    outputs: Mapping[Place, Signals]


@dataclass(frozen=True)
class Part:
    """A module: what it holds, its ports with direction and width, and its inside, None of one that is a memory."""

    facts: ModuleFacts
    ports: Mapping[str, tuple[str, int]]
    netlist: Netlist | None


def modules(text: str) -> dict[str, Part]:
    """The modules of Verilog as yosys writes it, by name."""
    found, facts = {}, read_modules(text)
    for body in re.split(r"(?<=^endmodule\n)", text, flags=re.MULTILINE):
        if named := _MODULE.search(body):
            try:
                netlist = read(body)
                ports = {port: (way, netlist.widths[port]) for port, way in netlist.directions.items()}
            except UnknownTextError:
                netlist = None
                ports = {name: (way, int(high or 0) + 1) for way, high, name in _PORT.findall(body)}
            found[plain(named[1])] = Part(facts[plain(named[1])], ports, netlist)
    return found


def diagram(modules: Mapping[str, Part], top: str, levels: int) -> Diagram:
    """The parts of ``top`` as boxes within boxes, ``levels`` deep."""
    return _Design(modules).folded(top, levels)


def plain(name: str) -> str:
    """A module's name without the sign of an escape."""
    return name.removeprefix("\\")


#: An end of a connection within a module: ("own",), ("port", name), ("pin", instance, pin).
_End = tuple[str, ...]
_OWN: _End = ("own",)


@dataclass
class _Folded:
    """A module's inside: connections between places in it, and from and to its ports."""

    inner: dict[tuple[Place, Place], Signals] = field(default_factory=lambda: defaultdict(Counter))
    inputs: dict[str, Counter[Place]] = field(default_factory=lambda: defaultdict(Counter))
    outputs: dict[str, Counter[Place]] = field(default_factory=lambda: defaultdict(Counter))
    through: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))  #: outputs from inputs


class _Design:
    """Modules by name."""

    def __init__(self, modules: Mapping[str, Part]) -> None:
        self._modules = modules
        self._facts = {name: part.facts for name, part in modules.items()}
        self._known: dict[tuple[str, int], _Folded] = {}

    def folded(self, top: str, levels: int) -> Diagram:
        """The diagram of a module."""
        one = self._inside(top, levels)
        ways: tuple[dict[Place, Signals], dict[Place, Signals]] = (defaultdict(Counter), defaultdict(Counter))
        for way, ports in zip(ways, (one.inputs, one.outputs), strict=True):
            for port, ends in ports.items():
                for place, bits in ends.items():
                    way[place][stem(port.partition("__")[0])] += bits
        return Diagram(tuple(self._blocks(top, (), levels)), one.inner, *ways)

    def _blocks(self, module: str, place: Place, levels: int, count: int = 1) -> Iterator[Block]:
        opened = bool(self._netlist(module, levels))
        drawn = Counter([module]) if opened else instance_counts(self._facts, module)
        held = [(self._facts[name], times) for name, times in drawn.items()]
        flip_flops = sum((facts.flip_flops + facts.latches) * times for facts, times in held)
        memory_bits = sum(memory.bits * times for facts, times in held for memory in facts.memories)
        yield Block(place, module, count, flip_flops, memory_bits, parts=drawn, opened=opened)
        if opened:
            for name, times in self._facts[module].instances.items():
                yield from self._blocks(name, (*place, name), levels - 1, times)

    def _netlist(self, module: str, levels: int) -> Netlist | None:
        """The inside of a module that is opened."""
        netlist = self._modules[module].netlist
        return netlist if levels and netlist and netlist.instances else None

    def _inside(self, module: str, levels: int) -> _Folded:
        key = (module, levels)
        if key not in self._known:
            netlist = self._netlist(module, levels)
            self._known[key] = self._opened(netlist, levels) if netlist else self._closed(module)
        return self._known[key]

    def _closed(self, module: str) -> _Folded:
        """All ports end in the box."""
        one = _Folded()
        for port, (way, bits) in self._modules[module].ports.items():
            (one.inputs if way == "input" else one.outputs)[port][()] = bits
        return one

    def _opened(self, netlist: Netlist, levels: int) -> _Folded:
        """What connects the parts, with the insides of the parts in their places."""
        names = {one.name: plain(one.module) for one in netlist.instances}
        insides = {one: self._inside(name, levels - 1) for one, name in names.items()}
        outputs = {
            name: {port for port, (way, _) in self._modules[name].ports.items() if way == "output"}
            for name in names.values()
        }
        links = list(_Wires(netlist, outputs).links())
        feeding: dict[_End, list[tuple[_End, int]]] = defaultdict(list)
        for source, target, bits in links:
            feeding[target].append((source, bits))

        def starts(end: _End, bits: int, seen: frozenset[_End]) -> Iterator[tuple[_End, Place, int]]:
            """Places, or ports, in which a connection begins."""
            if end[0] != "pin":
                yield end, (), bits
                return
            inside = insides[end[1]]
            for place, most in inside.outputs.get(end[2], {}).items():
                yield end, (names[end[1]], *place), min(bits, most)
            for pin, most in inside.through.get(end[2], {}).items():
                before = ("pin", end[1], pin)
                for source, some in feeding[before] if before not in seen else ():
                    yield from starts(source, min(bits, most, some), seen | {before})

        result = _Folded()
        for source, target, bits in links:
            signal = stem(next((end[-1] for end in (source, target) if end[0] == "pin"), target[-1]))
            inside = insides[target[1]].inputs.get(target[2], {}) if target[0] == "pin" else {(): bits}
            for end, place, some in starts(source, bits, frozenset()):
                for within, most in inside.items():
                    into = (names[target[1]], *within) if target[0] == "pin" else ()
                    _join(result, (end, place), (target, into), signal, min(some, most))
        for each, count in Counter(names.values()).items():
            for (source, target), signals in self._inside(each, levels - 1).inner.items():
                for signal, bits in signals.items():
                    result.inner[(each, *source), (each, *target)][signal] += bits * count
        return result


def _join(result: _Folded, source: tuple[_End, Place], target: tuple[_End, Place], signal: str, bits: int) -> None:
    """Note a connection: within the module, with one of its ports, or from port to port."""
    (start, place), (end, into) = source, target
    if start[0] == "port" and end[0] == "port":
        result.through[end[1]][start[1]] += bits
    elif start[0] == "port":
        result.inputs[start[1]][into] += bits
    elif end[0] == "port":
        result.outputs[end[1]][place] += bits
    elif place != into:
        result.inner[place, into][signal] += bits


def stem(name: str) -> str:
    """A signal's name without the number of one among several."""
    return re.sub(r"\d+$", "", name.removeprefix("\\").partition("__")[0]) or name


def _targets(statements: Iterable[object]) -> Iterator[Ref]:
    for one in parts(statements):  # type: ignore[arg-type]
        yield from refs(one.target)


class _Wires:
    """What is connected to what in a module: its ports, the pins of its parts, its own logic."""

    def __init__(self, netlist: Netlist, outputs: Mapping[str, set[str]]) -> None:
        self._netlist, self._outputs = netlist, outputs
        self._driven: dict[str, list[tuple[Ref, Expression | _End]]] = defaultdict(list)
        for one in netlist.drivers:
            self._drive(one.target, one.value)
        for instance in netlist.instances:
            for pin, value in self._pins(instance, outputs=True):
                self._drive(value, ("pin", instance.name, pin))

    def _drive(self, target: Expression, value: Expression | _End) -> None:
        if isinstance(target, Ref):
            self._driven[target.name].append((target, value))
        else:  # bits of several nets: a part of a value, which own logic would cut
            for one in refs(target):
                self._driven[one.name].append((one, value if isinstance(value, tuple) else _OWN))

    def _pins(self, instance: Instance, outputs: bool) -> Iterator[tuple[str, Expression]]:
        known = self._outputs[plain(instance.module)]
        for pin, value in instance.pins.items():
            if value is not None and pin not in COMMON and (pin in known) == outputs:
                yield pin, value

    @cached_property
    def _computed(self) -> set[str]:
        """Nets that a block or a register gives a value."""
        blocks = (*self._netlist.blocks, *(one.statements for one in self._netlist.clocked))
        return {one.name for statements in blocks for one in _targets(statements)}

    def links(self) -> Iterator[tuple[_End, _End, int]]:
        """Source, target and bits of every connection."""
        for instance in self._netlist.instances:
            for pin, value in self._pins(instance, outputs=False):
                yield from self._linked(value, ("pin", instance.name, pin))
        for port, way in self._netlist.directions.items():
            if way == "output":
                yield from self._linked(Ref(port), ("port", port))
        read: dict[_End, int] = {}
        for one in dict.fromkeys(self._looked_at()):
            for source, bits in self._sources(one):
                read[source] = max(bits, read.get(source, 0))
        yield from ((source, _OWN, bits) for source, bits in read.items() if source != _OWN)

    def _looked_at(self) -> Iterator[Ref]:
        """What own logic reads."""
        for one in self._netlist.drivers:
            if not _renames(one.value):
                yield from refs(one.value)
        for statements in (*self._netlist.blocks, *(one.statements for one in self._netlist.clocked)):
            yield from reads(statements)

    def _linked(self, value: Expression, target: _End) -> Iterator[tuple[_End, _End, int]]:
        found: dict[_End, int] = {}
        for source, bits in self._sources(value):
            if source[-1] not in COMMON:
                found[source] = found.get(source, 0) + bits
        yield from ((source, target, bits) for source, bits in found.items())

    def _sources(self, value: Expression) -> Iterator[tuple[_End, int]]:
        """Ends that bits come from, and how many bits."""
        if isinstance(value, Cat):
            for one in value.items:
                yield from self._sources(one)
        elif isinstance(value, Ref):
            yield from self._of(value)
        elif not isinstance(value, Const):
            yield _OWN, width(value, self._netlist.widths)

    def _of(self, one: Ref) -> Iterator[tuple[_End, int]]:
        high, low = self._range(one)
        if self._netlist.directions.get(one.name) == "input":
            if one.name not in COMMON:
                yield ("port", one.name), high - low + 1
        elif one.name in self._computed:
            yield _OWN, high - low + 1
        else:
            for target, value in self._driven[one.name]:
                top, bottom = self._range(target)
                if bottom <= high and low <= top:
                    yield from self._cut(value, min(high, top) - bottom, max(low, bottom) - bottom)

    def _cut(self, value: Expression | _End, high: int, low: int) -> Iterator[tuple[_End, int]]:
        if isinstance(value, tuple):
            yield value, high - low + 1
        elif isinstance(value, Ref):
            base = self._range(value)[1]
            yield from self._of(Ref(value.name, base + high, base + low))
        elif isinstance(value, Cat):
            at = 0
            for item in reversed(value.items):
                bits = width(item, self._netlist.widths)
                if low < at + bits and at <= high:
                    yield from self._cut(item, min(high - at, bits - 1), max(low - at, 0))
                at += bits
        elif not isinstance(value, Const):
            yield _OWN, high - low + 1

    def _range(self, one: Ref) -> tuple[int, int]:
        return (self._netlist.widths[one.name] - 1, 0) if one.high is None else (one.high, one.low)


def _renames(value: Expression) -> bool:
    return isinstance(value, Ref | Const) or (isinstance(value, Cat) and all(map(_renames, value.items)))
