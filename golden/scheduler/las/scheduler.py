"""Loose round robin that prefers warps whose next load is in the register file (docs/schemes/larf.md, section 19)."""

from __future__ import annotations

from mypy_extensions import mypyc_attr

from warpfile.golden.arbiter import first_from
from warpfile.golden.scheduler.contract import LookaheadScheduler
from warpfile.golden.scheduler.policy import Lrr
from warpfile.spec.beat import Beat
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.las import LasConfig
from warpfile.spec.schemes.shared import LOAD


@mypyc_attr(allow_interpreted_subclasses=True)
class Las(Lrr, LookaheadScheduler):
    """Scheduler (:class:`golden.scheduler.contract.LookaheadScheduler`). ``flagged`` changes at the ``edge``."""

    def __init__(self, cfg: LasConfig) -> None:
        super().__init__(cfg)
        self._counters = {"las_issues": 0}
        self.flagged = 0
        self._limit, self._in_a_row = cfg.flag_limit, 0
        self._lookahead_hit = self._cleared = 0
        self._at_hint, self._at = cfg.hint_at("access"), 0

    @property
    def counters(self) -> dict[str, int]:
        """See the contract."""
        return self._counters

    def observe_at(self, layout: ProbeLayout) -> None:
        """See the contract."""
        self._at = layout.offset["flagged"]

    def begin(self, lookahead_hit: int) -> int:
        """See the contract."""
        self._lookahead_hit = lookahead_hit
        return self.flagged << self._at

    def choose(self, eligible: int) -> int:
        """Round robin among the flagged, if it is not the others' turn."""
        others = eligible & ~self.flagged
        theirs = others != 0 and self._in_a_row == self._limit
        return first_from(others if theirs else eligible & self.flagged or eligible, self._pointer)

    def issued(self, warp: int) -> None:
        """The pointer moves, and issues of flagged warps are counted."""
        super().issued(warp)
        if self.flagged >> warp & 1:
            self._in_a_row = min(self._in_a_row + 1, self._limit)
            self._counters["las_issues"] += 1
        else:
            self._in_a_row = 0

    def leaves(self, warp: int, beat: Beat) -> None:
        """A load that may be shared is what the flag was for."""
        if beat.hints >> self._at_hint & 3 == LOAD:
            self._cleared |= 1 << warp

    def launched(self, warp: int) -> None:
        """It begins without a flag."""
        self._cleared |= 1 << warp

    def exited(self, warp: int) -> None:
        """It has no flag any more."""
        self._cleared |= 1 << warp

    def edge(self) -> None:
        """Flags change; who is told of and cleared has none."""
        self.flagged = (self.flagged | self._lookahead_hit) & ~self._cleared
        self._cleared = 0
