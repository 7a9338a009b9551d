"""Events of the operand windows: their probes and counters (docs/schemes/bow.md, sections 5 and 6)."""

from __future__ import annotations

from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.bow import RENAMED_COUNTERS, BowConfig

_COUNTERS = (
    "bank_reads",
    "bank_conflicts",
    "unit_cycles",
    "operand_waits",
    "bypassed_reads",
    "bypassed_writes",
    "window_writes",
    "window_reads",
    "evictions",
    "discards",
    "victims",
    "victims_transient",
    "saved_writes",
    "dropped_results",
    "late_results",
    "late_bank_writes",
    "refusals",
    "stall_slot",
    "stall_evict",
    "stall_entry",
    "stall_write_after_read",
    "results",
)


class Events:
    """Observation of the current cycle (``word``) and the sums since the beginning (``counters``)."""

    def __init__(self, cfg: BowConfig, layout: ProbeLayout) -> None:
        self._at = layout.offset
        self.word = 0
        counted = [f"class_{number}" for number in range(4)]
        counted += [f"sources_{count}" for count in range(cfg.source_slots + 1)]
        counted += [f"occupancy_{count}" for count in range(cfg.window_entries + 1)]
        counted += [counter for counter, probe in RENAMED_COUNTERS.items() if probe in layout.offset]
        self.counters = dict.fromkeys((*_COUNTERS, *counted), 0)

    def show(self, probe: str, value: int) -> None:
        """Bits of a probe."""
        self.word |= value << self._at[probe]

    def stall(self, name: str, windows: int) -> None:
        """Windows that wait; probe and counter have one name."""
        self.word |= windows << self._at[name]
        self.counters[name] += windows.bit_count()

    def note(self, probe: str, number: int, *counters: str) -> None:
        """One bit of a probe, and the counters that it is one event of."""
        self.word |= 1 << self._at[probe] + number
        for name in counters:
            self.counters[name] += 1
