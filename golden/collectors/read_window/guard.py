"""What every beat waits for, however dependences are kept (docs/schemes/modern.md, section 8)."""

from __future__ import annotations

from mypy_extensions import mypyc_attr

from warpfile.golden.collectors.read_window.held_beat import HeldBeat
from warpfile.golden.entry import Entry
from warpfile.spec.schemes.modern import MOST_IN_FLIGHT, ReadWindowConfig
from warpfile.spec.stimulus import Result


@mypyc_attr(allow_interpreted_subclasses=True)
class Guard:
    """Results under way and beats under way, by warp.

    ``flying`` and ``moving`` are masks of warps that have some, ``changed`` of those for which :meth:`blocked` may give
    another value than before. The other methods take what happens in a cycle; it is not read before the next one.
    """

    def __init__(self, cfg: ReadWindowConfig) -> None:
        self.changed = self.flying = self.moving = 0
        self._results = [0] * cfg.warps
        self._beats = [0] * cfg.warps

    def blocked(self, warp: int, head: Entry) -> bool:
        """Whether a head beat must not issue, from registered state."""
        if head.executes and self._results[warp] >= MOST_IN_FLIGHT:
            return True
        if head.barrier or head.exits:
            return bool(self._beats[warp] or (head.exits and self._results[warp]))
        return False

    def issued(self, warp: int, head: Entry) -> None:
        """A beat issues."""
        beat, bit = head.beat, 1 << warp
        if head.executes:
            self._results[warp] += beat.results
            if self._results[warp]:
                self.flying |= bit
        if head.needs_unit:
            self._beats[warp] += 1
            self.moving |= bit
        self.changed |= bit

    def entered(self, beat: HeldBeat) -> None:
        """A beat is in Control from the next cycle on."""

    def left_control(self, beat: HeldBeat) -> None:
        """A beat leaves Control."""

    def got(self, beat: HeldBeat) -> None:
        """A beat of variable latency got a source."""

    def was_read(self, beat: HeldBeat) -> None:
        """It got the last of its sources."""

    def dispatched(self, beat: HeldBeat) -> None:
        """A beat leaves for its port."""
        warp = beat.warp
        self._beats[warp] -= 1
        if not self._beats[warp]:
            self.moving ^= 1 << warp
        self.changed |= 1 << warp

    def accepted(self, port: int, result: Result) -> None:
        """A result is accepted."""
        warp = result.warp
        self._results[warp] -= 1
        assert self._results[warp] >= 0, f"warp {warp} has more results than it issued"
        if not self._results[warp]:
            self.flying ^= 1 << warp
        self.changed |= 1 << warp

    def launched(self, warp: int) -> None:
        """A warp is resident from the next cycle on."""

    def tick(self, warp: int, head: Entry | None) -> None:
        """A cycle ends that is no freeze; ``head`` of ``warp`` issued in it, None if nothing did."""
