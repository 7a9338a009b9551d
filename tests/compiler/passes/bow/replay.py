"""A window and a register file per warp, as far as values go: the judge of write classes.

It replays the beats of one warp with the rules of the hardware and keeps, instead of values, which lanes of every copy
are out of date. A result may arrive at any time up to the first access that the scoreboard holds back for it.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from warpfile.spec.beat import source_groups
from warpfile.spec.trace import StaticInstruction, Trace

#: Modes of the worked example.
THROUGH, BACK, HINTS = "write-through", "write-back", "hints"


@dataclass
class Entry:
    """A register in the window. ``bad``: lanes that are out of date; ``owed``: the register file must get it."""

    last: int
    bad: int
    dirty: bool = False
    owed: bool = False


@dataclass
class Result:
    """A result on its way."""

    position: int
    register: int
    mask: int
    full: bool
    write_class: int


@dataclass(frozen=True)
class Record:
    """What the replay needs of one executed instruction."""

    static: StaticInstruction
    execute: int
    live: int
    write_class: int


class Replay:
    """One warp. Between two beats, a result without a waiting beat arrives with probability ``promptness``.

    ``counts``: ``forwarded``, ``file reads``, ``file writes`` and ``window writes``.
    """

    def __init__(
        self,
        window: int,
        source_slots: int,
        mode: str = HINTS,
        promptness: float = 1.0,
        rng: random.Random | None = None,
    ) -> None:
        self.window = window
        self.source_slots = source_slots
        self.mode = mode
        self.promptness = promptness
        self.rng = rng or random.Random(0)
        self.counts: Counter[str] = Counter()
        self._stale: list[tuple[int, int]] = []
        self._entries: dict[int, Entry] = {}
        self._file: dict[int, int] = {}  #: out-of-date lanes of every row
        self._pending: dict[int, Result] = {}
        self._position = 0

    def run(self, records: Sequence[Record]) -> list[tuple[int, int]]:
        """Every (record, register) of a read that saw a lane out of date."""
        for number, record in enumerate(records):
            groups = source_groups(record.static, self.source_slots)
            for beat, sources in enumerate(groups):
                is_last = beat == len(groups) - 1
                self._arrivals(record, sources, is_last)
                self._insert(number, record.execute, sources, record.static.dests if is_last else ())
                if is_last and record.execute:
                    self._issue(record)
                self._position += 1
        return self._stale

    def _arrivals(self, record: Record, sources: tuple[int, ...], is_last: bool) -> None:
        """Results that arrive before the next beat: those that it needs, and others at random."""
        held = {*sources, *(record.static.dests if is_last else ())} if record.execute else set()
        for register in list(self._pending):
            if register in held or self.rng.random() < self.promptness:
                self._arrive(self._pending.pop(register))

    def _insert(self, number: int, execute: int, sources: tuple[int, ...], dests: tuple[int, ...]) -> None:
        """Hits first, then what slides out, then misses, then the destinations."""
        x, misses = self._position, []
        for register in sources if execute else ():
            entry = self._entries.get(register)
            if entry is not None and x - entry.last < self.window:
                entry.last = x
                self.counts["forwarded"] += 1
                self._look(number, register, entry.bad & execute)
            else:
                misses.append(register)
        for register, entry in list(self._entries.items()):
            if x - entry.last >= self.window:
                if entry.owed:
                    self._write_file(register, entry.bad)
                del self._entries[register]
        for register in misses:
            self.counts["file reads"] += 1
            self._entries[register] = Entry(x, self._file.get(register, 0))
            self._look(number, register, self._file.get(register, 0) & execute)
        # Whether a destination that no lane writes keeps the entry is not to be relied on: it does not.
        for register in dests if execute else ():
            if register in self._entries:
                self._entries[register].last = x

    def _look(self, number: int, register: int, bad: int) -> None:
        if bad:
            self._stale.append((number, register))

    def _issue(self, record: Record) -> None:
        """From now on every copy is out of date in the lanes that the result will write."""
        for register in record.static.dests:
            self._file[register] = self._file.get(register, 0) | record.execute
            if register in self._entries:
                self._entries[register].bad |= record.execute
            full = record.execute == record.live
            write_class = record.write_class if self.mode == HINTS else 3
            self._pending[register] = Result(self._position, register, record.execute, full, write_class)

    def _arrive(self, result: Result) -> None:
        """The first matching row of the table of write-backs."""
        register, mask, entry = result.register, result.mask, self._entries.get(result.register)
        in_window = self._position <= result.position + self.window
        wants_window, wants_file = bool(result.write_class & 2), bool(result.write_class & 1)
        if not result.full:
            if entry is not None:
                entry.bad &= ~mask
                entry.dirty, entry.owed = True, self.mode != THROUGH
                if self.mode == THROUGH:
                    self._write_lanes(register, mask)
            elif in_window or wants_file:
                self._write_lanes(register, mask)
        elif wants_window and in_window:
            # Lanes that have exited do not matter.
            owed = wants_file and self.mode != THROUGH
            self._entries[register] = Entry(result.position, 0, dirty=self.mode != THROUGH, owed=owed)
            self.counts["window writes"] += 1
            if self.mode == THROUGH:
                self._write_file(register, 0)
        else:
            self._entries.pop(register, None)
            if wants_file:
                self._write_file(register, 0)

    def _write_lanes(self, register: int, mask: int) -> None:
        self._write_file(register, self._file.get(register, 0) & ~mask)

    def _write_file(self, register: int, bad: int) -> None:
        self.counts["file writes"] += 1
        self._file[register] = bad


def records_of(trace: Trace, warp: int, classes: np.ndarray | Mapping[int, int]) -> list[Record]:
    """One warp of a trace with classes by record or by offset."""
    found = []
    for n in range(int(trace.warp_start[warp]), int(trace.warp_start[warp + 1])):
        static = trace.program[trace.instruction[n]]
        given = int(classes[n]) if isinstance(classes, np.ndarray) else classes.get(static.offset, 0)
        found.append(Record(static, int(trace.execute[n]), int(trace.live[n]), given))
    return found


def stale_reads(
    trace: Trace, classes: np.ndarray | Mapping[int, int], window: int, source_slots: int, seed: int = 0
) -> int:
    """Reads of all warps that see a value out of date; results come at once, at random, or as late as possible."""
    rng, found = random.Random(seed), 0
    for warp in range(trace.warps):
        promptness = (1.0, 0.2, 0.0)[(warp + seed) % 3]
        found += len(Replay(window, source_slots, HINTS, promptness, rng).run(records_of(trace, warp, classes)))
    return found
