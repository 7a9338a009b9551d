"""The sorter against Python's stable sort."""

import random

import pytest

from tests.hdl.rf.pilot.bench import config, run
from warpfile.hdl.rf.pilot.sorter import TopSorter


@pytest.mark.parametrize(("fast", "counts", "most"), [(4, 12, 3), (4, 12, 65535), (2, 15, 5), (1, 8, 2), (4, 3, 9)])
def test_the_slots_are_those_of_a_stable_sort(fast, counts, most):
    async def bench(ctx):
        rng = random.Random(most)
        for _ in range(20):
            ctx.set(part.clear, 1)
            await ctx.tick()
            ctx.set(part.clear, 0)
            values = [rng.randint(0, most) for _ in range(counts)]
            for register, count in enumerate(values):
                ctx.set(part.valid, 1)
                ctx.set(part.register, register)
                ctx.set(part.count, count)
                await ctx.tick()
            ctx.set(part.valid, 0)
            found = [(ctx.get(slot.register), ctx.get(slot.count)) for slot in part.slots if ctx.get(slot.valid)]
            assert found == sorted(enumerate(values), key=lambda pair: -pair[1])[:fast]

    part = TopSorter(config(fast_registers=fast))
    run(part, bench)
