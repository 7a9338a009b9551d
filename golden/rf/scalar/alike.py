"""Whether all lanes of a value hold one word (docs/schemes/scalar.md, section 6)."""

from __future__ import annotations

from warpfile.golden.arbiter import lowest
from warpfile.golden.rf.built_lanes import WORD, BuiltLanes
from warpfile.spec.config import Config


class Alike:
    """Looks at values of the built lanes."""

    def __init__(self, cfg: Config) -> None:
        self._lanes = BuiltLanes(cfg.lanes)

    def holds(self, data: int, mask: int) -> bool:
        """Whether some lane of the mask is built, and those that are have one word; other lanes are not looked at."""
        lanes = self._lanes
        mask &= lanes.every
        if not mask:
            return False
        word = data >> 32 * lowest(mask) & WORD
        return not (data ^ word * lanes.ones) & lanes.words(mask)
