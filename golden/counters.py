"""Counters of every machine (docs/machine.md, section 10), summed from the model's own events."""

from __future__ import annotations

COUNTERS = (
    "cycles",
    "start_cycles",
    "beats",
    "instructions",
    "issue_idle",
    "issue_hazard",
    "issue_barrier",
    "issue_room",
    "issue_full",
    "write_waits",
    "dispatches",
    "dispatch_waits",
    "resident_cycles",
)


class Counts:
    """Sums since the start, an attribute for each of ``COUNTERS``; ``start_cycles`` came before it."""

    def __init__(self) -> None:
        self.cycles = self.start_cycles = self.beats = self.instructions = 0
        self.issue_idle = self.issue_hazard = self.issue_barrier = self.issue_room = self.issue_full = 0
        self.write_waits = self.dispatches = self.dispatch_waits = self.resident_cycles = 0

    def no_issue(self, buffered: int, waiting: int, clear: int, room: int) -> None:
        """Count a cycle in which nothing issues by its reason, from masks of warps; ``issue_full`` is part of one."""
        running = buffered & ~waiting
        if not buffered:
            self.issue_idle += 1
        elif not running:
            self.issue_barrier += 1
        elif clear & running:
            self.issue_room += 1
            if not clear & running & room:
                self.issue_full += 1
        else:
            self.issue_hazard += 1

    def table(self) -> dict[str, int]:
        """By name."""
        return {name: getattr(self, name) for name in COUNTERS}
