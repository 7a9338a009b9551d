"""One dependence counter of a warp."""

from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.count import count_ones
from warpfile.hdl.naming import named
from warpfile.spec.schemes.modern import BARRIER_BITS, MOST_COUNTED


class DependenceCounter(wiring.Component):
    """Beats that have counted up and not yet down; all ups and downs of a cycle add up.

    Members
    -------
    up : In(2), down : In(downs)   What counts in this cycle.
    value : Out(6)                 The count, at the beginning of the cycle.
    waits : Out(1)                 It is not 0.
    full : Out(1)                  A beat that would count it up may not issue.
    """

    def __init__(self, downs: int) -> None:
        super().__init__({"up": In(2), "down": In(downs), "value": Out(BARRIER_BITS), "waits": Out(1), "full": Out(1)})

    def elaborate(self, platform) -> Module:
        """The count."""
        m = Module()
        value = self.value
        ups, downs = named(m, "ups", count_ones(list(self.up))), named(m, "downs", count_ones(list(self.down)))
        m.d.sync += value.eq(value + ups - downs)
        m.d.comb += [self.waits.eq(value.any()), self.full.eq(value >= MOST_COUNTED)]
        return m
