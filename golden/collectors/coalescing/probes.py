"""Probes and counters of the units (docs/schemes/corf.md, section 11)."""

from __future__ import annotations

from warpfile.golden.arbiter import ones
from warpfile.spec.probe import ProbeLayout

#: Counters that have one more for each bit of a probe.
COUNTERS = {
    "occupied": "unit_cycles",
    "lacking": "operand_waits",
    "request": "bank_conflicts",  # minus the granted ones
    "grant": "bank_reads",
    "look_up": "look_ups",
    "look_up_wait": "look_up_waits",
    "zero": "unmapped_reads",
    "joined": "coalesced",
    "kills": "kill_wait_cycles",
    "kill_refused": "kills_refused",
    "unit_drains": "draining_cycles",
}


class SummedProbe:
    """A probe: its lowest bit, counted from the first one of the units, and how many of its bits were set so far."""

    __slots__ = ("at", "count")

    def __init__(self, at: int) -> None:
        self.at, self.count = at, 0


class Probes:
    """Probes of a cycle, by name, and their sums."""

    def __init__(self, layout: ProbeLayout) -> None:
        there = layout.offset
        self._first = there["occupied"]
        self._probes = {
            name: SummedProbe(there[name] - self._first) for name in (*COUNTERS, "allocate") if name in there
        }
        self._units = [there[f"dispatch_unit{port}"] for port in range(_ports(layout))]
        self._word = self._far = 0

    @property
    def counters(self) -> dict[str, int]:
        """Sums since the start, by name."""
        counts = {counter: self._probes[probe].count for probe, counter in COUNTERS.items() if probe in self._probes}
        return counts | {"bank_conflicts": counts["bank_conflicts"] - counts["bank_reads"]}

    def show(self, probe: str, value: int) -> None:
        """Bits that were not shown in this cycle."""
        if value:
            shown = self._probes[probe]
            self._word |= value << shown.at
            shown.count += ones(value)

    def presented(self, port: int, number: int) -> None:
        """A port is shown the beat of this unit."""
        self._far |= number << self._units[port]

    def edge(self) -> int:
        """End the cycle; returns all that was shown in it."""
        word = self._word << self._first | self._far
        self._word = self._far = 0
        return word


def _ports(layout: ProbeLayout) -> int:
    return sum(name.startswith("dispatch_unit") for name in layout.offset)
