"""The adaptive wait threshold (docs/schemes/malekeh.md, section 4)."""

from __future__ import annotations

from warpfile.spec.schemes.malekeh import THRESHOLD_BITS, MalekehConfig

MOST = (1 << THRESHOLD_BITS) - 1  #: the largest threshold

#: By state: change in steps and next state after a small, then after a large difference.
_TABLE = {
    1: ((1, 2), (1, 2)),
    2: ((1, 2), (1, 3)),
    3: ((1, 2), (-2, 4)),
    4: ((1, 5), (-1, 4)),
    5: ((0, 6), (-1, 4)),
    6: ((0, 6), (1, 3)),
}


def is_large(beats: int, before: int, share: int) -> bool:
    """Whether two intervals issued numbers of beats that differ by more than one part in ``share``."""
    return share * abs(beats - before) > before


def decide(state: int, threshold: int, large: bool, step: int) -> tuple[int, int]:
    """State and threshold of the next interval."""
    if (state == 2 and not large and threshold == MOST) or (state == 4 and large and threshold == 0):
        return 6, threshold
    change, following = _TABLE[state][large]
    return following, min(MOST, max(0, threshold + change * step))


class WaitThreshold:
    """Counts the beats of intervals and moves the threshold ``value`` after each.

    ``intervals`` has, for every finished one, its beats and the state and threshold that held in it, on which the
    decision at its end was taken.
    """

    def __init__(self, cfg: MalekehConfig) -> None:
        self._adaptive = cfg.wait_control == "adaptive"
        self._step = cfg.wait_step
        self._share = 1 << cfg.large_bits
        self._last_cycle = cfg.interval - 1
        self._cycle = 0
        self._beats = 0
        self._before = 0
        self.value = cfg.wait_threshold
        self.state = 1
        self.intervals: list[tuple[int, int, int]] = []

    def edge(self, issued: bool) -> bool:
        """End a cycle in which a beat issued or not; true in the last cycle of an interval."""
        self._beats += issued
        if self._cycle < self._last_cycle:
            self._cycle += 1
            return False
        self.finish(self._beats)
        self._cycle = self._beats = 0
        return True

    def finish(self, beats: int) -> None:
        """End an interval in which so many beats issued."""
        self.intervals.append((beats, self.state, self.value))
        if self._adaptive:
            large = is_large(beats, self._before, self._share)
            self.state, self.value = decide(self.state, self.value, large, self._step)
        self._before = beats
