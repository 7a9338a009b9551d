"""How many bytes a value needs (docs/schemes/corf.md, section 3)."""

from __future__ import annotations

from warpfile.golden.arbiter import indices
from warpfile.spec.config import Config
from warpfile.spec.contract import SLICES

_LANE = (1 << 32) - 1
#: By k from 1 on: bits that say whether a value needs more than k bytes, the top one of byte k - 1 and seven of byte k.
_GROUPS = [0xFF << 8 * k - 1 for k in range(1, SLICES)]


class Widths:
    """Sizes of values, as built lanes side by side, lane 0 lowest."""

    def __init__(self, cfg: Config) -> None:
        self._ones = sum(1 << 32 * lane for lane in range(cfg.lanes))
        self._groups = [self._ones * group for group in _GROUPS]
        self._all = (1 << cfg.lanes) - 1
        self._masks: dict[int, int] = {}

    def size(self, data: int, lanes: int) -> int:
        """The least number of bytes of which every one of these lanes, as far as they are built, is the extension."""
        lanes &= self._all
        signs = data >> 31 & self._ones
        differing = data ^ (signs << 32) - signs
        if lanes != self._all:
            differing &= self._mask(lanes)
        for size in range(SLICES, 1, -1):
            if differing & self._groups[size - 2]:
                return size
        return 1

    def _mask(self, lanes: int) -> int:
        """All bits of some lanes."""
        mask = self._masks.get(lanes)
        if mask is None:
            mask = self._masks[lanes] = sum(_LANE << 32 * lane for lane in indices(lanes))
        return mask
