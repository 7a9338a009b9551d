"""Which results enter the caching units, and which entries they make stale (docs/schemes/malekeh.md, step 1)."""

from __future__ import annotations

from typing import NamedTuple

from warpfile.golden.arbiter import indices
from warpfile.golden.collectors.malekeh.units import CachingUnits, Unit
from warpfile.golden.copies import Latest, written
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


class Coming(NamedTuple):
    """The near result that comes first in its unit, and what becomes of it if the unit takes no beat."""

    port: int
    result: Result
    before: int  #: the value that it changes
    outcome: str
    entry: int  #: -1 if it is not cached


class ResultEntrance:
    """The one port through which results enter each unit. What becomes of them is added to ``counters``.

    ``look`` decides on the entries as they are, and leaves them so for the beat of the cycle; ``enter`` changes them.
    """

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
        self._first: dict[int, Coming] = {}  # by unit
        self._stale = [0] * cfg.collectors  # by unit, entries whose register is written
        counters |= dict.fromkeys((*OUTCOMES.values(), "invalidations"), 0)

    def look(self, results: list[Result | None], accepted: int) -> None:
        """Decide on the accepted results, before the file stores them."""
        near = []
        for port in indices(accepted):
            result = results[port]
            if result is None or not result.writes:
                continue
            before = self._latest.change(result)
            number = self._units.of_warp[result.warp]
            if number < 0:
                self._note("unowned", port)
                continue
            self._overtakes(number, result.register)
            if self._is_near(result):
                near.append((number, self._place_of(result.warp, result.register)[0], port, result, before))
            else:
                self._note("far", port)
        near.sort(key=lambda one: one[:2])
        for number, _, port, result, before in near:
            if number in self._first:
                self._note("outdone", port)
            else:
                self._first[number] = Coming(port, result, before, *self._place(self._units.units[number], result))

    def enter(self, taken: int) -> int:
        """Results enter the units, but not the one that took a beat (-1: none); the probes of what becomes of them.

        Entries that no result took become empty where their register was written, unless they are sources by now.
        """
        for number, coming in self._first.items():
            self._note("met" if number == taken else coming.outcome, coming.port)
            if number != taken and coming.entry >= 0:
                self._note("cache", coming.port)
                self._write(number, coming)
                self._stale[number] &= ~(1 << coming.entry)
        self._first.clear()
        for number, stale in enumerate(self._stale):
            if stale:
                self._empty(number, stale)
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

    def _overtakes(self, number: int, register: int) -> None:
        """A register is written, which makes its entry stale unless the result enters."""
        entries = self._units.units[number].entries
        entry = entries.where.get(register, -1)
        if entry >= 0:
            assert not entries.locked >> entry & 1, f"a result meets R{register}, a source of a waiting beat"
            self._stale[number] |= 1 << entry

    @staticmethod
    def _place(unit: Unit, result: Result) -> tuple[str, int]:
        """What becomes of the result that comes first, and its entry, -1 if it is not cached."""
        entries = unit.entries
        found = entries.where.get(result.register, -1)
        if found >= 0:
            return "cache_hit", found
        if not result.full:
            return "partial", -1
        victims = entries.replaceable()
        return (f"cache_{entries.kind(victims[0])}", victims[0]) if victims else ("crowded", -1)

    def _empty(self, number: int, stale: int) -> None:
        entries = self._units.units[number].entries
        for entry in indices(stale & entries.used & ~entries.locked):
            entries.drop(entry)
        self._units.touched |= 1 << number
        self._word |= stale << self._at_invalidate + number * self._entries
        self._counters["invalidations"] += stale.bit_count()
        self._stale[number] = 0

    def _write(self, number: int, coming: Coming) -> None:
        entries, entry, result = self._units.units[number].entries, coming.entry, coming.result
        if coming.outcome != "cache_hit":
            entries.replace(entry, result.register)
        entries.values[entry] = written(entries.values[entry], coming.before, result)
        entries.mark(entry, 1)
        self._units.touched |= 1 << number
