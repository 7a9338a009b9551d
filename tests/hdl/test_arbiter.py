"""Arbiters against their definitions: all inputs where that is small, seeded random walks otherwise."""

import random

import pytest
from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.sim import Simulator

from warpfile.hdl.arbiter import Ages, RoundRobin, encode, highest_one, lowest_one, oldest_one, prefix_or, select

WIDTHS = (1, 2, 3, 5, 8)


class Combinational(wiring.Component):
    """A function of one input as a part that can be simulated."""

    def __init__(self, width, function):
        self.width, self.function = width, function
        super().__init__({"i": In(width), "o": Out(32)})

    def elaborate(self, platform):
        m = Module()
        m.d.comb += self.o.eq(self.function(self.i))
        return m


def table(width, function):
    """Outputs of a combinational function for all inputs."""
    part, rows = Combinational(width, function), []

    async def bench(ctx):
        for value in range(1 << width):
            ctx.set(part.i, value)
            rows.append(ctx.get(part.o))

    simulator = Simulator(part)
    simulator.add_testbench(bench)
    simulator.run()
    return rows


@pytest.mark.parametrize("width", WIDTHS)
def test_lowest_one_keeps_the_lowest_set_bit(width):
    assert table(width, lowest_one) == [value & -value for value in range(1 << width)]


@pytest.mark.parametrize("width", WIDTHS)
def test_highest_one_keeps_the_highest_set_bit(width):
    expected = [1 << (value.bit_length() - 1) if value else 0 for value in range(1 << width)]
    assert table(width, highest_one) == expected


@pytest.mark.parametrize("width", WIDTHS)
def test_prefix_or_spreads_upwards(width):
    full = (1 << width) - 1
    assert table(width, prefix_or) == [full & ~((value & -value) - 1) if value else 0 for value in range(1 << width)]


@pytest.mark.parametrize("width", WIDTHS)
def test_encode_is_the_index_of_a_one_hot(width):
    rows = table(width, lambda value: encode(value, 4))
    assert [rows[1 << index] for index in range(width)] == list(range(width))


def test_select_is_zero_where_nothing_is_chosen():
    rows = table(2, lambda choice: select(choice, [Signal(4, init=5), Signal(4, init=10)]))
    assert rows == [0, 5, 10, 15]


def walk(part, cycles, inputs, output):
    """Drive inputs per cycle, return the output seen in each cycle."""
    seen = []

    async def bench(ctx):
        for cycle in range(cycles):
            for name, value in inputs(cycle).items():
                ctx.set(getattr(part, name), value)
            seen.append(ctx.get(getattr(part, output)))
            await ctx.tick()

    simulator = Simulator(part)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    return seen


def round_robin(requests, taken, width):
    """Definition: first requester at or after a pointer that becomes winner + 1."""
    pointer, grants = 0, []
    for request, used in zip(requests, taken, strict=True):
        order = [(pointer + step) % width for step in range(width)]
        winner = next((index for index in order if request >> index & 1), None)
        grants.append(0 if winner is None else 1 << winner)
        if used and winner is not None:
            pointer = (winner + 1) % width
    return grants


@pytest.mark.parametrize("width", WIDTHS)
def test_round_robin_serves_the_first_at_or_after_its_pointer(width):
    rng = random.Random(width)
    requests = [rng.getrandbits(width) & rng.getrandbits(width) for _ in range(300)]
    taken = [int(request and rng.random() < 0.7) for request in requests]
    part = RoundRobin(width)
    seen = walk(part, 300, lambda cycle: {"requests": requests[cycle], "taken": taken[cycle]}, "grant")
    assert seen == round_robin(requests, taken, width)


def test_a_requester_waits_for_all_others_at_most_once():
    width = 5
    seen = walk(RoundRobin(width), 20, lambda cycle: {"requests": (1 << width) - 1, "taken": 1}, "grant")
    assert seen == [1 << cycle % width for cycle in range(20)]


@pytest.mark.parametrize("count", (2, 3, 6))
def test_ages_give_the_order_of_arrival(count):
    rng = random.Random(count)
    arrivals = [rng.randrange(count) if rng.random() < 0.6 else None for _ in range(200)]
    part = Ages(count)
    seen = walk(part, 200, lambda cycle: {"arrive": 0 if arrivals[cycle] is None else 1 << arrivals[cycle]}, "older")
    last = {}
    for cycle, older in enumerate(seen):
        for first in range(count):
            assert not older >> (count * first + first) & 1
            for second in range(count):
                if first in last and second in last and first != second:
                    assert older >> (count * first + second) & 1 == (last[first] < last[second])
        if arrivals[cycle] is not None:
            last[arrivals[cycle]] = cycle


def test_oldest_one_is_the_requester_that_no_other_requester_precedes():
    count, order = 4, [2, 0, 3, 1]
    older = sum(1 << (count * a + b) for at, a in enumerate(order) for b in order[at + 1 :])
    rows = table(count, lambda requests: oldest_one(requests, Signal(count * count, init=older)))
    for requests, grant in enumerate(rows):
        winner = next((index for index in order if requests >> index & 1), None)
        assert grant == (0 if winner is None else 1 << winner)
