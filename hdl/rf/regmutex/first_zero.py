"""The lowest bit that is not set."""

from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import encode, lowest_one
from warpfile.spec.config import index_bits


class FirstZero(wiring.Component):
    """Finds the lowest zero. Combinational.

    Members
    -------
    bits : In(count)       Where to look.
    lowest : Out(count)    One-hot; zero if all bits are set.
    number : Out           Its index; zero if all bits are set.
    """

    def __init__(self, count: int) -> None:
        super().__init__({"bits": In(count), "lowest": Out(count), "number": Out(index_bits(count))})

    def elaborate(self, platform) -> Module:
        """In logarithmic depth."""
        m = Module()
        m.d.comb += [self.lowest.eq(lowest_one(~self.bits)), self.number.eq(encode(self.lowest, len(self.number)))]
        return m
