"""Probes and counters of the packed file (docs/schemes/corf.md, section 11)."""

from __future__ import annotations

from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.packed import ALLOCATE, IN_PLACE, RESIZE, SHRINK, PackedConfig

#: Counters that have one more for each bit of an event.
EVENTS = {
    "merge": "merges",
    "stored": "packed_writes",
    "search_wait": "search_waits",
    "table_wait": "table_waits",
    "sweep_read": "sweep_steps",
    "sweep_write": "sweep_steps",
    "with_partner": "pair_packed",
    "without_partner": "pair_failed",
    "killed": "kills_done",
    "told": "metadata",
    "error": "error_cycles",
}
DECISIONS = {IN_PLACE: "in_place", SHRINK: "shrinks", RESIZE: "resizes", ALLOCATE: "allocations"}
_SIZES = tuple(f"size_{size}" for size in range(5))
_ODD = sum(1 << bit for bit in range(0, 64, 2))


class Seen:
    """Events of a cycle: ``show`` one of ``EVENTS``, others have methods of their own; ``edge`` ends the cycle."""

    def __init__(self, cfg: PackedConfig, layout: ProbeLayout) -> None:
        probes = {probe.name for probe in layout}
        self.counters = dict.fromkeys([*DECISIONS.values(), *_SIZES[1:]], 0)
        self.counters |= {counter: 0 for probe, counter in EVENTS.items() if probe in probes}
        self.counters |= dict.fromkeys(("table_reads", "table_writes", "used_row_cycles", "bank_writes"), 0)
        # The file's probes lie side by side: a word by itself, which goes into the long one at once.
        self._first = layout.offset["deciding"]
        self._at = {name: layout.offset[name] - self._first for name in probes}
        self._entry, self._row_at, self._mask_at = cfg.mapping_bits, cfg.bank_bits, cfg.bank_bits + cfg.row_bits
        self._word = 0

    def level(self, probe: str, value: int) -> None:
        """A probe without a counter."""
        self._word |= value << self._at[probe]

    def show(self, probe: str, value: int = 1) -> None:
        """An event, none of whose bits was shown in this cycle."""
        self._word |= value << self._at[probe]
        self.counters[EVENTS[probe]] += value.bit_count()

    def size(self, port: int, size: int) -> None:
        """A result leaves X."""
        self._word |= size << self._at["size"] + 3 * port
        self.counters[_SIZES[size]] += 1

    def decision(self, port: int, code: int, target: tuple[int, int, int]) -> None:
        """A result leaves W0."""
        bank, row, mask = target
        self._word |= code << self._at["decision"] + 3 * port
        place = bank | row << self._row_at | mask << self._mask_at
        self._word |= place << self._at["target"] + self._entry * port
        self.counters[DECISIONS[code]] += 1

    def table(self, reads: int, writes: int) -> None:
        """Accesses of the cycle, two bits for each memory."""
        for name, word in (("table_reads", reads), ("table_writes", writes)):
            if word:
                self._word |= word << self._at[name]
                self.counters[name] += word.bit_count() + (word & ~_ODD).bit_count()

    def edge(self) -> int:
        """End the cycle; returns what was shown in it."""
        word, self._word = self._word, 0
        return word << self._first
