"""Counts of set bits, as a number and one-hot."""

import itertools

import pytest
from amaranth import Cat, Module, Signal
from amaranth.sim import Simulator

from warpfile.hdl.count import count_ones, unary_count


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
