"""What a waveform shows beside the machine: the words of a run, field by field, under their names.

At its pins and in its observation word a machine has few and wide words. The harness of a traced simulation has a scope
``view`` with a wire for every field, in groups; values that have names are of an enumerated type where the simulator
puts those into its waveforms.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from warpfile.schemes import Scheme
from warpfile.sim.harness_pins import pins
from warpfile.sim.simulators import TOPLEVEL
from warpfile.sim.stimulus import positions, stimulus_fields
from warpfile.spec.beat import (
    decode_fields,
    dispatch_fields,
    kernel_fields,
    launch_fields,
    missed_fields,
    result_fields,
)
from warpfile.spec.config import Config
from warpfile.spec.encoding import NUMBER, Field, named_values, record
from warpfile.spec.frame import frame_probes
from warpfile.spec.probe import Probe, ProbeLayout

#: Scope of the harness that holds the groups.
SCOPE = "view"


@dataclass(frozen=True)
class Signal:
    """A named wire of ``width`` bits. ``value``: its Verilog, ``names``: what its values are called if they have names,
    ``decimal``: it is a number.
    """

    name: str
    width: int
    value: str = ""
    names: Mapping[int, str] = field(default_factory=dict)
    decimal: bool = False

    @property
    def kind(self) -> str:
        """Its name without a port's number: signals of one kind have the same names of values."""
        return self.name.rstrip("0123456789")


@dataclass(frozen=True)
class Group:
    """Signals of one scope, and scopes within it."""

    name: str
    signals: tuple[Signal, ...] = ()
    groups: tuple[Group, ...] = ()

    def walk(self) -> Iterator[Signal]:
        """All signals, those of inner groups too."""
        yield from self.signals
        for group in self.groups:
            yield from group.walk()


def view(scheme: Scheme, cfg: Config) -> tuple[Group, ...]:
    """Pins and observation of a machine: the pins by record, the probes by the part that declares them."""
    layout = ProbeLayout(scheme.probes(cfg))
    parts = [part.probes(cfg) for part in scheme.parts(cfg)]
    named = zip(("frame", "scheduler", "collectors", "banks"), (frame_probes(cfg), *parts), strict=True)
    return _pins(cfg, layout), *(Group(name, tuple(_probes(layout, probes))) for name, probes in named)


def _probes(layout: ProbeLayout, probes: Iterable[Probe]) -> Iterator[Signal]:
    for one in probes:
        yield Signal(one.name, one.width, _bits("probe", layout.offset[one.name], one.width), named_values(one.values))


def _bits(word: str, low: int, width: int) -> str:
    return f"{word}[{low + width - 1}:{low}]"


def _pins(cfg: Config, layout: ProbeLayout) -> Group:
    widths = dict(pins(cfg, layout))
    levels = tuple(_pin(name, name, width) for name, width in widths.items() if "__ready" not in name)
    inputs = [_input(cfg, "launch", launch_fields(cfg)), _input(cfg, "decode", decode_fields(cfg))]
    if cfg.gives.kernel:
        inputs.append(_input(cfg, "kernel", kernel_fields(cfg)))
    if cfg.sees_misses:
        inputs.append(_input(cfg, "missed", missed_fields(cfg)))
    outputs = [_dispatch(cfg, port) for port in range(cfg.ports)]
    return Group("pins", levels, (*inputs, *outputs, *(_result(cfg, port) for port in range(cfg.write_ports))))


def _pin(name: str, pin: str, width: int = 1) -> Signal:
    return Signal(name, width, f"pin_{pin}")


def _input(cfg: Config, name: str, fields: Iterable[tuple[str, int]]) -> Group:
    """A stream that the environment drives."""
    at = positions(stimulus_fields(cfg))
    valid = Signal("valid", 1, f"inputs[{at[f'{name}_valid'][0]}]")
    # A beat's is a level per warp, and a notice has none.
    ready = () if name in ("decode", "missed") else (_pin("ready", f"{name}__ready"),)
    return Group(name, (valid, *ready, *_fields(record(cfg, fields), "inputs", at[name][0])))


def _result(cfg: Config, port: int) -> Group:
    at = positions(stimulus_fields(cfg))
    fields = record(cfg, result_fields(cfg), returned=True)
    signals = (
        Signal("valid", 1, f"inputs[{at[f'result_valid{port}'][0]}]"),
        _pin("ready", f"result__{port}__ready"),
        *_fields(fields, "inputs", at[f"result{port}"][0]),
        Signal("data", cfg.data_bits, f"result_data{port}"),
    )
    return Group(f"result{port}", signals)


def _dispatch(cfg: Config, port: int) -> Group:
    ready = positions(stimulus_fields(cfg))["ready"][0] + port
    slots = range(cfg.source_slots)
    signals = (
        Signal("valid", 1, f"dispatch_valid{port}"),
        Signal("ready", 1, f"inputs[{ready}]"),
        *_fields(record(cfg, dispatch_fields(cfg), returned=True), f"dispatch{port}", 0),
        *(
            Signal(f"operand{slot}", cfg.data_bits, _bits(f"operands{port}", slot * cfg.data_bits, cfg.data_bits))
            for slot in slots
        ),
    )
    return Group(f"dispatch{port}", signals)


def _fields(fields: Iterable[Field], word: str, low: int) -> Iterator[Signal]:
    """Fields of a record that starts at bit ``low`` of a word; what has parts is shown by them."""
    for one in fields:
        if one.parts:
            inner = _fields(one.parts, word, low + one.offset)
            yield from (Signal(f"{one.name}_{s.name}", s.width, s.value, s.names, s.decimal) for s in inner)
        else:
            value = _bits(word, low + one.offset, one.width)
            yield Signal(one.name, one.width, value, named_values(one.values), one.encoding == NUMBER)


def types(groups: Iterable[Group]) -> dict[str, Signal]:
    """Signals whose values have names, one of every kind. Raises ``ValueError`` for one kind with different names."""
    found: dict[str, Signal] = {}
    for signal in (one for group in groups for one in group.walk() if one.names):
        if found.setdefault(signal.kind, signal).names != signal.names:
            raise ValueError(f"values of {signal.kind} must have the same names everywhere")
    return found


def packages(groups: Iterable[Group]) -> str:
    """SystemVerilog of the enumerated types; a package each, so that no two names of values meet."""
    return "".join(_package(kind, signal) for kind, signal in types(groups).items())


def _package(kind: str, signal: Signal) -> str:
    members = ", ".join(f"\\{name} = {value}" for value, name in sorted(signal.names.items()))
    return f"package {_type(kind)};\n  typedef enum logic [{signal.width - 1}:0] {{{members}}} names;\nendpackage\n"


def _type(kind: str) -> str:
    return f"view_{kind}"


def scopes(groups: Iterable[Group], *, typed: bool) -> str:
    """Verilog of the groups as scopes of the harness; ``typed``: with the types of :func:`packages`."""
    return "\n".join(_scope(Group(SCOPE, groups=tuple(groups)), typed, "  ")) + "\n"


def _scope(group: Group, typed: bool, indent: str) -> Iterator[str]:
    yield f"{indent}if (1) begin : {group.name}"
    for signal in group.signals:
        yield f"{indent}  {_wire(signal, typed)}"
    for inner in group.groups:
        yield from _scope(inner, typed, indent + "  ")
    yield f"{indent}end"


def _wire(signal: Signal, typed: bool) -> str:
    value = f"{TOPLEVEL}.{signal.value}"  # whole: a scope may be called like a wire of the harness
    if typed and signal.names:
        kind = f"{_type(signal.kind)}::names"
        return f"wire {kind} {signal.name} = {kind}'({value});"
    bits = f"[{signal.width - 1}:0] " if signal.width > 1 else ""
    return f"wire {bits}{signal.name} = {value};"


_MODULE = re.compile(r"^module (\w+)", re.MULTILINE)
_PORT = re.compile(r"^  (?:input|output) (?:\[(\d+):0\] )?(\w+);", re.MULTILINE)
_INSTANCE = re.compile(r"^  (\w+) +(\w+) \($", re.MULTILINE)


@dataclass(frozen=True)
class Instance:
    """A part inside the machine: where it is, from the machine on, and its ports."""

    path: str
    ports: tuple[Signal, ...]


def instances(verilog: str, top: str) -> Iterator[Instance]:
    """All parts of a generated machine in plain names, from the outside in."""
    bodies = {}
    for body in re.split(r"(?<=^endmodule\n)", verilog, flags=re.MULTILINE):
        if found := _MODULE.search(body):
            bodies[found[1]] = body

    def walk(module: str, path: str) -> Iterator[Instance]:
        for inner, name in _INSTANCE.findall(bodies[module]):
            if inner in bodies:
                place = f"{path}{name}"
                ports = (Signal(port, int(high or 0) + 1) for high, port in _PORT.findall(bodies[inner]))
                yield Instance(place, tuple(ports))
                yield from walk(inner, f"{place}.")

    return walk(top, "")
