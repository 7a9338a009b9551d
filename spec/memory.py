"""Memory behind the load-store port, as latencies (docs/machine.md, section 9, "Memory")."""

from __future__ import annotations

from collections import OrderedDict

from warpfile.spec.beat import Beat
from warpfile.spec.config import LINE_BYTES, Config
from warpfile.spec.trace import Space


class Memory:
    """Deterministic cache (least recently used line of a set out) in front of a channel of limited bandwidth.

    A sector that is on its way is fetched once, however many accesses wait for it: as many sectors as there are can be
    under way, and each keeps its arrival until it is there, whether or not the cache still has a place for its line.
    """

    def __init__(self, cfg: Config) -> None:
        self._hit_latency, self._transfer = cfg.hit_latency, cfg.transfer_cycles
        self._miss_latency, self._interval = cfg.miss_latency, cfg.sector_interval
        self._in_line = LINE_BYTES // cfg.sector_bytes
        # Each place has the number of its line, and a bit for each sector that it has.
        self._sets = [OrderedDict[int, int]() for _ in range(cfg.cache_lines // cfg.cache_ways)]
        self._ways, self._only_local = cfg.cache_ways, cfg.cached == "local"
        self.channel_free = 0  #: first cycle in which the channel has nothing to serve
        self._fetches, self._leaves = cfg.stores == "back", cfg.stores == "through"
        self._arrivals: dict[int, int] = {}  # of sectors on their way; what has arrived is dropped when it is looked up

    def access(self, beat: Beat, cycle: int) -> tuple[int, bool]:
        """Latency of the access that is dispatched in ``cycle``, and whether its result waits for a sector to arrive.

        Updates cache, sectors on their way and channel."""
        look = self._arrival if beat.is_load or self._fetches else self._written
        if self._only_local and beat.is_load and beat.space == Space.GLOBAL:
            look = self._passed
        look = self._served if beat.is_atomic else look
        arrival = max([look(sector, cycle) for sector in beat.sectors], default=cycle)
        hit = self._hit_latency + (beat.transfers - 1) * self._transfer
        if not beat.is_load or arrival - cycle < hit:
            return hit, False
        return arrival - cycle, True

    def _enter(self, cycle: int) -> int:
        """Cycle in which a sector enters the channel."""
        start = max(cycle, self.channel_free)
        self.channel_free = start + self._interval
        return start

    def _written(self, sector: int, cycle: int) -> int:
        """A store writes through; the sector is in the cache where stores leave it there."""
        if self._leaves:
            self._hit(sector)
        return self._enter(cycle)

    def _served(self, sector: int, cycle: int) -> int:
        """Cycle in which an atomic was served in the L2; whoever comes later has to see what it made."""
        self._arrivals.pop(sector, None)
        if self._sets:
            line, bit = sector // self._in_line, 1 << sector % self._in_line
            ways = self._sets[line % len(self._sets)]
            if line in ways:
                ways[line] &= ~bit
        return self._enter(cycle) + self._miss_latency

    def _passed(self, sector: int, cycle: int) -> int:
        """Cycle in which a sector arrives that the cache is not asked for."""
        return self._enter(cycle) + self._miss_latency

    def _arrival(self, sector: int, cycle: int) -> int:
        """Cycle in which a sector is there: fetched, unless the cache has it or it is on its way."""
        hit = self._hit(sector)
        arrival = self._arrivals.pop(sector, cycle)
        if arrival <= cycle and not hit:
            arrival = self._enter(cycle) + self._miss_latency
        if arrival > cycle and self._sets:
            self._arrivals[sector] = arrival
        return arrival

    def _hit(self, sector: int) -> bool:
        """Whether the cache has a sector; from now on it has, and its line is the most recent."""
        if not self._sets:
            return False
        line, bit = sector // self._in_line, 1 << sector % self._in_line
        ways = self._sets[line % len(self._sets)]
        held = ways.get(line, 0)
        ways[line] = held | bit
        ways.move_to_end(line)
        if len(ways) > self._ways:
            ways.popitem(last=False)
        return held & bit != 0
