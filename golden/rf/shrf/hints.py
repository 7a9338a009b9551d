"""What the hints of a beat and of a result say (docs/schemes/shrf.md, section 3)."""

from __future__ import annotations

from warpfile.golden.arbiter import indices
from warpfile.golden.entry import Entry
from warpfile.spec.beat import Beat
from warpfile.spec.schemes.shrf import ShrfConfig
from warpfile.spec.stimulus import Result


class BeatHints:
    """Hints by their words, each read once. Entries are those of a place; masks are over them."""

    def __init__(self, cfg: ShrfConfig) -> None:
        self._cfg = cfg
        self._at_skips = -1 if cfg.is_off else cfg.hint_at("mrf_skipped")
        self._sources: dict[int, tuple[tuple[int, ...], int]] = {}
        self._results: dict[int, int] = {}

    def sources(self, beat: Beat) -> tuple[tuple[int, ...], int]:
        """By source slot the entry that it names, -1 for none; and the slots that bring."""
        found = self._sources.get(beat.hints)
        if found is None:
            found = self._sources[beat.hints] = self._cfg.sources_of(beat.hints)
        return found

    def result(self, result: Result) -> int:
        """The entry that gets the result, -1 for none."""
        return self._result(result.hints)

    def _result(self, hints: int) -> int:
        found = self._results.get(hints)
        if found is None:
            found = self._results[hints] = self._cfg.result_of(hints)
        return found

    def skips(self, result: Result) -> bool:
        """Whether the result is not written to its bank."""
        return bool(result.hints >> self._at_skips & 1)

    def reads(self, entry: Entry) -> int:
        """Entries that a beat reads."""
        if not entry.needs_unit:
            return 0
        entries, bring = self.sources(entry.beat)
        slots = range(len(entry.beat.sources))
        return sum(1 << entries[slot] for slot in slots if entries[slot] >= 0 and not bring >> slot & 1)

    def writes(self, entry: Entry) -> int:
        """Entries that a beat writes."""
        entries, bring = self.sources(entry.beat)
        result = self._result(entry.beat.hints)
        return sum(1 << entries[slot] for slot in indices(bring)) | (1 << result if result >= 0 else 0)

    def uses(self, entry: Entry) -> int:
        """Entries that a beat reads or writes."""
        return self.reads(entry) | self.writes(entry)
