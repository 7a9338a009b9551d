"""Counts of single bits against their definition, for all inputs."""

import itertools

import pytest
from amaranth import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.sim import Simulator

from warpfile.hdl.count import at_least_before, count_ones, unary_count

WIDTHS = (1, 2, 3, 5, 8)


class Counts(wiring.Component):
    """The number of set bits, and whether at least 1, 2, ... ``most`` bits are set before each bit and in all."""

    def __init__(self, width, most):
        self.width, self.most = width, most
        places = {f"before{place}": Out(most) for place in range(width + 1)}
        super().__init__({"i": In(width), "count": Out(8), **places})

    def elaborate(self, platform):
        m = Module()
        bits = list(self.i)
        m.d.comb += self.count.eq(count_ones(bits))
        for place, counts in enumerate(at_least_before(m, "counts", bits, self.most)):
            m.d.comb += getattr(self, f"before{place}").eq(Cat(counts))
        return m


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("most", (1, 3, 8))
def test_bits_are_counted_before_each_place_up_to_a_most(width, most):
    part = Counts(width, most)

    async def bench(ctx):
        for value in range(1 << width):
            ctx.set(part.i, value)
            assert ctx.get(part.count) == value.bit_count()
            for place in range(width + 1):
                before = (value & (1 << place) - 1).bit_count()
                assert ctx.get(getattr(part, f"before{place}")) == (1 << min(before, most)) - 1

    simulator = Simulator(part)
    simulator.add_testbench(bench)
    simulator.run()


@pytest.mark.parametrize("width", range(8))
def test_both_counts_are_the_number_of_set_bits(width):
    m, bits = Module(), [Signal(name=f"bit{number}") for number in range(width)]
    number, unary = count_ones(bits), unary_count(m, "unary", bits)

    async def bench(ctx):
        for values in itertools.product((0, 1), repeat=width):
            ctx.set(Cat(bits), sum(value << place for place, value in enumerate(values)))
            assert ctx.get(number) == sum(values)
            assert ctx.get(unary) == 1 << sum(values)

    simulator = Simulator(m)
    simulator.add_testbench(bench)
    simulator.run()
