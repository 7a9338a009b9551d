"""Entries for values, the greatest saving per instruction first (docs/schemes/shrf.md, section 7)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from warpfile.compiler.passes.shrf.strands import predecessors
from warpfile.compiler.passes.shrf.values import Flow, Value, extent, kept_behind, values_of


@dataclass(frozen=True)
class Energies:
    """Of a read and of a write of one warp register, in any unit.

    Main file: M. Gebhart et al., ISCA 2011, Table 3; operand register file: its Table 4, the size of three entries of
    eight warps; last-result file: our choice, below the cheapest of that table.
    """

    main: tuple[float, float] = (8.0, 11.0)
    orf: tuple[float, float] = (1.2, 4.4)
    lrf: tuple[float, float] = (0.7, 2.0)


@dataclass(frozen=True)
class Room:
    """Entries of a place: those of the operand register file, then those of the last-result file (one, if not
    ``split``, or one per slot of a beat with ``slots`` sources).
    """

    orf: int
    lrf: int
    split: bool
    slots: int
    energies: Energies = Energies()


@dataclass
class Levels:
    """By step: source slots and the entries that they are read from, or brought into; the entry of the result, and
    whether the main file does without it.
    """

    reads: dict[int, dict[int, int]] = field(default_factory=dict)
    brings: dict[int, dict[int, int]] = field(default_factory=dict)
    results: dict[int, tuple[int, bool]] = field(default_factory=dict)


def allocated(flow: Flow, room: Room, rng: random.Random | None = None) -> Levels:
    """Levels of a flow's operands and results; with ``rng`` others that are right as well."""
    allocation = _Allocation(flow, room, rng)
    values = [value for value in values_of(flow, room.orf > 0) if value.reads]
    if rng is None:
        values.sort(key=lambda value: (-allocation.priority(value), value.first))
    else:
        rng.shuffle(values)
        values = values[: rng.randrange(len(values) + 1)] if rng.random() < 0.3 else values
    for value in values:
        allocation.place(value)
    return allocation.levels


class _Allocation:
    def __init__(self, flow: Flow, room: Room, rng: random.Random | None) -> None:
        self._flow, self._room, self._rng = flow, room, rng
        self._before = predecessors(flow.behind)
        self._taken = [0] * (room.orf + room.lrf)
        self.levels = Levels()

    def priority(self, value: Value) -> float:
        last = max(index for index, _ in value.reads)
        return self._saving(value, value.reads, self._room.energies.orf) / max(1, last - value.first)

    def _saving(self, value: Value, reads: Sequence[tuple[int, int]], level: tuple[float, float]) -> float:
        (main_read, main_write), (read, write) = self._room.energies.main, level
        in_main = value.in_main or len(reads) < len(value.reads)
        spared = 0 if in_main else len(value.writes) * main_write
        writes = len(value.writes) + len(value.brings)
        return len(reads) * (main_read - read) + spared - writes * write

    def place(self, value: Value) -> None:
        """Give a value an entry, for all of its reads or for the first ones."""
        reads = sorted(value.reads)
        entry = self._last_result(value)
        if entry is not None and self._fits(value, reads, [entry], self._room.energies.lrf):
            return
        entries = list(range(self._room.orf))
        if self._rng is not None:
            self._rng.shuffle(entries)
            reads = reads[: self._rng.randint(1, len(reads))]
        while reads and not self._fits(value, reads, entries, self._room.energies.orf):
            reads = reads[:-1]

    def _last_result(self, value: Value) -> int | None:
        """The entry of the last-result file that may have the value."""
        steps = [*value.writes, *(index for index, _ in value.reads)]
        slots = {slot % self._room.slots for _, slot in value.reads}
        if value.brings or not self._room.lrf or not all(self._flow.steps[index].arithmetic for index in steps):
            return None
        if not self._room.split:
            return self._room.orf
        return self._room.orf + slots.pop() if len(slots) == 1 else None

    def _fits(
        self, value: Value, reads: list[tuple[int, int]], entries: Sequence[int], energies: tuple[float, float]
    ) -> bool:
        if self._rng is None and self._saving(value, reads, energies) <= 0:
            return False
        points = extent(self._flow, self._before, value, reads)
        for entry in entries:
            if not points & self._taken[entry]:
                self._take(value, reads, entry, points)
                return True
        return False

    def _take(self, value: Value, reads: list[tuple[int, int]], entry: int, points: int) -> None:
        self._taken[entry] |= points
        in_main = value.in_main or len(reads) < len(value.reads)
        for index, slot in reads:
            self.levels.reads.setdefault(index, {})[slot] = entry
        for index in kept_behind(points, list(value.brings)):
            self.levels.brings.setdefault(index, {})[value.brings[index]] = entry
        for index in kept_behind(points, value.writes):
            self.levels.results[index] = entry, not in_main
