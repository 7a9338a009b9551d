"""Dependences by the compiler's codes: stall counts and dependence counters (docs/schemes/modern.md, section 8)."""

from __future__ import annotations

from typing import Final

from mypy_extensions import mypyc_attr

from warpfile.golden.arbiter import indices
from warpfile.golden.collectors.read_window.guard import Guard
from warpfile.golden.collectors.read_window.held_beat import HeldBeat, HintFields
from warpfile.golden.entry import Entry
from warpfile.spec.schemes.modern import BARRIER_BITS, BARRIERS, MOST_COUNTED, NO_BARRIER, ReadWindowConfig
from warpfile.spec.stimulus import Result
from warpfile.spec.trace import Port

_NO_PORT: Final = int(Port.NONE)


@mypyc_attr(allow_interpreted_subclasses=True)
class CodeGuard(Guard):
    """``stalled`` and ``resting`` warps; ``counting``: counters that are not 0, bit warp * 6 + counter; ``awaits``:
    warps whose head beat waits for one of them."""

    def __init__(self, cfg: ReadWindowConfig, fields: HintFields) -> None:
        super().__init__(cfg)
        self._fields = fields
        self.stalled = self.resting = self.counting = self.awaits = 0
        self._stall = [0] * cfg.warps
        self._counters = [0] * (cfg.warps * BARRIERS)

    def blocked(self, warp: int, head: Entry) -> bool:
        """See :class:`Guard`."""
        bit, hints = 1 << warp, head.beat.hints
        if self._fields.wait(hints) & self.counting >> warp * BARRIERS or self._leaves_more(warp, head):
            self.awaits |= bit
            return True
        self.awaits &= ~bit
        if (self.stalled | self.resting) & bit:
            return True
        if head.needs_unit and (
            self._is_high(warp, self._fields.write_barrier(hints))
            or self._is_high(warp, self._fields.read_barrier(hints))
        ):
            return True
        return super().blocked(warp, head)

    def _leaves_more(self, warp: int, head: Entry) -> bool:
        """Whether a DEPBAR.LE waits for the counter of which it leaves some."""
        barrier = self._fields.write_barrier(head.beat.hints)
        if head.beat.port != _NO_PORT or barrier == NO_BARRIER:
            return False
        return self._counters[warp * BARRIERS + barrier] > self._fields.left(head.beat.hints)

    def _is_high(self, warp: int, barrier: int) -> bool:
        return barrier != NO_BARRIER and self._counters[warp * BARRIERS + barrier] >= MOST_COUNTED

    def _count(self, warp: int, barrier: int, change: int) -> None:
        if barrier == NO_BARRIER:
            return
        number = warp * BARRIERS + barrier
        count = self._counters[number] + change
        assert 0 <= count < 1 << BARRIER_BITS, f"dependence counter {barrier} of warp {warp} must not be {count}"
        self._counters[number] = count
        self.counting = self.counting & ~(1 << number) | (count > 0) << number
        self.changed |= 1 << warp

    def left_control(self, beat: HeldBeat) -> None:
        """Both counters of a beat count up."""
        hints = beat.entry.beat.hints
        self._count(beat.warp, self._fields.write_barrier(hints), 1)
        self._count(beat.warp, self._fields.read_barrier(hints), 1)

    def was_read(self, beat: HeldBeat) -> None:
        """The one that guards its sources counts down."""
        self._count(beat.warp, self._fields.read_barrier(beat.entry.beat.hints), -1)

    def accepted(self, port: int, result: Result) -> None:
        """The last result of a beat counts down."""
        super().accepted(port, result)
        if not result.writes or result.component == self._fields.registers(result.hints):
            self._count(result.warp, self._fields.write_barrier(result.hints), -1)

    def tick(self, warp: int, head: Entry | None) -> None:
        """See :class:`Guard`."""
        self.changed |= self.resting
        self.resting = 0
        for other in indices(self.stalled):
            self._stall[other] -= 1
            if not self._stall[other]:
                self.stalled ^= 1 << other
                self.changed |= 1 << other
        if head is not None:
            bit, stall = 1 << warp, self._fields.stall(head.beat.hints)
            self._stall[warp] = max(stall, 1) - 1
            self.stalled |= bit if stall > 1 else 0
            self.resting = bit if self._fields.yields(head.beat.hints) and stall <= 1 else 0
