"""How many bytes a value needs (docs/schemes/corf.md, section 3)."""

from __future__ import annotations

from warpfile.golden.rf.built_lanes import BuiltLanes
from warpfile.spec.config import Config
from warpfile.spec.contract import SLICES

#: By k from 1 on: bits that say whether a value needs more than k bytes, the top one of byte k - 1 and seven of byte k.
_GROUPS = [0xFF << 8 * k - 1 for k in range(1, SLICES)]


class Widths:
    """Sizes of values, as built lanes side by side, lane 0 lowest."""

    def __init__(self, cfg: Config) -> None:
        self._lanes = BuiltLanes(cfg.lanes)
        self._ones = self._lanes.ones
        self._groups = [self._ones * group for group in _GROUPS]

    def size(self, data: int, lanes: int) -> int:
        """The least number of bytes of which every one of these lanes, as far as they are built, is the extension."""
        lanes &= self._lanes.every
        signs = data >> 31 & self._ones
        differing = data ^ (signs << 32) - signs
        if lanes != self._lanes.every:
            differing &= self._lanes.words(lanes)
        for size in range(SLICES, 1, -1):
            if differing & self._groups[size - 2]:
                return size
        return 1
