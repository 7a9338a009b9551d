"""Epochs, and the mode of the fast part (docs/schemes/pilot.md, section 7)."""

from amaranth import Const, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.naming import named
from warpfile.spec.config import index_bits
from warpfile.spec.schemes.pilot import PilotConfig


class EpochUnit(wiring.Component):
    """Counts the beats that issue, and decides by them whether the next epoch is high.

    Members
    -------
    start : In(1)     The next cycle is not in an epoch, or is the first of one; its mode is high.
    stand : In(1)     Registers move: everything stays as it is.
    issue : In(1)     A beat issues.
    high : Out(1)     Mode of this cycle.
    ends : Out(1)     This is the last cycle of an epoch.
    cycle : Out, issued : Out   Cycles before this one in the epoch, and beats issued in them.
    """

    def __init__(self, cfg: PilotConfig) -> None:
        self._cfg = cfg
        super().__init__(
            {
                "start": In(1),
                "stand": In(1),
                "issue": In(1),
                "high": Out(1, init=1),
                "ends": Out(1),
                "cycle": Out(index_bits(cfg.epoch)),
                "issued": Out(index_bits(cfg.epoch + 1)),
            }
        )

    def elaborate(self, platform) -> Module:
        """Two counters. The issue, which is late in its cycle, chooses between two comparisons."""
        m = Module()
        limit, last = self._cfg.epoch_threshold, self._cfg.epoch - 1
        always = Const(1)  # no comparison of an unsigned number with 0
        reached = named(m, "reached", self.issued >= limit if limit else always)
        nearly = named(m, "nearly", self.issued + 1 >= limit if limit else always)
        over = named(m, "over", self.cycle == last)
        m.d.comb += self.ends.eq(over & ~self.start & ~self.stand)
        with m.If(self.start | self.ends):
            m.d.sync += [self.cycle.eq(0), self.issued.eq(0), self.high.eq(reached | (self.issue & nearly))]
        with m.Elif(~self.stand):
            m.d.sync += [self.cycle.eq(self.cycle + 1), self.issued.eq(self.issued + self.issue)]
        with m.If(self.start):
            m.d.sync += self.high.eq(1)
        return m
