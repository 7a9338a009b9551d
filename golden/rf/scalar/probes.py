"""Probes and counters of accesses by kind and of the expansion (docs/schemes/scalar.md, section 9)."""

from __future__ import annotations

from warpfile.golden.arbiter import ones
from warpfile.spec.config import Config
from warpfile.spec.probe import ProbeLayout

#: Counters that are the number of set bits of a probe of events.
COUNTED = {
    "scalar_reads": "scalar_read",
    "vector_reads": "vector_read",
    "scalar_writes": "scalar_write",
    "vector_writes": "vector_write",
    "expansions": "expansion_write",
    "expansion_wait_cycles": "needs_expansion",
}


class Probes:
    """Events of a cycle, as probes and in the file's ``counters``; ``word`` adds the state and ends the cycle."""

    def __init__(self, cfg: Config, layout: ProbeLayout, counters: dict[str, int]) -> None:
        self._banks, self._counters, self._at = cfg.banks, counters, layout.offset
        self._counter = {probe: counter for counter, probe in COUNTED.items()}
        counters |= dict.fromkeys((*COUNTED, "scalar_register_cycles"), 0)
        self._events = 0

    def show(self, probe: str, bits: int) -> None:
        """All bits of a probe of events."""
        if bits:
            self._events |= bits << self._at[probe]
            if probe in self._counter:
                self._counters[self._counter[probe]] += ones(bits)

    def reads(self, asking: list[int], granted: int) -> None:
        """Slots that are granted, of those that ask each bank."""
        served = 0
        for bank, mask in enumerate(asking):
            if mask & granted:
                served |= 1 << bank
        self.show("scalar_read", served >> self._banks)
        self.show("vector_read", served & (1 << self._banks) - 1)

    def word(self, phase: int, registers: int) -> int:
        """All probes of the cycle, with the phase of the expansion and the number of scalar registers."""
        events, self._events = self._events, 0
        self._counters["scalar_register_cycles"] += registers
        return events | phase << self._at["expansion"] | registers << self._at["scalar_registers"]
