"""Probes and counters of the pool (docs/schemes/regmutex.md, section 9)."""

from __future__ import annotations

from warpfile.golden.arbiter import indices
from warpfile.golden.rf.regmutex.sections import Sections
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.regmutex import RegMutexConfig

COUNTERS = (
    "acq_ok",
    "acq_nop",
    "acq_fail",
    "acq_try",
    "rel_ok",
    "rel_nop",
    "acq_wait_cycles",
    "sections_in_use",
    "rel_drain_stall",
    "extended_accesses",
    "base_accesses",
    "stray_cycles",
)


class Probes:
    """Events of a cycle, as probes and in the file's ``counters``; ``word`` adds the state and ends the cycle."""

    def __init__(self, cfg: RegMutexConfig, layout: ProbeLayout, counters: dict[str, int]) -> None:
        self._counters, self._at = counters, layout.offset
        counters.update(dict.fromkeys(COUNTERS, 0))
        self._bits, self._paired = cfg.warp_bits, cfg.paired
        self._events = 0

    def _show(self, probe: str, bit: int, *counters: str) -> None:
        self._events |= 1 << self._at[probe] + bit
        for counter in counters:
            self._counters[counter] += 1

    def acquired(self, takes: bool) -> None:
        """An ACQ issues."""
        self._show(*(("acquire_ok", 0, "acq_ok") if takes else ("acquire_again", 0, "acq_nop")), "acq_try")

    def refused(self, warp: int) -> None:
        """An ACQ is refused."""
        self._show("acquire_refused", warp, "acq_fail", "acq_try")

    def released(self, gives: bool) -> None:
        """A REL issues."""
        self._show(*(("release_ok", 0, "rel_ok") if gives else ("release_again", 0, "rel_nop")))

    def sources(self, sources: tuple[int, ...], split: int) -> None:
        """Sources of a beat that issues and executes."""
        for slot, register in enumerate(sources):
            self._access("source", slot, register >= split)

    def write(self, port: int, extended: bool) -> None:
        """A result is stored."""
        self._access("write", port, extended)

    def _access(self, kind: str, bit: int, extended: bool) -> None:
        which = "extended" if extended else "base"
        self._show(f"{which}_{kind}", bit, f"{which}_accesses")

    def word(self, sections: Sections, draining: int, stray: bool) -> int:
        """All probes of the cycle."""
        at, counters, events = self._at, self._counters, self._events
        self._events = 0
        has, waiting = sections.has, sections.waiting
        counters["sections_in_use"] += has.bit_count()
        counters["acq_wait_cycles"] += waiting.bit_count()
        counters["rel_drain_stall"] += draining.bit_count()
        counters["stray_cycles"] += stray
        return (
            events
            | has << at["acquired"]
            | waiting << at["section_waiting"]
            | sections.taken << at["pool_taken"]
            | self._table(sections) << at["sections_held"]
            | draining << at["section_draining"]
            | stray << at["stray"]
        )

    def _table(self, sections: Sections) -> int:
        if self._paired:
            return 0
        return sum(sections.of[warp] << warp * self._bits for warp in indices(sections.held))
