"""A bit per register, read by row and column."""

import random

import pytest
from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.sim import Simulator

from warpfile.hdl.register_bits import bit_at, columns, decoded, lines_of
from warpfile.spec.config import Config


class Reader(wiring.Component):
    """Reads one bit of all."""

    def __init__(self, cfg):
        self._cfg = cfg
        rows = cfg.register_names // columns(cfg)
        ports = {"bits": In(cfg.register_names), "register": In(cfg.register_bits), "found": Out(1)}
        super().__init__(ports | {"row": Out(rows), "column": Out(columns(cfg))})

    def elaborate(self, platform):
        """Decode, then the bit."""
        m = Module()
        row, column = decoded(m, self._cfg, "register", self.register)
        found = bit_at(m, "register", lines_of(self._cfg, self.bits), row, column)
        m.d.comb += [self.row.eq(row), self.column.eq(column), self.found.eq(found)]
        return m


@pytest.mark.parametrize("names", (8, 16, 32, 256))
def test_the_bit_of_a_row_and_a_column_is_that_of_the_register(names):
    part, rng = Reader(Config(register_names=names)), random.Random(names)

    async def bench(ctx):
        places = set()
        for register in range(names):
            bits = rng.getrandbits(names)
            ctx.set(part.bits, bits)
            ctx.set(part.register, register)
            assert ctx.get(part.found) == bits >> register & 1
            places.add((ctx.get(part.row), ctx.get(part.column)))
        assert len(places) == names
        assert all(bin(row).count("1") == bin(column).count("1") == 1 for row, column in places)

    simulator = Simulator(part)
    simulator.add_testbench(bench)
    simulator.run()
