"""Counting the accesses of one warp (docs/schemes/pilot.md, section 6)."""

from __future__ import annotations

from warpfile.spec.beat import Beat
from warpfile.spec.schemes.pilot import COUNT_BITS, PilotConfig

_MOST = (1 << COUNT_BITS) - 1


class Counts:
    """A counter for every register but the marker. ``held`` are the accesses that are counted in this cycle."""

    def __init__(self, cfg: PilotConfig) -> None:
        self._marker = cfg.marker
        self._coming: list[int] = []
        self.held: list[int] = []
        self.of = [0] * cfg.marker

    def clear(self) -> None:
        """A kernel begins."""
        self.held.clear()
        self._coming.clear()
        self.of = [0] * self._marker

    def note(self, beat: Beat) -> None:
        """A beat of the pilot issues: what it accesses is counted in the next cycle."""
        if beat.mask:
            accesses = (*beat.sources, *range(beat.dest, beat.dest + beat.dest_count))
            self._coming = [register for register in accesses if register != self._marker]

    def edge(self) -> None:
        """Count what is held."""
        for register in self.held:
            self.of[register] = min(self.of[register] + 1, _MOST)
        self.held, self._coming = self._coming, []
