"""Probes and counters of owners and of accesses by set (docs/schemes/owf.md, section 9)."""

from __future__ import annotations

from warpfile.golden.rf.owf.owners import Owners
from warpfile.spec.probe import ProbeLayout

COUNTERS = (
    "owners_taken",
    "owner_cycles",
    "owner_wait_cycles",
    "paired_cycles",
    "shared_accesses",
    "private_accesses",
    "stray_cycles",
)


class Probes:
    """Events of a cycle, as probes and in the file's ``counters``; ``word`` adds the state and ends the cycle."""

    def __init__(self, layout: ProbeLayout, counters: dict[str, int]) -> None:
        self._counters, self._at = counters, layout.offset
        counters.update(dict.fromkeys(COUNTERS, 0))
        self._events = 0

    def taken(self) -> None:
        """The beat that issues makes its warp an owner."""
        self._events |= 1 << self._at["owner_taken"]
        self._counters["owners_taken"] += 1

    def sources(self, sources: tuple[int, ...], split: int) -> None:
        """Sources of a beat that issues and executes."""
        for slot, register in enumerate(sources):
            self._access("source", slot, register >= split)

    def write(self, port: int, shared: bool) -> None:
        """A result is stored."""
        self._access("write", port, shared)

    def _access(self, kind: str, bit: int, shared: bool) -> None:
        which = "shared" if shared else "private"
        self._events |= 1 << self._at[f"{which}_{kind}"] + bit
        self._counters[f"{which}_accesses"] += 1

    def word(self, owners: Owners, held: int) -> int:
        """All probes of the cycle."""
        at, counters, events = self._at, self._counters, self._events
        self._events = 0
        paired = owners.resident & owners.slots
        counters["owner_cycles"] += owners.owner.bit_count()
        counters["owner_wait_cycles"] += held.bit_count()
        counters["paired_cycles"] += paired.bit_count()
        counters["stray_cycles"] += owners.stray
        return (
            events
            | owners.owner << at["owns"]
            | held << at["owner_waiting"]
            | paired << at["paired"]
            | owners.stray << at["stray"]
        )
