"""Owners, then warps without a partner, then the others (docs/schemes/owf.md, section 8)."""

from __future__ import annotations

from mypy_extensions import mypyc_attr

from warpfile.golden.scheduler.contract import RankedScheduler
from warpfile.golden.scheduler.policy import Gto
from warpfile.spec.config import Config


@mypyc_attr(allow_interpreted_subclasses=True)
class OwnersFirst(Gto, RankedScheduler):
    """Scheduler (:class:`golden.scheduler.contract.RankedScheduler`): greedy, then oldest within each rank."""

    def __init__(self, cfg: Config) -> None:
        super().__init__(cfg)
        self._owners = self._sharers = 0

    def ranks(self, owners: int, sharers: int) -> None:
        """See the contract."""
        self._owners, self._sharers = owners, sharers

    def choose(self, eligible: int) -> int:
        """The first rank that has an eligible warp."""
        return super().choose(eligible & self._owners or eligible & ~self._sharers or eligible)
