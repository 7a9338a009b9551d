"""What the rows hold (docs/schemes/larf.md, section 16)."""

from __future__ import annotations

from typing import Final

from warpfile.golden.arbiter import indices
from warpfile.golden.copies import POISON
from warpfile.spec.schemes.shared import SharedConfig

_LANE: Final = (1 << 32) - 1


class Contents:
    """Rows by their number. ``words`` of the built lanes, lane 0 lowest; copies (``golden.copies``) are what registers
    find there.

    ``known`` has the words of rows of the trace that some register was given.
    """

    def __init__(self, cfg: SharedConfig) -> None:
        rows = cfg.rows << cfg.bank_bits
        self.words = [0] * rows
        self._copies: list[dict[int, int]] = [{} for _ in range(rows)]
        self._registers = cfg.register_names
        self.known: dict[int, int] = {}
        self._built = (1 << cfg.lanes) - 1
        self._all = (1 << 32 * cfg.lanes) - 1
        self._masks: dict[int, int] = {}

    def bits(self, lanes: int) -> int:
        """All bits of some lanes, as far as they are built."""
        mask = self._masks.get(lanes)
        if mask is None:
            mask = self._masks[lanes] = sum(_LANE << 32 * lane for lane in indices(lanes & self._built))
        return mask

    def copy(self, row: int, warp: int, register: int) -> int:
        """What a register finds in a row."""
        return self._copies[row].get(warp * self._registers + register, POISON)

    def finds(self, row: int, warp: int, register: int, copy: int) -> None:
        """A register finds this copy in a row from now on."""
        self._copies[row][warp * self._registers + register] = copy

    def write(self, row: int, words: int, lanes: int) -> None:
        """These lanes of a row; no register finds a value there before :meth:`finds`."""
        if lanes & self._built == self._built:
            self.words[row] = words & self._all
        else:
            bits = self.bits(lanes)
            self.words[row] = self.words[row] & ~bits | words & bits
        self._copies[row].clear()

    def forget(self, row: int, warp: int, register: int) -> None:
        """The register is mapped to another row, or to none."""
        self._copies[row].pop(warp * self._registers + register, None)

    def learn(self, trace_row: int, words: int | None) -> None:
        """A row of the trace has these words: a register was given it."""
        if trace_row >= 0 and words is not None:
            self.known[trace_row] = words
