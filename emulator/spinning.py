"""Finds CTAs that spin without end: a state of all warps and of memory that was there before comes again and again.

Brent's method: the state after round 1, 2, 4, ... is kept, and later ones are compared with it. A round is a turn of
every warp that can run, so that a kernel whose warps never use up a turn is not looked at.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from warpfile.emulator.errors import ExecutionError
from warpfile.emulator.memory import Region
from warpfile.emulator.warp import Warp


class Watch:
    """Looks at one CTA between the rounds. ``regions`` are all memories but the warps' local ones."""

    def __init__(self, name: str, regions: Sequence[Region]) -> None:
        self._name = name
        self._regions = regions
        self._rounds, self._next = 0, 1
        self._state: tuple[object, ...] = ()
        self._contents: list[np.ndarray] = []

    def look(self, warps: Sequence[Warp]) -> None:
        """Take the state of the unfinished warps. Raises :class:`ExecutionError` if it was there before."""
        state = tuple(part for warp in warps for part in (warp.name, *warp.state()))
        memories = [*self._regions, *(warp.local for warp in warps if warp.has_local)]
        if state == self._state and self._is_unchanged(memories):
            spinning = next(warp for warp in warps if not warp.is_at_barrier)
            raise ExecutionError(
                f"{self._name}: must not spin without end, registers and memory are what they were before; "
                f"{spinning.name.rpartition(', ')[2]} is {spinning.last_loop} (CTAs run one after the other)"
            )
        self._rounds += 1
        if self._rounds == self._next:
            self._next *= 2
            self._state, self._contents = state, [region.bytes.copy() for region in memories]

    def _is_unchanged(self, memories: Sequence[Region]) -> bool:
        pairs = zip(memories, self._contents, strict=False)
        return len(memories) == len(self._contents) and all(np.array_equal(now.bytes, old) for now, old in pairs)
