"""Probes and counters of a register file behind a renaming table."""

from __future__ import annotations

from collections.abc import Mapping

from warpfile.golden.events import Event, Events
from warpfile.spec.probe import ProbeLayout


class EventProbes:
    """Events of a cycle: ``show`` one of ``events``, which names a counter for each; ``edge`` ends the cycle.

    ``first`` is the lowest probe of the file: they lie side by side. ``sums`` has the counters that are not those of an
    event.
    """

    def __init__(self, layout: ProbeLayout, first: str, events: Mapping[str, str]) -> None:
        self._first = layout.offset[first]
        self._at = {name: at - self._first for name, at in layout.offset.items() if at >= self._first}
        self._events = Events(layout, dict.fromkeys(self._at, 1))
        self._probes: dict[str, Event] = {name: self._events.of(name) for name in self._at}
        self._counted = {counter: self._probes[probe] for probe, counter in events.items() if probe in self._probes}
        self.sums = {name: 0 for name in ("used_row_cycles", "bank_writes") if name not in self._counted}
        self._table_reads = self._table_writes = 0

    @property
    def counters(self) -> dict[str, int]:
        """Sums since the start, by name."""
        of_events = {counter: event.count for counter, event in self._counted.items()}
        return of_events | {"table_reads": self._table_reads, "table_writes": self._table_writes} | self.sums

    def level(self, probe: str, value: int) -> None:
        """A probe without a counter."""
        if value:
            self._probes[probe].level(value)

    def show(self, probe: str, value: int = 1) -> None:
        """An event, none of whose bits was shown in this cycle."""
        if value:
            self._probes[probe].show(value)

    def table(self, reads: int, writes: int) -> None:
        """Accesses of the cycle, two bits for each memory."""
        if reads:
            self.level("table_reads", reads)
            self._table_reads += _accesses(reads)
        if writes:
            self.level("table_writes", writes)
            self._table_writes += _accesses(writes)

    def edge(self) -> int:
        """End the cycle; returns what was shown in it."""
        return self._events.edge() << self._first


def _accesses(word: int) -> int:
    """Sum of numbers of two bits."""
    count = 0
    while word:
        count += word & 3
        word >>= 2
    return count
