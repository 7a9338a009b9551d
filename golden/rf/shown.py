"""Probes and counters of a register file behind a renaming table."""

from __future__ import annotations

from collections.abc import Mapping

from warpfile.golden.arbiter import ones
from warpfile.spec.probe import ProbeLayout

_ODD = sum(1 << bit for bit in range(0, 64, 2))


class Shown:
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
        for name, word in (("table_reads", reads), ("table_writes", writes)):
            if word:
                self._word |= word << self._at[name]
                self.counters[name] += ones(word) + ones(word & ~_ODD)

    def edge(self) -> int:
        """End the cycle; returns what was shown in it."""
        word, self._word = self._word, 0
        return word << self._first
