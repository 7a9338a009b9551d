"""Which caching collector unit takes a beat, or why none does (docs/schemes/malekeh.md, step 5)."""

from __future__ import annotations

from warpfile.golden.arbiter import first_of, lowest
from warpfile.spec.schemes.malekeh import WAIT_BITS

_MOST_WAITS = (1 << WAIT_BITS) - 1


#: A unit and why it is taken (``own``, ``empty``, ``far``, ``near``); -1 and why not (``wait``, ``busy``).
Choice = tuple[int, str]


class UnitChoice:
    """Choice of units, all masks over units and as they were at the beginning of the cycle.

    ``waits`` counts the offers refused in wait since the last one taken; ``dispatched`` has the units in the order of
    their last dispatch, the least recent one first.
    """

    def __init__(self, units: int) -> None:
        self._all = (1 << units) - 1
        self.waits = 0
        self.dispatched = list(range(units))
        self._before: list[int] | None = None

    def choose(self, own: int, busy: int, empty: int, near: int, threshold: int) -> Choice:
        """The unit for a beat of the warp that owns ``own`` (-1: none), given who is busy, empty or has near."""
        if own >= 0:
            return own, "own"
        free = self._all & ~busy
        if free & empty:
            self.waits = 0
            return lowest(free & empty), "empty"
        if free & ~near:
            self.waits = 0
            return lowest(free & ~near), "far"
        if not free:
            return -1, "busy"
        if self.waits > threshold:
            self.waits = 0
            return first_of(free, self._before or self.dispatched), "near"
        self.waits = min(self.waits + 1, _MOST_WAITS)
        return -1, "wait"

    def hold(self) -> None:
        """Units that dispatch in this cycle may be taken in it: their order is that before it, until ``edge``."""
        self._before = self.dispatched.copy()

    def edge(self) -> None:
        """The order is that of all dispatches again."""
        self._before = None

    def dispatches(self, unit: int) -> None:
        """A unit's beat was taken by its port; of several in one cycle the highest port is told last."""
        self.dispatched.remove(unit)
        self.dispatched.append(unit)
