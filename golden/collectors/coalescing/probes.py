"""Probes and counters of the units (docs/schemes/corf.md, section 11)."""

from __future__ import annotations

from warpfile.golden.events import Event, Events, Word
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


class Probes:
    """Probes of a cycle, an attribute for each, and their sums. One that is not there is never shown."""

    def __init__(self, layout: ProbeLayout) -> None:
        there, none = layout.offset, Event(Word(0), 0)
        self._events = events = Events(layout, {name: 1 for name in (*COUNTERS, "allocate") if name in there})
        self._counted = {counter: events.of(probe) for probe, counter in COUNTERS.items() if probe in there}
        self.occupied, self.lacking, self.allocate = events.of("occupied"), events.of("lacking"), events.of("allocate")
        self.request, self.grant, self.zero = events.of("request"), events.of("grant"), events.of("zero")
        self.look_up, self.look_up_wait = events.of("look_up"), events.of("look_up_wait")
        self.joined, self.kills, self.kill_refused, self.unit_drains = (
            events.of(name) if name in there else none for name in ("joined", "kills", "kill_refused", "unit_drains")
        )
        self._units = [there[f"dispatch_unit{port}"] for port in range(_ports(layout))]
        self._far = 0

    @property
    def counters(self) -> dict[str, int]:
        """Sums since the start, by name."""
        counts = {counter: event.count for counter, event in self._counted.items()}
        return counts | {"bank_conflicts": counts["bank_conflicts"] - counts["bank_reads"]}

    def presented(self, port: int, number: int) -> None:
        """A port is shown the beat of this unit."""
        self._far |= number << self._units[port]

    def edge(self) -> int:
        """End the cycle; returns all that was shown in it."""
        word, far = self._events.edge() << self._events.first, self._far
        if far:
            word, self._far = word | far, 0
        return word


def _ports(layout: ProbeLayout) -> int:
    return sum(name.startswith("dispatch_unit") for name in layout.offset)
