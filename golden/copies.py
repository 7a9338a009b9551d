"""What a stored copy of a register is worth, lane by lane (docs/schemes/bow.md, section 4).

A copy is one number. From -1 on it is a row of the trace: the copy holds that value (-1: whatever the register held
before its warp wrote it). Below, it names a row and the lanes in which the copy does *not* hold it, because a result
passed it by. ``POISON`` holds nothing in any lane.

Results of some lanes follow one another in copies that the program may drop in part, so that a copy may be out of date
in lanes that are not read again. Whole values cannot tell that from a lost value.
"""

from __future__ import annotations

from typing import Final

from warpfile.spec.config import Config
from warpfile.spec.stimulus import Result

ALL_LANES: Final = (1 << 32) - 1


def pack(row: int, outdated: int) -> int:
    """The copy that holds a row in all lanes but those that are out of date."""
    return ~((row + 2) << 32 | outdated) if outdated else row


def unpack(copy: int) -> tuple[int, int]:
    """Inverse of :func:`pack`."""
    return (copy, 0) if copy >= -1 else ((~copy >> 32) - 2, ~copy & ALL_LANES)


NEVER_WRITTEN: Final = -1
POISON: Final = pack(-2, ALL_LANES)


def _outdated(copy: int, before: int) -> int:
    """Lanes in which a copy does not hold ``before``; a register that was never written is right anywhere."""
    if copy == before or before == -1:
        return 0
    row, outdated = unpack(copy)
    return outdated if row == before else ALL_LANES


def merged(copy: int, before: int, row: int, lanes: int) -> int:
    """A copy into which a result is written, whose ``lanes`` change the register from value ``before`` to ``row``."""
    return pack(row, _outdated(copy, before) & ~lanes)


def written_lanes(held: int, before: int, row: int, lanes: int) -> int:
    """A copy into which some lanes of a new value ``row`` of a register are written, which held ``before``."""
    return row if lanes == ALL_LANES else merged(held, before, row, lanes)


def written(held: int, before: int, result: Result) -> int:
    """A copy into which a result is written that changes its register from the value ``before``."""
    return result.row if result.full else merged(held, before, result.row, result.mask)


def passed_by(copy: int, before: int, row: int, lanes: int) -> int:
    """A copy that the same result does not reach."""
    return pack(row, _outdated(copy, before) | lanes)


def row_in_lanes(copy: int, lanes: int) -> int:
    """The row of the trace that ``lanes`` find in a copy, ``POISON`` if one of them finds something else."""
    if copy >= -1:
        return copy
    row, outdated = unpack(copy)
    return POISON if outdated & lanes else row


def row_of(copy: int) -> int:
    """The row of the trace that a copy holds in those lanes in which it is up to date."""
    return unpack(copy)[0]


class Latest:
    """The value of every register after its last accepted result: a row of the trace, -1 if its warp never wrote it."""

    def __init__(self, cfg: Config) -> None:
        self._registers = cfg.register_names
        self._values = [[-1] * cfg.register_names for _ in range(cfg.warps)]

    def launched(self, warp: int) -> None:
        """Nothing is written yet."""
        self._values[warp] = [-1] * self._registers

    def before(self, result: Result) -> int:
        """The value that a result changes."""
        return self._values[result.warp][result.register]

    def change(self, result: Result) -> int:
        """The result is accepted; returns the value that it changes."""
        values, register = self._values[result.warp], result.register
        before = values[register]
        values[register] = result.row
        return before
