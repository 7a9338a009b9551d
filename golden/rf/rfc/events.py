"""Events of the register cache: probes and counters of the file (docs/schemes/rfc.md, section 5)."""

from __future__ import annotations

from warpfile.spec.probe import ProbeLayout

#: Probes of events, and the counter that has one more for each of their bits.
EVENTS = {
    "bank_write": "bank_writes",
    "cache_write": "cache_writes",
    "cache_write_hit": "cache_write_hits",
    "bypass_hint": "bypasses_hint",
    "bypass_partial": "bypasses_partial",
    "bypass_full": "bypasses_full",
    "long": "long_results",
    "long_merge": "long_merges",
    "long_drop": "long_drops",
    "evict": "evictions",
    "evict_dead": "evictions_dead",
    "flush": "flushes",
    "flush_dead": "flushes_dead",
    "drop": "drops",
}
#: The same where lines know their lanes.
PARTIAL_EVENTS = {"defer": "deferrals", "recall": "recalls"}


class Events:
    """Observation of the events of the current cycle (``word``), and their sums in the file's ``counters``."""

    def __init__(self, layout: ProbeLayout, counters: dict[str, int], keeps_lanes: bool) -> None:
        self._counter = EVENTS | PARTIAL_EVENTS if keeps_lanes else EVENTS
        self._at = {probe: layout.offset[probe] for probe in self._counter}
        self._counters = counters
        counters.update(dict.fromkeys(self._counter.values(), 0))
        self.word = 0

    def note(self, probe: str, number: int = 0) -> None:
        """One bit of a probe."""
        self.word |= 1 << self._at[probe] + number
        self._counters[self._counter[probe]] += 1
