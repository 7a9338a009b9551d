"""Probes and counters of the levels (docs/schemes/shrf.md, section 8)."""

from __future__ import annotations

from warpfile.golden.arbiter import ones
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.shrf import COUNTERS, ShrfConfig


class Events:
    """Observation of the current cycle, and the sums in the file's ``counters``."""

    def __init__(self, cfg: ShrfConfig, layout: ProbeLayout, counters: dict[str, int]) -> None:
        counted = {name: probe for name, probe in COUNTERS.items() if cfg.orf_entries or probe != "bring"}
        self._counter = {probe: name for name, probe in counted.items()}
        self._at = {probe: layout.offset[probe] for probe in (*self._counter, "to_be_written")}
        self._counters = counters
        counters |= dict.fromkeys(counted, 0)
        self._word = 0

    def note(self, probe: str, number: int) -> None:
        """One bit of a probe of events."""
        self._word |= 1 << self._at[probe] + number
        self._counters[self._counter[probe]] += 1

    def state(self, written: int, hold: int) -> int:
        """Probes of registered state."""
        at = self._at
        self._counters["entry_holds"] += ones(hold)
        return written << at["to_be_written"] | hold << at["entry_hold"]

    def take(self) -> int:
        """The events of the cycle, which ends."""
        word, self._word = self._word, 0
        return word
