"""A frame without scoreboard: the collectors say which head beats may issue (docs/slots/collectors.md, "Guards")."""

from __future__ import annotations

from typing import cast

from warpfile.golden.collectors.contract import Collectors, GuardingCollectors
from warpfile.golden.entry import Entry
from warpfile.golden.frame import Frame
from warpfile.spec.stimulus import Result


class GuardedFrame(Frame):
    """Nothing is ever pending here; ``clear`` is what the collectors leave."""

    def _hazard(self, warp: int, head: Entry, collectors: Collectors) -> bool:
        return cast(GuardingCollectors, collectors).blocked(warp, head)

    def _reserve(self, warp: int, entry: Entry) -> None:
        """Whatever a beat reserves, the collectors have seen it issue."""

    def release(self, result: Result) -> None:
        """They have seen the result, too."""
