"""Gates on the longest paths of a design, in each module and across the hierarchy, without flattening it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from warpfile.yosys import YosysError

#: After how many gates bits have settled, or numbers of bits. Bit 0 is a constant, or not connected.
_Numbers = NDArray[np.int64]

_CONSTANTS = ("$false", "$true", "$undef")

#: More gates than any path has that does not end where it begins.
_DEEPEST = 10_000


def longest_paths(blif: str, top: str) -> dict[str, int]:
    """Gates on the longest path inside every module, by name, and of the whole design under ``""``.

    ``blif`` is what yosys writes with ``write_blif -icells -conn``. Gates are cells with an output ``Y``. Cells of no
    module of the text end paths, and, inside a module, so do the pins of its submodules. Raises :class:`YosysError`
    for a path that ends where it begins.
    """
    texts = {text.name: text for text in _read(blif)}
    modules = {name: _Module(text, texts) for name, text in texts.items()}
    _, whole = _arrivals(modules, top, np.zeros(len(modules[top].inputs), np.int64))
    return {name: len(module.levels) for name, module in modules.items()} | {"": whole}


@dataclass
class _Text:
    """A module of a BLIF text; names of bits. ``cells`` are kinds with their pins, ``same`` what drives what."""

    name: str
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    cells: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    same: dict[str, str] = field(default_factory=dict)


def _read(blif: str) -> Iterator[_Text]:
    text = _Text("")
    for line in blif.splitlines():
        word, *rest = line.split(" ")
        if word == ".model":
            text = _Text(rest[0])
        elif word == ".inputs":
            text.inputs = rest
        elif word == ".outputs":
            text.outputs = rest
        elif word == ".conn":
            text.same[rest[1]] = rest[0]
        elif word in (".subckt", ".gate"):
            text.cells.append((rest[0], dict(pin.split("=", 1) for pin in rest[1:])))
        elif word == ".end":
            yield text


class _Module:
    """One module: its pins, its gates by level, and the pins of its submodules.

    ``levels`` has inputs, three to a row, and outputs of the gates before which, from pins on, no gate stands, one
    gate, two gates and so on. ``parts`` are kind, inputs and outputs of each submodule. ``known`` is what
    :func:`_arrivals` found before.
    """

    def __init__(self, text: _Text, kinds: Mapping[str, _Text]) -> None:
        self._same, self._bits = text.same, dict.fromkeys(_CONSTANTS, 0)
        self.inputs, self.outputs = self._numbers(text.inputs), self._numbers(text.outputs)
        self.parts: list[tuple[str, _Numbers, _Numbers]] = []
        gates: dict[int, list[int]] = {}
        for kind, pins in text.cells:
            if part := kinds.get(kind):
                sides = ([pins.get(pin, _CONSTANTS[0]) for pin in side] for side in (part.inputs, part.outputs))
                self.parts.append((kind, *map(self._numbers, sides)))
            elif "Y" in pins:
                gates[self._bit(pins["Y"])] = [self._bit(net) for pin, net in pins.items() if pin != "Y"]
        self.bits = max(self._bits.values()) + 1
        self.levels = _by_level(gates, self.bits, text.name)
        self.known: dict[bytes, tuple[_Numbers, int]] = {}

    def _bit(self, net: str) -> int:
        while net in self._same:
            net = self._same[net]
        return self._bits.setdefault(net, len(self._bits))

    def _numbers(self, nets: Sequence[str]) -> _Numbers:
        return np.array([self._bit(net) for net in nets], np.int64)


def _by_level(gates: Mapping[int, list[int]], bits: int, module: str) -> list[tuple[_Numbers, _Numbers]]:
    after = np.array(list(gates), np.int64)
    before = np.array([(*inputs, 0, 0, 0)[:3] for inputs in gates.values()], np.int64).reshape(-1, 3)
    depths, known = np.zeros(bits, np.int64), np.zeros(0, np.int64)
    for _ in range(_DEEPEST):
        depths[after] = depths[before].max(axis=1) + 1
        if np.array_equal(known, depths[after]):
            break
        known = depths[after]
    else:
        raise YosysError(f"{module} has a combinational loop, or a path of {_DEEPEST} gates")
    order = np.argsort(known, kind="stable")
    ends = np.searchsorted(known[order], np.arange(1, known.max(initial=0) + 2))
    return [(before[some], after[some]) for first, last in pairwise(ends) for some in [order[first:last]]]


def _arrivals(modules: Mapping[str, _Module], name: str, inputs: _Numbers) -> tuple[_Numbers, int]:
    """After how many gates the outputs of a module have settled, and the longest path in it and below.

    ``inputs``: after how many its inputs have. A path may go through a submodule more than once, so all gates are gone
    through again until no output of a submodule settles later than was known.
    """
    module = modules[name]
    key = inputs.tobytes()
    if key in module.known:
        return module.known[key]
    settled = np.zeros(module.bits, np.int64)
    settled[module.inputs] = inputs
    longest = 0
    for _ in range(1 + sum(len(outputs) for _, _, outputs in module.parts)):
        settled[0] = 0
        for before, after in module.levels:
            settled[after] = settled[before].max(axis=1) + 1
        earlier = settled.copy()
        for kind, pins, outputs in module.parts:
            found, below = _arrivals(modules, kind, settled[pins])
            settled[outputs] = np.maximum(settled[outputs], found)
            longest = max(longest, below)
        settled[0] = 0
        if (settled == earlier).all():
            break
    else:
        raise YosysError(f"{name} has a combinational loop through its submodules")
    module.known[key] = settled[module.outputs], max(longest, int(settled.max(initial=0)))
    return module.known[key]
