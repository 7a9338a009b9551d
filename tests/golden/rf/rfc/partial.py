"""What must hold where lines know their lanes, besides all that holds in a register cache."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from tests.golden.invariants import require
from tests.golden.rf.rfc.invariants import Name, RfcWatcher
from warpfile.golden.arbiter import indices, lowest
from warpfile.spec.stimulus import Stimulus


@dataclass
class LaneWatcher(RfcWatcher):
    """Follows the lanes of every cached register by itself, from the results that enter."""

    owned: dict[Name, int] = field(default_factory=dict)
    deferrals: Counter[tuple[int, int]] = field(default_factory=Counter)

    def _check_lines(self, f: dict[str, int]) -> None:
        super()._check_lines(f)
        self.owned = {name: self.owned[name] for name in self.cached.values()}
        shown = 0
        for line, name in self.cached.items():
            shown |= self.owned[name] << line * self.cfg.lanes
        require(f["line_lanes"] == shown, "a line has the lanes that were written since it began")

    def _check_results(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        super()._check_results(stimulus, f)
        require(not f["bypass_partial"], "no result passes by because it writes some lanes")
        every = (1 << self.cfg.lanes) - 1
        for port in indices(f["cache_write"]):
            result = stimulus.results[port]
            assert result is not None
            lanes = every if result.full else result.mask & every
            there = f["cache_write_hit"] >> port & 1
            name = (result.warp, result.register)
            self.owned[name] = lanes | (self.owned[name] if there else 0)

    def is_deferred(self, unit: int, f: dict[str, int]) -> bool:
        """A look-up waits while a line lacks lanes of its beat, the lowest free one of which goes to its bank."""
        warp, beat = self.units[unit]
        lanes = beat.mask & (1 << self.cfg.lanes) - 1
        wanted = {(warp, register) for register in beat.sources}
        lacking = sum(1 << line for line, name in self.cached.items() if name in wanted and lanes & ~self.owned[name])
        loose = lacking & ~f["pinned"]
        require(f["defer"] == bool(lacking), "a look-up is deferred iff a line lacks lanes of its beat")
        require(not loose or f["flush"] in (0, 1 << lowest(loose)), "the lowest such line goes before all others")
        require(f["recall"] == bool(loose and f["flush"]), "a line is recalled for a look-up only")
        self.deferrals[warp, beat.record] += bool(lacking)
        require(self.deferrals[warp, beat.record] < 300, "a look-up is deferred for a bounded time")
        return bool(lacking)

    def _follow_check(self, f: dict[str, int]) -> None:
        super()._follow_check(f)
        unchecked = any(unit not in self.checked or f["check"] >> unit & 1 for unit in self.units)
        require(unchecked or not f["defer"] | f["recall"], "without a beat that looks up nothing is recalled")
        for unit in indices(f["check"]):
            warp, beat = self.units[unit]
            for slot in indices(f["hit"]):
                lanes = beat.mask & (1 << self.cfg.lanes) - 1
                require(not lanes & ~self.owned[warp, beat.sources[slot]], "a hit has all lanes of its beat")
