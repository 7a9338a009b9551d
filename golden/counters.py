"""Counters of every machine (docs/machine.md, section 10), summed from the model's own events."""

from __future__ import annotations

COUNTERS = (
    "cycles",
    "beats",
    "instructions",
    "issue_idle",
    "issue_hazard",
    "issue_barrier",
    "issue_room",
    "write_waits",
    "dispatches",
    "dispatch_waits",
    "resident_cycles",
)


def no_issue_reason(buffered: int, waiting: int, clear: int) -> str:
    """The counter of a cycle in which nothing issues, from masks of warps."""
    if not buffered:
        return "issue_idle"
    running = buffered & ~waiting
    if not running:
        return "issue_barrier"
    return "issue_room" if clear & running else "issue_hazard"
