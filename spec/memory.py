"""Memory behind the load-store port, as latencies (docs/machine.md, section 9, "Memory")."""

from __future__ import annotations

from bisect import insort
from collections import OrderedDict

from warpfile.spec.beat import Beat
from warpfile.spec.channel import Channel
from warpfile.spec.config import LINE_BYTES, Config
from warpfile.spec.trace import Space


class Memory:
    """Deterministic cache (least recently used line of a set out) in front of a channel of limited bandwidth.

    A sector that is in flight is fetched once, and keeps its arrival until it is there, whether or not the cache still
    has a place for its line. Each bank looks its sectors up in order: one that waits holds up all behind it.
    """

    def __init__(self, cfg: Config) -> None:
        self._hit_latency, self._transfer = cfg.hit_latency, cfg.transfer_cycles
        self._miss_latency = cfg.miss_latency
        self._in_line = LINE_BYTES // cfg.sector_bytes
        # Each place has the number of its line, and a bit for each sector that it has.
        self._sets = [OrderedDict[int, int]() for _ in range(cfg.cache_lines // cfg.cache_ways)]
        self._ways, self._only_local = cfg.cache_ways, cfg.cached == "local"
        self._channel = Channel(cfg.sector_interval)
        self._fetches, self._leaves = cfg.stores == "back", cfg.stores == "through"
        # Of sectors in flight arrival and accesses; what has arrived is dropped when it is looked up.
        self._on_way: dict[int, tuple[int, int]] = {}
        self._merges = cfg.mshr_merges
        self._entries = [0] * (cfg.mshrs if cfg.cache_lines else 0)  # until when they are taken, ascending
        self._start = self._now = 0  # of the access, and when its sector is looked up
        self._looked_up = [0] * cfg.l1_banks  # when each bank looked up its last sector
        # The same of the last ones that waited, as many as have room there: the first one makes it for the next one.
        self._waited = [[0] * max(1, cfg.hit_latency // cfg.domains) for _ in self._looked_up]
        self.port_free = 0  #: first cycle in which there is room for all sectors of the accesses so far

    @property
    def channel_free(self) -> int:
        """First cycle from which on the channel has nothing to serve."""
        return self._channel.free

    def access(self, beat: Beat, cycle: int) -> tuple[int, bool]:
        """Latency of the access that starts in ``cycle``, and whether its result waits for a sector to arrive.

        Updates cache, sectors in flight and channel."""
        look = self._arrival if beat.is_load or self._fetches else self._written
        if self._only_local and beat.is_load and beat.space == Space.GLOBAL:
            look = self._passed
        look = self._served if beat.is_atomic else look
        self._start = arrival = last = cycle
        for sector in beat.sectors:
            bank = sector % len(self._looked_up)
            self._now = max(cycle, self._looked_up[bank])
            arrival = max(arrival, look(sector))
            if self._now > cycle:
                last = max(last, self._now)
                self._wait(bank)
        hit = last - cycle + self._hit_latency + (beat.transfers - 1) * self._transfer
        if not beat.is_load or arrival - cycle < hit:
            return hit, False
        return arrival - cycle, True

    def _wait(self, bank: int) -> None:
        """A sector of a bank is looked up later than its access starts."""
        self._looked_up[bank] = self._now
        waited = self._waited[bank]
        waited.append(self._now)
        self.port_free = max(self.port_free, waited.pop(0))

    def _enter(self) -> int:
        """Cycle in which a sector enters the channel."""
        return self._channel.enter(self._now, self._start)

    def _written(self, sector: int) -> int:
        """A store writes through; the sector is in the cache where stores leave it there."""
        if self._leaves:
            self._hit(sector)
        return self._enter()

    def _served(self, sector: int) -> int:
        """Cycle in which an atomic was served in the L2; later accesses have to see its effect."""
        self._on_way.pop(sector, None)
        if self._sets:
            line, bit = sector // self._in_line, 1 << sector % self._in_line
            ways = self._sets[line % len(self._sets)]
            if line in ways:
                ways[line] &= ~bit
        return self._enter() + self._miss_latency

    def _passed(self, sector: int) -> int:
        """Cycle in which a sector arrives that the cache is not asked for."""
        return self._enter() + self._miss_latency

    def _arrival(self, sector: int) -> int:
        """Cycle in which a sector is there: fetched, unless the cache has it or it is in flight."""
        arrival, accesses = self._on_way.pop(sector, (0, 0))
        if accesses == self._merges:
            self._now = max(self._now, arrival)
        hit = self._hit(sector)
        if arrival <= self._now:
            if hit:
                return self._now
            arrival, accesses = self._fetched(), 0
        if self._sets:
            self._on_way[sector] = arrival, accesses + 1
        return arrival

    def _fetched(self) -> int:
        """Cycle in which a sector arrives that is fetched as soon as an entry can keep track of it."""
        entries = self._entries
        if not entries:
            return self._enter() + self._miss_latency
        self._now = max(self._now, entries.pop(0))
        arrival = self._enter() + self._miss_latency
        if entries and arrival < entries[-1]:
            insort(entries, arrival)
        else:
            entries.append(arrival)
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
