"""Malekeh with exact reuse distances instead of near bits: how much does one bit lose? A study, without RTL."""

from __future__ import annotations

from collections.abc import Sequence

from warpfile.golden.collectors.malekeh.collectors import CachingCollectors
from warpfile.golden.collectors.malekeh.entries import Entries
from warpfile.golden.collectors.malekeh.results import Coming, ResultEntrance
from warpfile.golden.entry import Entry
from warpfile.golden.rf.contract import RegisterFile
from warpfile.spec.beat import Beat
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.malekeh import MalekehConfig
from warpfile.spec.stimulus import Result

#: A distance that stands for "never again".
NEVER = 0xFFFF
_FOREVER = 1 << 62


def beat_distances(beats: Sequence[Beat], first: Sequence[int], distance: Sequence[int]) -> list[tuple[int, ...]]:
    """Distances per beat, of its sources in slot order and then of its destinations, from those of the records.

    The accesses of record n are ``distance[first[n]:first[n + 1]]``: its distinct sources, then its destinations.
    """
    found, at = [], 0
    for beat in beats:
        if beat.first:
            at = first[beat.record]
        end = at + len(beat.sources) + beat.dest_count
        found.append(tuple(distance[at:end]))
        at = end
    return found


class OracleEntries(Entries):
    """Entries that know when their register is read next, as a record of the trace."""

    def __init__(self, cfg: MalekehConfig, lfsr: int) -> None:
        super().__init__(cfg, lfsr)
        self.next_use = [_FOREVER] * cfg.unit_entries

    def replaceable(self) -> list[int]:
        """Empty entries by index, then those first whose register is not needed for the longest time."""
        free = [entry for entry in range(len(self.registers)) if not self.locked >> entry & 1]
        return sorted(free, key=lambda entry: -self.next_use[entry] if self.used >> entry & 1 else -_FOREVER - 1)


class _Oracle:
    """Next uses of the registers under way to their units; distances per beat as ``beat_distances`` gives them."""

    def __init__(self, cfg: MalekehConfig, distances: Sequence[tuple[int, ...]]) -> None:
        self._threshold = cfg.reuse_threshold
        self._distances = distances
        self._results: dict[tuple[int, int], tuple[int, int]] = {}

    def takes(self, warp: int, entries: OracleEntries, beat: Beat) -> None:
        """A unit took a beat of a warp."""
        of_beat = self._distances[beat.payload]
        for register, distance in zip(beat.sources, of_beat, strict=False):
            entries.next_use[entries.where[register]] = self._record(beat, distance)
        for k, distance in enumerate(of_beat[len(beat.sources) :]):
            self._results[warp, beat.dest + k] = distance, self._record(beat, distance)

    @staticmethod
    def _record(beat: Beat, distance: int) -> int:
        return beat.record + distance if distance < NEVER else _FOREVER

    def is_near(self, result: Result) -> bool:
        """Whether a result is read again soon enough."""
        return self._results[result.warp, result.register][0] <= self._threshold

    def next_use(self, result: Result) -> int:
        """The record that reads a result first."""
        return self._results[result.warp, result.register][1]


class _OracleEntrance(ResultEntrance):
    oracle: _Oracle

    def _is_near(self, result: Result) -> bool:
        return self.oracle.is_near(result)

    def _write(self, number: int, coming: Coming) -> None:
        super()._write(number, coming)
        entries = self._units.units[number].entries
        assert isinstance(entries, OracleEntries)
        entries.next_use[coming.entry] = self.oracle.next_use(coming.result)


class OracleCollectors(CachingCollectors):
    """The caching units with exact reuse distances, given per beat (:func:`beat_distances`).

    Replaces by exact distances. Whether a unit *has near* still follows the hints of the sources.
    """

    def __init__(
        self, cfg: MalekehConfig, layout: ProbeLayout, file: RegisterFile, distances: Sequence[tuple[int, ...]]
    ) -> None:
        super().__init__(cfg, layout, file)
        self._oracle = _Oracle(cfg, distances)
        for number, unit in enumerate(self.units.units):
            unit.entries = OracleEntries(cfg, number + 1)
        self.entrance = _OracleEntrance(cfg, layout, self.units, file, self._counters)
        self.entrance.oracle = self._oracle

    def _allocate(self, warp: int, entry: Entry) -> bool:
        if not super()._allocate(warp, entry):
            return False
        entries = self.units.units[self.units.of_warp[warp]].entries
        assert isinstance(entries, OracleEntries)
        self._oracle.takes(warp, entries, entry.beat)
        return True
