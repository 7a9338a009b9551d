"""A beat between issue and dispatch, and the fields of its hints (docs/schemes/modern.md, sections 5 and 6)."""

from __future__ import annotations

from typing import NamedTuple

from warpfile.golden.entry import Entry
from warpfile.spec.schemes.modern import NO_BARRIER, NOWHERE, POSITIONS, ReadWindowConfig


class Writer(NamedTuple):
    """Who wrote a register last when a reader issued: ``number`` of the result, ``tick`` and offset of the beat.

    ``barrier`` is the dependence counter of a writer of variable latency, -1 of one whose latency is fixed.
    """

    tick: int
    offset: int
    number: int
    row: int
    barrier: int


class HintFields:
    """Reads the fields of hints; what a configuration does not have is that of a beat that wants nothing."""

    def __init__(self, cfg: ReadWindowConfig) -> None:
        self._codes, self._reuses = cfg.codes, cfg.reuses
        self._positions, self._fma = cfg.hint_at("positions"), cfg.hint_at("fma")
        self._reuse = cfg.hint_at("reuse") if cfg.reuses else 0
        at = [0] * 6
        if cfg.codes:
            names = ("write_barrier", "registers", "read_barrier", "stall", "yields", "wait_mask")
            at = [cfg.hint_at(name) for name in names]
        self._write, self._registers, self._read, self._stall, self._yields, self._wait = at

    def positions(self, hints: int) -> list[int]:
        """Source slot at each position, ``NOWHERE`` for none."""
        word = hints >> self._positions
        return [word >> 2 * position & NOWHERE for position in range(POSITIONS)]

    def left(self, hints: int) -> int:
        """Beats that a DEPBAR.LE leaves under its counter."""
        return hints >> self._positions & 63

    def fma(self, hints: int) -> int:
        """1 for the multiply-add unit."""
        return hints >> self._fma & 1

    def marks(self, hints: int) -> int:
        """Positions whose operand is kept."""
        return hints >> self._reuse & (1 << POSITIONS) - 1 if self._reuses else 0

    def write_barrier(self, hints: int) -> int:
        """Dependence counter until the last result, of a beat or of its results."""
        return hints >> self._write & 7 if self._codes else NO_BARRIER

    def registers(self, hints: int) -> int:
        """Registers that a beat writes, minus one."""
        return hints >> self._registers & 3 if self._codes else 0

    def read_barrier(self, hints: int) -> int:
        """Dependence counter until the sources are read."""
        return hints >> self._read & 7 if self._codes else NO_BARRIER

    def stall(self, hints: int) -> int:
        """Ticks to the next issue of the warp."""
        return hints >> self._stall & 15 if self._codes else 0

    def yields(self, hints: int) -> int:
        """1: the warp rests in the next tick."""
        return hints >> self._yields & 1 if self._codes else 0

    def wait(self, hints: int) -> int:
        """Dependence counters that must be 0."""
        return hints >> self._wait & 63 if self._codes else 0


class HeldBeat:
    """A beat of fixed or variable latency and where its operands come from.

    By source slot: ``rows`` of the banks, ``copies`` that were read, ``cached``: the entry of the reuse cache that has
    it (-1: none). ``unread``: slots that are to be got from a bank. ``delay``: cycles until a queue reads the first.
    """

    __slots__ = (
        "cached",
        "copies",
        "delay",
        "entry",
        "marks",
        "positions",
        "read",
        "rows",
        "tick",
        "unread",
        "warp",
        "writers",
    )

    def __init__(self, warp: int, entry: Entry, fields: HintFields, rows: list[int], tick: int) -> None:
        self.warp, self.entry, self.rows, self.tick = warp, entry, rows, tick
        self.positions = fields.positions(entry.beat.hints)
        self.marks = fields.marks(entry.beat.hints)
        self.copies = [-1] * len(rows)
        self.cached = [-1] * len(rows)
        self.unread = (1 << len(rows)) - 1
        self.delay = 0
        self.read = False
        self.writers: list[Writer | None] = []
