"""Values: webs of definitions and reads inside one strand (docs/schemes/shrf.md, section 7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from warpfile.compiler.passes.shrf.strands import predecessors


@dataclass(frozen=True)
class Step:
    """One instruction: distinct ``sources`` in the order of their slots, and ``dest`` (-1: none that may be near).

    ``lost`` are destinations that only the main file gets. ``partial``: some lanes may skip it. ``arithmetic``: it is
    of the classes that reach the last-result file.
    """

    sources: tuple[int, ...] = ()
    dest: int = -1
    lost: tuple[int, ...] = ()
    partial: bool = False
    arithmetic: bool = False


@dataclass(frozen=True)
class Flow:
    """Code as ``steps`` with those that may come next; no cycle without one of ``begins``, and forward edges only to
    others. ``live``: by step, the set of registers that are live before it.
    """

    steps: Sequence[Step]
    behind: Sequence[Sequence[int]]
    begins: frozenset[int]
    live: Sequence[int]


@dataclass
class Value:
    """``writes`` are steps that define it, ``partials`` those of them that leave lanes, ``brings`` steps and slots
    where a bank has it; ``reads`` are steps and slots. ``in_main``: somebody reads it in the main file.
    """

    register: int
    writes: list[int] = field(default_factory=list)
    partials: set[int] = field(default_factory=set)
    brings: dict[int, int] = field(default_factory=dict)
    reads: list[tuple[int, int]] = field(default_factory=list)
    in_main: bool = False

    @property
    def first(self) -> int:
        """The step that has it first."""
        return min((*self.writes, *self.brings))


class _Webs:
    """Values while they are joined."""

    def __init__(self) -> None:
        self._values: list[Value] = []
        self._parent: list[int] = []

    def new(self, register: int) -> int:
        self._values.append(Value(register))
        self._parent.append(len(self._parent))
        return len(self._parent) - 1

    def root(self, number: int) -> int:
        while self._parent[number] != number:
            self._parent[number] = self._parent[self._parent[number]]
            number = self._parent[number]
        return number

    def __getitem__(self, number: int) -> Value:
        return self._values[self.root(number)]

    def join(self, numbers: Sequence[int]) -> int:
        first, *others = sorted({self.root(number) for number in numbers})
        value = self._values[first]
        for number in others:
            other = self._values[number]
            value.writes += other.writes
            value.partials |= other.partials
            value.brings |= other.brings
            value.reads += other.reads
            value.in_main |= other.in_main
            self._parent[number] = first
        return first

    def all(self) -> list[Value]:
        return [value for number, value in enumerate(self._values) if self._parent[number] == number]


def values_of(flow: Flow, brings: bool) -> list[Value]:
    """All values of a flow; with ``brings`` also those that a read from outside may bring."""
    webs, before = _Webs(), predecessors(flow.behind)
    outs: list[dict[int, int]] = [{} for _ in flow.steps]
    for index, step in enumerate(flow.steps):
        held = {} if index in flow.begins else _joined(webs, [outs[one] for one in before[index]], flow.live[index])
        _read(webs, held, index, step, brings)
        _define(webs, held, index, step)
        outs[index] = held
    for index in flow.begins:
        for source in before[index]:
            for register, number in outs[source].items():
                webs[number].in_main |= bool(flow.live[index] >> register & 1)
    return webs.all()


def _joined(webs: _Webs, coming: list[dict[int, int]], live: int) -> dict[int, int]:
    """What every way brings; what only some bring is read in the main file."""
    held: dict[int, int] = {}
    for register in {register for one in coming for register in one}:
        numbers = [one[register] for one in coming if register in one]
        if len(numbers) == len(coming):
            held[register] = webs.join(numbers)
        elif live >> register & 1:
            for number in numbers:
                webs[number].in_main = True
    return held


def _read(webs: _Webs, held: dict[int, int], index: int, step: Step, brings: bool) -> None:
    for slot, register in enumerate(step.sources):
        if register in held:
            webs[held[register]].reads.append((index, slot))
        elif brings and not step.partial:
            held[register] = webs.new(register)
            webs[held[register]].brings[index] = slot


def _define(webs: _Webs, held: dict[int, int], index: int, step: Step) -> None:
    for register in step.lost:
        if step.partial and register in held:
            webs[held[register]].in_main = True
        held.pop(register, None)
    if step.dest < 0:
        return
    if not step.partial:
        held[step.dest] = webs.new(step.dest)
    elif step.dest not in held:
        return
    value = webs[held[step.dest]]
    value.writes.append(index)
    if step.partial:
        value.partials.add(index)


def extent(flow: Flow, before: Sequence[Sequence[int]], value: Value, reads: Sequence[tuple[int, int]]) -> int:
    """Points of the flow, 2 i before step i and 2 i + 1 behind it, at which the value is kept for these reads."""
    points = 0
    work = [index for index, _ in reads]
    while work:
        index = work.pop()
        if points >> 2 * index & 1:
            continue
        points |= 1 << 2 * index
        if index in flow.begins:
            raise AssertionError(f"R{value.register} is read behind step {index}, where a strand begins")
        for source in before[index]:
            points |= 2 << 2 * source
            if source in value.brings or (source in value.writes and source not in value.partials):
                continue
            work.append(source)
    for index in value.brings:
        if points >> 2 * index & 2:
            points |= 1 << 2 * index  # the entry is free before it is brought
    return points


def kept_behind(points: int, steps: Sequence[int]) -> list[int]:
    """Those of some steps behind which a point is."""
    return [index for index in steps if points >> 2 * index & 2]
