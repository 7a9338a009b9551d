"""Results from what registers held before later instructions: the only values that a trace has (``docs/trace.md``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from warpfile.compiler.accelsim.addresses import lanes_of
from warpfile.compiler.accelsim.body import Observations
from warpfile.compiler.accelsim.repairs import Repairs
from warpfile.compiler.accelsim.streams import Streams
from warpfile.spec.trace import LANES, NO_ROW, StaticInstruction

ENOUGH = 0.5  #: share of results that must be known for a trace to have values
_SEED = 2019  #: of the words that stand for unknown ones

_Seen = dict[int, list[tuple[int, int]]]


@dataclass(frozen=True)
class Values:
    """The arrays of a trace that hold values."""

    value_row: np.ndarray
    values: np.ndarray
    written: np.ndarray


def results(observed: Observations, program: Sequence[StaticInstruction], found: Streams, repairs: Repairs) -> Values:
    """Values of all results, or none of any where too few are known."""
    count = len(found.instruction)
    nothing = Values(np.full(count, NO_ROW, np.int64), np.zeros((0, LANES), np.uint32), np.zeros(0, np.uint32))
    if not observed.record:
        return nothing
    widths = np.array([static.dest_count for static in program], dtype=np.int64)[found.instruction]
    widths[found.execute == 0] = 0
    first = np.cumsum(widths) - widths
    made = _Results(int(widths.sum()))
    seen = _by_record(observed, found)
    words = np.array(observed.words, dtype=np.uint32).reshape(-1, LANES)
    rows = np.where(widths > 0, first, NO_ROW)
    for start, end in zip(found.warp_start[:-1].tolist(), found.warp_start[1:].tolist(), strict=True):
        made.follow(_steps(program, found, rows, start, end), seen, words)
    known = int(np.count_nonzero(made.known))
    share = f"values of {known:,} of {len(made.known):,} results are in the file"
    if known < ENOUGH * len(made.known):
        repairs.remark(f"{share}: too few for schemes that decide by them, so this trace has none")
        return nothing
    others = "; the others stand as words that no scheme takes for narrow or equal" if known < len(made.known) else ""
    repairs.remark(share + others)
    return Values(rows, made.values, made.written)


def _by_record(observed: Observations, found: Streams) -> _Seen:
    """Registers and numbers of observations by record of the trace; those of records that were left out are lost."""
    place = {record: index for index, record in enumerate(found.record.tolist()) if record >= 0}
    seen: _Seen = {}
    for number, (record, register) in enumerate(zip(observed.record, observed.register, strict=True)):
        if record in place:
            seen.setdefault(place[record], []).append((register, number))
    return seen


def _steps(
    program: Sequence[StaticInstruction], found: Streams, rows: np.ndarray, start: int, end: int
) -> Iterator[tuple[int, int, int, tuple[int, ...]]]:
    """Record, mask, first row and destinations of each record of a warp."""
    columns = (found.instruction, found.execute, rows)
    for record, (index, mask, row) in enumerate(zip(*(c[start:end].tolist() for c in columns), strict=True), start):
        yield record, mask, row, program[index].dests


class _Results:
    """Rows of values, written in the order of the records and filled in by later ones."""

    def __init__(self, rows: int) -> None:
        noise = np.random.default_rng(_SEED)
        self.values = noise.integers(0, 1 << 32, (rows, LANES), dtype=np.uint32)
        self.written = np.zeros(rows, dtype=np.uint32)
        self.known = np.zeros(rows, dtype=bool)

    def follow(self, steps: Iterator[tuple[int, int, int, tuple[int, ...]]], seen: _Seen, words: np.ndarray) -> None:
        """One warp: first which row every lane of a register comes from, then what the rows hold in the other lanes."""
        last: dict[int, np.ndarray] = {}  #: row that wrote each lane
        missing: dict[int, int] = {}  #: lanes of a row not seen yet
        before: list[tuple[int, int, int]] = []  #: row, lanes that it wrote, row that the others come from
        newest: dict[int, int] = {}
        for record, mask, row, dests in steps:
            lanes = lanes_of(np.array([mask], dtype=np.uint32))[0]
            for register, number in seen.get(record, ()):
                self._see(last.get(register), lanes, words[number], missing)
            if row == NO_ROW:
                continue
            for own, register in enumerate(dests, row):
                last.setdefault(register, np.full(LANES, NO_ROW, dtype=np.int64))[lanes] = own
                before.append((own, mask, newest.get(register, NO_ROW)))
                newest[register], missing[own] = own, mask
        for own, mask, older in before:
            self._complete(own, mask, older)
        for own, lacking in missing.items():
            self.known[own] = not lacking

    def _see(self, last: np.ndarray | None, lanes: np.ndarray, words: np.ndarray, missing: dict[int, int]) -> None:
        """What a register holds in some lanes is what was written there last."""
        if last is None:
            return
        for lane in np.flatnonzero(lanes & (last >= 0)).tolist():
            row = int(last[lane])
            if missing[row] >> lane & 1:
                self.values[row, lane] = words[lane]
                missing[row] &= ~(1 << lane)

    def _complete(self, row: int, mask: int, older: int) -> None:
        """Lanes that a row did not write hold what they held before."""
        others = ~lanes_of(np.array([mask], dtype=np.uint32))[0]
        self.values[row, others] = self.values[older, others] if older >= 0 else 0
        self.written[row] = mask | (int(self.written[older]) if older >= 0 else 0)
