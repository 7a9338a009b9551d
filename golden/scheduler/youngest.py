"""Greedy, then youngest (docs/schemes/modern.md, section 11)."""

from __future__ import annotations

from mypy_extensions import mypyc_attr

from warpfile.golden.arbiter import first_of
from warpfile.golden.scheduler.policy import Gto


@mypyc_attr(allow_interpreted_subclasses=True)
class Cggty(Gto):
    """The last issuer as long as it is eligible, otherwise the one launched last."""

    def choose(self, eligible: int) -> int:
        """See :class:`golden.scheduler.contract.Scheduler`."""
        last = self._last
        if last >= 0 and eligible >> last & 1:
            return last
        return first_of(eligible, reversed(self._age))
