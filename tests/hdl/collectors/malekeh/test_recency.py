"""Order of use: a triangle of bits against a list from which used entries are taken out and put at the end."""

import random

import pytest
from amaranth import Const
from amaranth.sim import Simulator

from warpfile.hdl.collectors.malekeh.recency import Recency, ranks
from warpfile.spec.presets import PRESETS
from warpfile.spec.schemes.malekeh import MalekehConfig


def config(entries):
    values = {**PRESETS["tiny"].config.to_json(), "unit_entries": entries, "source_slots": min(entries, 8)}
    return MalekehConfig(**MalekehConfig.adapted(values | {"scheduler": "oldest"}))


def matrix(order, entries):
    """Bit ``entries * a + b``: a stands before b, where both stand."""
    place = {entry: at for at, entry in enumerate(order)}
    pairs = [(first, second) for first in order for second in order]
    return sum(1 << (entries * first + second) for first, second in pairs if place[first] < place[second])


def use(order, entries):
    for entry in entries:
        order.remove(entry)
        order.append(entry)


@pytest.mark.parametrize("entries", (2, 4, 8, 16))
def test_a_used_entry_goes_to_the_end_of_the_order(entries):
    part, rng, order, met = Recency(config(entries)), random.Random(entries), list(range(entries)), set()

    async def bench(ctx):
        for _ in range(400):
            assert ctx.get(part.older) == matrix(order, entries)
            result = rng.choice([None, *range(entries)])
            taken, own = rng.random() < 0.6, rng.random() < 0.5
            sources = rng.sample(range(entries), rng.randint(0, min(entries, 8)))
            fresh = rng.randint(0, entries)
            ctx.set(part.result, 0 if result is None else 1 << result)
            ctx.set(part.allocate, taken)
            ctx.set(part.own, own)
            ctx.set(part.used, sum(1 << entry for entry in sources))
            ctx.set(part.earlier, matrix(sources, entries))
            ctx.set(part.fresh, (1 << fresh) - 1)
            await ctx.tick()
            entered = [] if result is None else [result]
            use(order, entered if not taken else sources if own else range(fresh))
            met.add((taken, own, result in sources))

    simulator = Simulator(part)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    assert len(met) == 8


def test_a_rank_is_the_number_of_entries_used_longer_ago():
    part, order = Recency(config(4)), [2, 0, 3, 1]
    values = ranks(Const(matrix(order, 4), 16), 4)
    found = []

    async def bench(ctx):
        found.extend(ctx.get(value) for value in values)

    simulator = Simulator(part)
    simulator.add_testbench(bench)
    simulator.run()
    assert [found[entry] for entry in order] == [0, 1, 2, 3]
