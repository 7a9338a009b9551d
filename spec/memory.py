"""Memory behind the load-store port, as latencies (docs/machine.md, section 9, "Memory")."""

from __future__ import annotations

from collections import OrderedDict

from warpfile.spec.beat import Beat
from warpfile.spec.config import Config

WAYS = 4


class Memory:
    """Deterministic cache (4 ways, least recently used out) in front of a channel of limited bandwidth."""

    def __init__(self, cfg: Config) -> None:
        self.cfg = cfg
        self._sets = [OrderedDict[int, None]() for _ in range(cfg.cache_lines // WAYS)]
        self._channel_free = 0

    def access(self, beat: Beat, cycle: int) -> tuple[int, bool]:
        """Latency of the access that is dispatched in ``cycle``, and whether a result waits for a line that missed.

        Updates cache and channel."""
        last_start = -1
        for line in beat.lines:
            if not self._hit(line):
                last_start = max(cycle, self._channel_free)
                self._channel_free = last_start + self.cfg.miss_interval
        if last_start < 0 or not beat.is_load:
            return self.cfg.hit_latency, False
        return last_start - cycle + self.cfg.miss_latency, True

    def _hit(self, line: int) -> bool:
        if not self._sets:
            return False
        ways = self._sets[line % len(self._sets)]
        if line in ways:
            ways.move_to_end(line)
            return True
        ways[line] = None
        if len(ways) > WAYS:
            ways.popitem(last=False)
        return False
