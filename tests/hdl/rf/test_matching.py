"""Banks that choose together, against the choice one bank after the other: seeded random requests in random orders."""

import random

import pytest
from amaranth.sim import Simulator

from warpfile.hdl.rf.matching import Matching


def one_by_one(asks, free, order):
    """Unit that each bank serves, or None; ``order`` lists the units, oldest first."""
    served, picked = set(), []
    for units, may_read in zip(asks, free, strict=True):
        left = [unit for unit in order if unit in units and unit not in served]
        picked.append(left[0] if left and may_read else None)
        served.add(picked[-1])
    return picked


@pytest.mark.parametrize(("units", "banks"), [(1, 1), (2, 2), (5, 3), (3, 8), (9, 7)])
def test_banks_choose_as_if_one_after_the_other(units, banks):
    rng, part, met = random.Random(units), Matching(units, banks), set()

    async def bench(ctx):
        for _ in range(60):
            order = rng.sample(range(units), units)
            asks = [{unit for unit in range(units) if rng.random() < 0.4} for _ in range(banks)]
            free = [rng.random() < 0.8 for _ in range(banks)]
            pairs = [(order.index(a) < order.index(b)) << units * a + b for a in range(units) for b in range(units)]
            ctx.set(part.older, sum(pairs))
            ctx.set(part.free, sum(may_read << bank for bank, may_read in enumerate(free)))
            for bank, some in enumerate(asks):
                ctx.set(part.requests[bank], sum(1 << unit for unit in some))
            picked = one_by_one(asks, free, order)
            expected = [0 if unit is None else 1 << unit for unit in picked]
            assert [ctx.get(part.picked[bank]) for bank in range(banks)] == expected
            met.update(enumerate(picked))

    simulator = Simulator(part)
    simulator.add_testbench(bench)
    simulator.run()
    assert len(met) > units  # nearly every bank served several units
