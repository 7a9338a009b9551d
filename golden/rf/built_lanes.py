"""Lanes of a value as machines see it: the built ones side by side, lane 0 lowest."""

from __future__ import annotations

from typing import Final

from warpfile.golden.arbiter import indices

WORD: Final = (1 << 32) - 1


class BuiltLanes:
    """``every`` is the mask of the built lanes, ``ones`` has the lowest bit of each lane's word."""

    def __init__(self, lanes: int) -> None:
        self.every = (1 << lanes) - 1
        self.ones = sum(1 << 32 * lane for lane in range(lanes))
        self._words = {self.every: self.ones * WORD}

    def words(self, mask: int) -> int:
        """All bits of the lanes in a mask of built lanes."""
        words = self._words.get(mask)
        if words is None:
            words = self._words[mask] = sum(WORD << 32 * lane for lane in indices(mask))
        return words
