"""Greedy-then-oldest in three classes: owners, others, sharers that own nothing (docs/schemes/owf.md, section 8)."""

from amaranth import Value
from amaranth.lib import wiring

from warpfile.hdl.scheduler.contract import rank_members, scheduler_members
from warpfile.hdl.scheduler.policy import Gto
from warpfile.spec.config import Config


class OwnersFirst(Gto):
    """Owners first and sharers last; within each class the order of :class:`Gto`.

    Ports: :func:`scheduler_members` and :func:`rank_members`.
    """

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        wiring.Component.__init__(self, {**scheduler_members(cfg), **rank_members(cfg)})

    def _goes_before(self, one: int, other: int, in_class: Value) -> Value:
        """The class, which registers tell, and within it the order of all."""
        higher = (self.owners[one] & ~self.owners[other]) | (~self.sharers[one] & self.sharers[other])
        lower = (self.owners[other] & ~self.owners[one]) | (~self.sharers[other] & self.sharers[one])
        return higher | (in_class & ~lower)
