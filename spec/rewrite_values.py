"""Values of a rewritten trace: what registers hold after moves and under other names, lane by lane."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from warpfile.spec.trace import LANES, NO_ROW, StaticInstruction, Trace

Result = Callable[[np.ndarray], np.ndarray]
_FULL = (1 << LANES) - 1
_LANE = np.arange(LANES, dtype=np.uint32)


class RewriteError(ValueError):
    """A rewriting that does not keep the trace right; the message gives what would."""


def follow(trace: Trace, stream: Trace, source: np.ndarray, results: Sequence[Result | None]) -> Trace:
    """``stream`` with the values of its results. ``source``: instruction of every record in ``trace``, -1: inserted.

    ``results`` make the values of the inserted records, one after the other. Raises :class:`RewriteError`
    where an instruction does not read what it reads in ``trace``.
    """
    rows = _Rows(trace)
    value_row = stream.value_row.copy()
    made = dict(zip(np.flatnonzero(source < 0).tolist(), results, strict=True))
    for warp in range(stream.warps):
        walk = _Walk(rows)
        for record in range(int(stream.warp_start[warp]), int(stream.warp_start[warp + 1])):
            mask = int(stream.execute[record])
            if mask:
                static, index = stream.program[stream.instruction[record]], int(source[record])
                if index < 0:
                    value_row[record] = walk.insert(static, mask, made[record])
                else:
                    value_row[record] = walk.step(trace.program[index], static, mask, int(value_row[record]))
    values, written = rows.all()
    return replace(stream, value_row=value_row, values=values, written=written)


class _Rows:
    """Rows of a trace and those that are added. A missing row reads as zeros never written."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._count = len(trace.values)
        self._values: list[np.ndarray] = []
        self._written: list[int] = []

    def __getitem__(self, row: int | None) -> tuple[np.ndarray, int]:
        if row is None or row < 0:
            return np.zeros(LANES, dtype=np.uint32), 0
        if row < self._count:
            return self._trace.values[row], int(self._trace.written[row])
        return self._values[row - self._count], self._written[row - self._count]

    def add(self, values: np.ndarray, written: int) -> int:
        """Number of a new row."""
        self._values.append(values.astype(np.uint32))
        self._written.append(written)
        return self._count + len(self._values) - 1

    def all(self) -> tuple[np.ndarray, np.ndarray]:
        """Values and written lanes of old and new rows."""
        if not self._values:
            return self._trace.values, self._trace.written
        written = np.array(self._written, dtype=np.uint32)
        return np.concatenate([self._trace.values, self._values]), np.concatenate([self._trace.written, written])


class _Walk:
    """Rows that the registers of one warp hold, in the original and in the new stream; NO_ROW is unknown."""

    def __init__(self, rows: _Rows) -> None:
        self._rows = rows
        self._old: dict[int, int] = {}
        self._new: dict[int, int] = {}

    def insert(self, static: StaticInstruction, mask: int, result: Result | None) -> int:
        """First value row of an inserted record."""
        held = [self._new.get(register) for register in static.sources]
        if result is None or NO_ROW in held or not static.dest_count:
            self._new |= dict.fromkeys(static.dests, NO_ROW)
            return NO_ROW
        sources = [self._rows[row] for row in held]
        values = result(np.array([content for content, _ in sources], dtype=np.uint32).reshape(-1, LANES))
        if values.shape != (static.dest_count, LANES):
            raise RewriteError(
                f"result of {static.text!r} must be {static.dest_count} rows of {LANES} lanes, not {values.shape}"
            )
        written = mask
        for _, lanes in sources:
            written &= lanes
        return self._write(static, mask, [(content, written) for content in values])

    def step(self, old: StaticInstruction, new: StaticInstruction, mask: int, row: int) -> int:
        """First value row of a record of the original, there in ``row``."""
        for before, now in zip(old.sources, new.sources, strict=True):
            self._compare(new, mask, before, now)
        same = all(self._old.get(a) == self._new.get(b) for a, b in zip(old.dests, new.dests, strict=True))
        rows = [row + k if row >= 0 else NO_ROW for k in range(new.dest_count)]
        self._old |= dict(zip(old.dests, rows, strict=True))
        if row < 0 or same or mask == _FULL:
            self._new |= dict(zip(new.dests, rows, strict=True))
            return row
        return self._write(new, mask, [self._rows[one] for one in rows])

    def _compare(self, new: StaticInstruction, mask: int, before: int, now: int) -> None:
        old_row, new_row = self._old.get(before), self._new.get(now)
        if old_row == new_row or old_row is None or NO_ROW in (old_row, new_row):
            return
        (wanted, lanes), (found, written) = self._rows[old_row], self._rows[new_row]
        lanes &= mask
        wrong = ((lanes >> _LANE) & 1).astype(bool) & (wanted != found)
        if wrong.any() or lanes & ~written:
            raise RewriteError(
                f"{new.text!r} at {new.offset:#x} must find in R{now} what the original has in R{before}"
            )

    def _write(self, static: StaticInstruction, mask: int, results: list[tuple[np.ndarray, int]]) -> int:
        """New rows: results in the lanes of ``mask``, what the registers held in the others."""
        inside = ((mask >> _LANE) & 1).astype(bool)
        first = NO_ROW
        for register, (content, lanes) in zip(static.dests, results, strict=True):
            held, written = self._rows[self._new.get(register)]
            row = self._rows.add(np.where(inside, content, held), (lanes & mask) | (written & ~mask))
            self._new[register] = row
            first = row if first < 0 else first
        return first
