"""Probes and counters of a register file behind a renaming table."""

from __future__ import annotations

from collections.abc import Mapping

from warpfile.golden.arbiter import ones
from warpfile.spec.probe import ProbeLayout


class EventProbes:
    """Events of a cycle: ``show`` one of ``events``, which names a counter for each; ``edge`` ends the cycle.

    ``first`` is the lowest probe of the file: they lie side by side, a word by itself, which goes into the long one at
    once.
    """

    def __init__(self, layout: ProbeLayout, first: str, events: Mapping[str, str]) -> None:
        probes = {probe.name for probe in layout}
        self.counters = {counter: 0 for probe, counter in events.items() if probe in probes}
        self.counters |= dict.fromkeys(("table_reads", "table_writes", "used_row_cycles", "bank_writes"), 0)
        self._events = events
        self._first = layout.offset[first]
        self._at = {name: layout.offset[name] - self._first for name in probes}
        self._word = 0

    def level(self, probe: str, value: int) -> None:
        """A probe without a counter."""
        if value:
            self._word |= value << self._at[probe]

    def show(self, probe: str, value: int = 1) -> None:
        """An event, none of whose bits was shown in this cycle."""
        if value:
            self._word |= value << self._at[probe]
            self.counters[self._events[probe]] += ones(value)

    def table(self, reads: int, writes: int) -> None:
        """Accesses of the cycle, two bits for each memory."""
        if reads:
            self.level("table_reads", reads)
            self.counters["table_reads"] += _accesses(reads)
        if writes:
            self.level("table_writes", writes)
            self.counters["table_writes"] += _accesses(writes)

    def edge(self) -> int:
        """End the cycle; returns what was shown in it."""
        word, self._word = self._word, 0
        return word << self._first


def _accesses(word: int) -> int:
    """Sum of numbers of two bits."""
    count = 0
    while word:
        count += word & 3
        word >>= 2
    return count
