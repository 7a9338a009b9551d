"""Memory behind the load-store port, as latencies (docs/machine.md, section 9, "Memory")."""

from __future__ import annotations

from collections import OrderedDict

from warpfile.spec.beat import Beat
from warpfile.spec.config import Config

WAYS = 4


class Memory:
    """Deterministic cache (4 ways, least recently used out) in front of a channel of limited bandwidth.

    A line that is on its way is fetched once, however many accesses wait for it: as many lines as there are can be
    under way, and each keeps its arrival until it is there, whether or not the cache still has a place for it.
    """

    def __init__(self, cfg: Config) -> None:
        self.cfg = cfg
        self._sets = [OrderedDict[int, None]() for _ in range(cfg.cache_lines // WAYS)]
        self._hit_latency, self._transfer = cfg.hit_latency, cfg.transfer_cycles
        self._channel_free = 0
        self._fetches, self._leaves = cfg.stores == "back", cfg.stores == "through"
        self._arrivals: dict[int, int] = {}  # of lines on their way; what has arrived is dropped when it is looked up

    def access(self, beat: Beat, cycle: int) -> tuple[int, bool]:
        """Latency of the access that is dispatched in ``cycle``, and whether its result waits for a line to arrive.

        Updates cache, lines on their way and channel."""
        look = self._arrival if beat.is_load or self._fetches else self._written
        arrival = max([look(line, cycle) for line in beat.lines], default=cycle)
        hit = self._hit_latency + max(0, len(beat.lines) - 1) * self._transfer
        if not beat.is_load or arrival - cycle < hit:
            return hit, False
        return arrival - cycle, True

    def _enter(self, cycle: int) -> int:
        """Cycle in which a line enters the channel."""
        start = max(cycle, self._channel_free)
        self._channel_free = start + self.cfg.miss_interval
        return start

    def _written(self, line: int, cycle: int) -> int:
        """A store writes through; the line takes a place in the cache where stores leave one."""
        if self._leaves:
            self._hit(line)
        return self._enter(cycle)

    def _arrival(self, line: int, cycle: int) -> int:
        """Cycle in which a line is there: fetched, unless the cache has it or it is on its way."""
        hit = self._hit(line)
        arrival = self._arrivals.pop(line, cycle)
        if arrival <= cycle and not hit:
            arrival = self._enter(cycle) + self.cfg.miss_latency
        if arrival > cycle and self._sets:
            self._arrivals[line] = arrival
        return arrival

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
