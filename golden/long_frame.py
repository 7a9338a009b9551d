"""A frame that knows which pending registers wait for memory (docs/machine.md, section 4)."""

from __future__ import annotations

from typing import Final

from warpfile.golden.arbiter import indices
from warpfile.golden.collectors.contract import Collectors
from warpfile.golden.entry import Entry
from warpfile.golden.frame import Frame
from warpfile.spec.config import Config
from warpfile.spec.stimulus import Missed, Result
from warpfile.spec.trace import Drain

_EMPTY: Final = int(Drain.EMPTY)
_ALL: Final = -1  #: mask of all registers


class LongFrame(Frame):
    """``longs`` are the long ones among the pending registers of each warp.

    Masks over warps, brought up to date by ``refresh``: ``marked`` (the head beat may suspend its warp) and
    ``touching`` (a source or destination of the head beat is long, or it is a pseudo-instruction that waits for all),
    ``outstanding`` (some register is long) and ``at_exit`` (the head beat is an EXIT).
    """

    def __init__(self, cfg: Config) -> None:
        super().__init__(cfg)
        self._from_issue = cfg.long_from == "issue"
        self._hint = cfg.suspend_hint  # without one every beat is marked
        self.longs = [0] * cfg.warps
        self.marked = 0
        self.touching = 0
        self.outstanding = 0
        self.at_exit = 0

    def refresh(self, collectors: Collectors) -> None:
        """See :class:`Frame`."""
        stale = self.stale | collectors.changed
        if not stale:
            return
        super().refresh(collectors)
        marked, touching, hint = self.marked & ~stale, self.touching & ~stale, self._hint
        self._look(stale)
        stale &= self.buffered
        while stale:
            bit = stale & -stale
            stale ^= bit
            warp = bit.bit_length() - 1
            head = self.buffers[warp][0]
            if hint is None or head.beat.hints >> hint & 1:
                marked |= bit
            if (_ALL if head.beat.drain == _EMPTY else head.touched) & self.longs[warp]:
                touching |= bit
        self.marked, self.touching = marked, touching

    def _look(self, stale: int) -> None:
        """What is known of a warp whether or not it has a head beat."""
        self.outstanding &= ~stale
        self.at_exit &= ~stale
        for warp in indices(stale):
            if self.longs[warp]:
                self.outstanding |= 1 << warp
            if self.buffers[warp] and self.buffers[warp][0].exits:
                self.at_exit |= 1 << warp

    def release(self, result: Result) -> None:
        """See :class:`Frame`."""
        super().release(result)
        if result.writes:
            self.longs[result.warp] &= ~(1 << result.register)

    def issue(self, warp: int) -> Entry:
        """See :class:`Frame`."""
        entry = super().issue(warp)
        if self._from_issue and entry.executes and entry.beat.long:
            self.longs[warp] |= entry.dests
        return entry

    def missed(self, missed: Missed) -> None:
        """A load is known to miss: what is still pending of it is long. To be called after this cycle's releases."""
        registers = ((1 << missed.dest_count) - 1) << missed.dest
        self.longs[missed.warp] |= registers & self.registers[missed.warp]
        self.stale |= 1 << missed.warp
