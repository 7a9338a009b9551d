"""Beats of variable latency: two queues whose heads read beside the plan (docs/schemes/modern.md, 7.3 and 7.6)."""

from __future__ import annotations

from collections import deque

from warpfile.golden.arbiter import lowest
from warpfile.golden.collectors.read_window.held_beat import HeldBeat
from warpfile.spec.schemes.modern import LSU, SFU, ReadWindowConfig
from warpfile.spec.schemes.ported import BANKS

_QUEUES = (LSU, SFU)


class Queues:
    """``beats`` and ``credits`` of each queue. ``read_now``: heads whose last slot is got in this cycle, by queue."""

    def __init__(self, cfg: ReadWindowConfig) -> None:
        self.beats: list[deque[HeldBeat]] = [deque() for _ in _QUEUES]
        self.credits = list(cfg.queue_depths)
        self._turn = [LSU] * BANKS
        self._delay = cfg.variable_delay - 2

    def head(self, queue: int) -> HeldBeat | None:
        """The beat that reads or is presented."""
        beats = self.beats[queue]
        return beats[0] if beats else None

    def wanted(self, queue: int, bank: int) -> int:
        """The slot for which the head of a queue wants a bank, -1 for none."""
        head = self.head(queue)
        if head is None or head.delay or not head.unread:
            return -1
        for slot, register in enumerate(head.entry.beat.sources):
            if head.unread >> slot & 1 and register % BANKS == bank:
                return slot
        return -1

    def chosen(self, bank: int, wants: int) -> int:
        """Which of the queues that want a bank (a mask, not 0) gets it; the turn moves only if both do."""
        if wants == 3:
            queue = self._turn[bank]
            self._turn[bank] = 1 - queue
            return queue
        return lowest(wants)

    def complete(self) -> list[HeldBeat]:
        """Heads that have all their operands from now on."""
        done = []
        for queue in _QUEUES:
            head = self.head(queue)
            if head is not None and not head.delay and not head.unread and not head.read:
                head.read = True
                done.append(head)
        return done

    def leave(self, queue: int) -> None:
        """The head is dispatched."""
        self.beats[queue].popleft()
        self.credits[queue] += 1

    def edge(self) -> None:
        """Wait counts count down."""
        for beats in self.beats:
            for beat in beats:
                if beat.delay:
                    beat.delay -= 1

    def enter(self, queue: int, beat: HeldBeat) -> None:
        """A beat leaves Control; after ``edge``."""
        beat.delay = self._delay
        self.beats[queue].append(beat)
