"""Order of use: ranks against a list from which used entries are taken out and put at the end."""

import random

import pytest
from amaranth.sim import Simulator

from warpfile.hdl.collectors.malekeh.recency import Recency
from warpfile.spec.presets import PRESETS
from warpfile.spec.schemes.malekeh import MalekehConfig


def config(entries, slots):
    values = {**PRESETS["tiny"].config.to_json(), "unit_entries": entries, "source_slots": slots}
    return MalekehConfig(**MalekehConfig.adapted(values | {"scheduler": "oldest"}))


def matrix(order):
    """Bit ``entries * a + b``: a stands before b."""
    count, place = len(order), {entry: at for at, entry in enumerate(order)}
    pairs = [(first, second) for first in range(count) for second in range(count)]
    return sum(1 << (count * first + second) for first, second in pairs if place[first] < place[second])


def use(order, entry):
    order.remove(entry)
    order.append(entry)


@pytest.mark.parametrize(("entries", "slots"), [(2, 1), (2, 2), (4, 2), (8, 3), (8, 8), (16, 8)])
def test_ranks_are_places_in_a_list_that_used_entries_leave_for_its_end(entries, slots):
    part, rng, order = Recency(config(entries, slots)), random.Random(entries + slots), list(range(entries))

    async def bench(ctx):
        for _ in range(300):
            assert [ctx.get(part.rank[entry]) for entry in order] == list(range(entries))
            assert ctx.get(part.older) == matrix(order)
            result = rng.choice([None, *range(entries)])
            slots_used = sorted(rng.sample(range(slots), rng.randint(0, slots)))
            used = rng.sample(range(entries), len(slots_used))
            ctx.set(part.result, 0 if result is None else 1 << result)
            ctx.set(part.used, sum(1 << slot for slot in slots_used))
            pairs = zip(slots_used, used, strict=True)
            ctx.set(part.sources, sum(1 << (slot * entries + entry) for slot, entry in pairs))
            if result is not None:
                use(order, result)
            assert ctx.get(part.older_then) & off_diagonal(entries) == matrix(order)
            for entry in used:
                use(order, entry)
            await ctx.tick()

    simulator = Simulator(part)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()


def off_diagonal(entries):
    return (1 << entries**2) - 1 & ~sum(1 << (entries + 1) * entry for entry in range(entries))
