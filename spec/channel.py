"""Channel to memory beyond the cache (docs/machine.md, section 9, "Memory")."""

from __future__ import annotations


class Channel:
    """Serves one sector per interval. Sectors are named in any order of their times; each takes the first gap."""

    def __init__(self, interval: int) -> None:
        self.free = 0  #: first cycle from which on there is nothing to serve
        self._interval = interval
        self._gaps: list[tuple[int, int]] = []  # first and last cycle in which a sector could still enter before that

    def enter(self, cycle: int, now: int) -> int:
        """Cycle in which a sector enters that could do so in ``cycle``; what is named later cannot before ``now``."""
        if self._gaps:
            start = self._in_gap(cycle, now)
            if start >= 0:
                return start
        start = max(cycle, self.free)
        if start - self._interval >= max(self.free, now):
            self._gaps.append((max(self.free, now), start - self._interval))
        self.free = start + self._interval
        return start

    def _in_gap(self, cycle: int, now: int) -> int:
        """The same, where that is before the last sector that has a cycle; otherwise -1. Forgets gaps that are over."""
        self._gaps = [gap for gap in self._gaps if gap[1] >= now]
        for number, (first, last) in enumerate(self._gaps):
            start = max(cycle, first)
            if start <= last:
                parts = ((first, start - self._interval), (start + self._interval, last))
                self._gaps[number : number + 1] = [part for part in parts if part[0] <= part[1]]
                return start
        return -1
