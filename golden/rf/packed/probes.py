"""Probes and counters of the packed file (docs/schemes/corf.md, section 11)."""

from __future__ import annotations

from warpfile.golden.rf.event_probes import EventProbes
from warpfile.golden.rf.renaming import Mapped
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.packed import ALLOCATE, IN_PLACE, RESIZE, SHRINK, PackedConfig
from warpfile.spec.schemes.renamed import SWEPT

#: Counters that have one more for each bit of an event.
EVENTS = {
    "merge": "merges",
    "stored": "packed_writes",
    "search_wait": "search_waits",
    "table_wait": "table_waits",
    "sweep_free": SWEPT,
    "with_partner": "pair_packed",
    "without_partner": "pair_failed",
    "killed": "kills_done",
    "told": "metadata",
    "error": "error_cycles",
}
DECISIONS = {IN_PLACE: "in_place", SHRINK: "shrinks", RESIZE: "resizes", ALLOCATE: "allocations"}
_SIZES = tuple(f"size_{size}" for size in range(5))


class Probes(EventProbes):
    """In addition to :class:`EventProbes`: sizes and decisions."""

    def __init__(self, cfg: PackedConfig, layout: ProbeLayout) -> None:
        super().__init__(layout, "reading", EVENTS)
        self.sums |= dict.fromkeys([*DECISIONS.values(), *_SIZES[1:]], 0)
        self._entry, self._row_at, self._mask_at = cfg.mapping_bits, cfg.bank_bits, cfg.bank_bits + cfg.row_bits

    def size(self, port: int, size: int) -> None:
        """A result leaves X."""
        self.level("size", size << 3 * port)
        self.sums[_SIZES[size]] += 1

    def decision(self, port: int, code: int, target: Mapped) -> None:
        """A result leaves W0."""
        self.level("decision", code << 3 * port)
        place = target.bank | target.row << self._row_at | target.mask << self._mask_at
        self.level("target", place << self._entry * port)
        self.sums[DECISIONS[code]] += 1
