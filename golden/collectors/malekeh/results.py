"""Which results enter the caching units, and which entries they make stale (docs/schemes/malekeh.md, step 1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from warpfile.golden.arbiter import indices
from warpfile.golden.collectors.malekeh.units import CachingUnits, Unit
from warpfile.golden.copies import Latest, merged
from warpfile.golden.rf.contract import RegisterFile
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.malekeh import MalekehConfig
from warpfile.spec.stimulus import Result

#: Probes of what becomes of a result, with their counters.
OUTCOMES = {
    "cache": "cached_results",
    "cache_hit": "cached_hits",
    "cache_empty": "cached_empty",
    "cache_far": "cached_far",
    "cache_near": "cached_near",
    "unowned": "uncached_unowned",
    "far": "uncached_far",
    "outdone": "uncached_outdone",
    "met": "uncached_met",
    "partial": "uncached_partial",
    "crowded": "uncached_crowded",
}


class First(NamedTuple):
    """The near result that comes first in a unit: what would become of it, and the value that it changes."""

    entry: int  #: -1: none
    outcome: str
    port: int
    result: Result
    before: int


class ResultEntrance:
    """The one port through which results enter each unit. What becomes of them is added to ``counters``."""

    def __init__(
        self,
        cfg: MalekehConfig,
        layout: ProbeLayout,
        units: CachingUnits,
        file: RegisterFile,
        counters: dict[str, int],
    ) -> None:
        self._units = units
        self._place_of = file.place
        self._latest = Latest(cfg)
        self._counters = counters
        self._entries = cfg.unit_entries
        self._at = {name: layout.offset[name] for name in OUTCOMES}
        self._at_invalidate = layout.offset["invalidate"]
        self._word = 0
        self._first: dict[int, First] = {}
        self._stale: list[tuple[int, int, int]] = []  #: unit, entry, its register, which a result writes in the banks
        counters |= dict.fromkeys((*OUTCOMES.values(), "invalidations"), 0)

    def look_at(self, results: Sequence[Result | None], accepted: int) -> None:
        """Look at the accepted results, before the file stores them and before any unit takes a beat.

        All is decided on the entries as they are. They change in :meth:`enter`.
        """
        near, overwritten = self._divide(results, accepted)
        for number, _, port, result in near:
            if number in self._first:
                self._note("outdone", port)
                overwritten.append((number, result.register))
            else:
                entry, outcome = self._place(self._units.units[number], result)
                self._first[number] = First(entry, outcome, port, result, self._latest.before(result))
        for number, register in overwritten:
            self._overwrite(number, register)
        for port, one in enumerate(results):
            if one is not None and one.writes and accepted >> port & 1:
                self._latest.change(one)

    def enter(self, taken: int) -> int:
        """Change the entries, after the unit ``taken`` (-1: none) took a beat. Returns the probes of all results.

        That unit gets no result. An entry that a result takes is not emptied by another one.
        """
        if not self._word and not self._first:
            return 0
        met = self._first.pop(taken, None)
        if met is not None:
            self._note("met", met.port)
            if met.outcome == "cache_hit":
                self._stale.append((taken, met.entry, met.result.register))
        for number, entry, register in self._stale:
            if number not in self._first or self._first[number].entry != entry:
                self._empty(number, entry, register, number == taken)
        for number, first in self._first.items():
            self._note(first.outcome, first.port)
            if first.entry >= 0:
                self._note("cache", first.port)
                self._write(number, first)
        self._first.clear()
        self._stale.clear()
        word, self._word = self._word, 0
        return word

    def launched(self, warp: int) -> None:
        """Nothing of the warp is written yet."""
        self._latest.launched(warp)

    def _note(self, outcome: str, port: int) -> None:
        self._word |= 1 << self._at[outcome] + port
        self._counters[OUTCOMES[outcome]] += 1

    def _is_near(self, result: Result) -> bool:
        return bool(result.hints >> result.component & 1)

    def _divide(
        self, results: Sequence[Result | None], accepted: int
    ) -> tuple[list[tuple[int, int, int, Result]], list[tuple[int, int]]]:
        """The near results of owners, by unit and then by bank, and the unit and register of the far ones."""
        near, far = [], []
        for port in indices(accepted):
            result = results[port]
            if result is None or not result.writes:
                continue
            number = self._units.of_warp[result.warp]
            if number < 0:
                self._note("unowned", port)
            elif self._is_near(result):
                near.append((number, self._place_of(result.warp, result.register)[0], port, result))
            else:
                self._note("far", port)
                far.append((number, result.register))
        near.sort(key=lambda one: one[:2])
        return near, far

    def _place(self, unit: Unit, result: Result) -> tuple[int, str]:
        """The entry for the result that comes first, -1 if it is not cached, and the outcome."""
        entries = unit.entries
        found = entries.where.get(result.register, -1)
        if found >= 0:
            assert not entries.locked >> found & 1, f"a result meets R{result.register}, a source of a waiting beat"
            return found, "cache_hit"
        if not result.full:
            return -1, "partial"
        victims = entries.replaceable()
        return (victims[0], f"cache_{entries.kind(victims[0])}") if victims else (-1, "crowded")

    def _overwrite(self, number: int, register: int) -> None:
        """The register's entry, if there is one, becomes empty."""
        entries = self._units.units[number].entries
        entry = entries.where.get(register, -1)
        if entry >= 0:
            assert not entries.locked >> entry & 1, f"a result meets R{register}, a source of a waiting beat"
            self._stale.append((number, entry, register))

    def _empty(self, number: int, entry: int, register: int, taken: bool) -> None:
        """Empty an entry; in a unit that takes a beat it may be another register's by now."""
        entries = self._units.units[number].entries
        still = entries.where.get(register) == entry and not entries.locked >> entry & 1
        if still or not taken:
            entries.drop(entry)
        self._units.touched |= 1 << number
        self._word |= 1 << self._at_invalidate + number * self._entries + entry
        self._counters["invalidations"] += 1

    def _write(self, number: int, first: First) -> None:
        entries, entry, result, before = self._units.units[number].entries, first.entry, first.result, first.before
        if entries.where.get(result.register) != entry:
            entries.replace(entry, result.register)
        whole = result.full or entries.values[entry] == before
        entries.values[entry] = result.row if whole else merged(entries.values[entry], before, result.row, result.mask)
        entries.mark(entry, 1)
        self._units.touched |= 1 << number
