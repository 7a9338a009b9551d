"""Which results enter the caching units, and which entries they make stale (docs/schemes/malekeh.md, step 1)."""

from __future__ import annotations

from collections.abc import Sequence

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
    "partial": "uncached_partial",
    "crowded": "uncached_crowded",
}


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
        counters |= dict.fromkeys((*OUTCOMES.values(), "invalidations"), 0)

    def enter(self, results: Sequence[Result | None], accepted: int) -> int:
        """Look at the accepted results, before the file stores them; the probes of what becomes of them.

        All is decided on the entries as they are, then they change: an entry that a result takes is not emptied by
        another result.
        """
        self._word = 0
        near, overwritten = self._divide(results, accepted)
        first = dict[int, tuple[int, Result]]()
        for number, _, port, result in near:
            if number in first:
                self._note("outdone", port)
                overwritten.append((number, result.register))
            else:
                first[number] = self._place(self._units.units[number], port, result), result
        for number, register in overwritten:
            entry = self._units.units[number].entries.where.get(register, -1)
            if entry >= 0 and (number not in first or entry != first[number][0]):
                self._empty(number, entry)
        for number, (entry, result) in first.items():
            if entry >= 0:
                self._write(number, entry, result)
        for port, one in enumerate(results):
            if one is not None and one.writes and accepted >> port & 1:
                self._latest.change(one)
        return self._word

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

    def _place(self, unit: Unit, port: int, result: Result) -> int:
        """The entry for the result that comes first, -1 if it is not cached."""
        found = unit.entries.where.get(result.register, -1)
        if found >= 0:
            outcome = "cache_hit"
        elif not result.full:
            self._note("partial", port)
            return -1
        elif victims := unit.entries.replaceable():
            found = victims[0]
            outcome = f"cache_{unit.entries.kind(found)}"
        else:
            self._note("crowded", port)
            return -1
        self._note("cache", port)
        self._note(outcome, port)
        return found

    def _empty(self, number: int, entry: int) -> None:
        self._units.units[number].entries.drop(entry)
        self._units.touched |= 1 << number
        self._word |= 1 << self._at_invalidate + number * self._entries + entry
        self._counters["invalidations"] += 1

    def _write(self, number: int, entry: int, result: Result) -> None:
        entries = self._units.units[number].entries
        if entries.where.get(result.register) == entry:
            assert not entries.locked >> entry & 1, f"a result meets R{result.register}, a source of a waiting beat"
        else:
            entries.replace(entry, result.register)
        before = self._latest.before(result)
        whole = result.full or entries.values[entry] == before
        entries.values[entry] = result.row if whole else merged(entries.values[entry], before, result.row, result.mask)
        entries.mark(entry, 1)
        self._units.touched |= 1 << number
