"""Which entry gives way: the parallel choices against the rule, entry by entry, over seeded random states."""

import random

import pytest
from amaranth.sim import Simulator

from warpfile.hdl.collectors.malekeh.victims import FirstVictim, Victims
from warpfile.spec.presets import PRESETS
from warpfile.spec.schemes.malekeh import MalekehConfig


def config(entries, slots):
    values = {**PRESETS["tiny"].config.to_json(), "unit_entries": entries, "source_slots": slots}
    return MalekehConfig(**MalekehConfig.adapted(values | {"scheduler": "oldest"}))


def order_of_replacement(kinds, locked, ranks, start):
    """The page's rule: empty by index, far by index from ``start`` on, near by rank; locked ones never."""
    entries = range(len(kinds))
    free = [entry for entry in entries if not locked[entry]]
    cyclic = [(start + step) % len(kinds) for step in entries]
    return [
        *(entry for entry in free if kinds[entry] == "empty"),
        *(entry for entry in cyclic if entry in free and kinds[entry] == "far"),
        *(entry for entry in sorted(entries, key=ranks.__getitem__) if entry in free and kinds[entry] == "near"),
    ]


def mask(bits):
    return sum(int(bit) << place for place, bit in enumerate(bits))


def random_state(rng, entries):
    weights = rng.choice([(1, 1, 1), (0, 1, 0), (0, 0, 1), (1, 4, 0), (0, 1, 4)])
    kinds = rng.choices(("empty", "far", "near"), weights, k=entries)
    density = rng.choice((0.0, 0.3, 0.8, 1.0))
    locked = [kind != "empty" and rng.random() < density for kind in kinds]
    return kinds, locked, rng.sample(range(entries), entries), rng.randrange(entries)


def drive(ctx, part, kinds, locked, ranks, start):
    ctx.set(part.empty, mask(kind == "empty" for kind in kinds))
    ctx.set(part.near, mask(kind == "near" for kind in kinds))
    ctx.set(part.locked, mask(locked))
    ctx.set(part.start, start)
    ctx.set(part.older, mask(first < second for first in ranks for second in ranks))


def check(part, bench):
    simulator = Simulator(part)
    simulator.add_testbench(bench)
    simulator.run()


@pytest.mark.parametrize("entries", (2, 4, 8, 16))
def test_the_first_victim_is_the_first_replaceable_entry(entries):
    part, rng, found = FirstVictim(config(entries, 1)), random.Random(entries), set()

    async def bench(ctx):
        for _ in range(400):
            state = random_state(rng, entries)
            drive(ctx, part, *state)
            order = order_of_replacement(*state)
            assert ctx.get(part.victim) == (1 << order[0] if order else 0)
            found.add(state[0][order[0]] if order else "none")

    check(part, bench)
    assert found == {"empty", "far", "near", "none"}


@pytest.mark.check
@pytest.mark.parametrize(("entries", "slots"), [(2, 2), (4, 1), (4, 4), (8, 3), (8, 8), (16, 8)])
def test_the_kth_miss_takes_the_kth_replaceable_entry(entries, slots):
    part, rng, most = Victims(config(entries, slots)), random.Random(entries * slots), 0

    async def bench(ctx):
        nonlocal most
        for _ in range(300):
            kinds, locked, ranks, start = random_state(rng, entries)
            drive(ctx, part, kinds, locked, ranks, start)
            order = order_of_replacement(kinds, locked, ranks, start)
            misses = sorted(rng.sample(range(slots), rng.randint(0, min(slots, len(order)))))
            ctx.set(part.missing, sum(1 << slot for slot in misses))
            pairs = zip(misses, order, strict=False)
            assert ctx.get(part.victims) == sum(1 << (slot * entries + entry) for slot, entry in pairs)
            assert ctx.get(part.order) == sum(1 << (entry * entries + number) for number, entry in enumerate(order))
            assert ctx.get(part.numbers) == sum(1 << (slot * slots + number) for number, slot in enumerate(misses))
            most = max(most, len(misses))

    check(part, bench)
    assert most == min(entries, slots)


def test_the_search_for_a_far_entry_starts_where_it_is_told():
    """Otherwise the seeded states above would say nothing about the start."""
    part = FirstVictim(config(4, 1))
    chosen = []

    async def bench(ctx):
        for start in range(4):
            drive(ctx, part, ["far", "near", "far", "near"], [False] * 4, [3, 2, 1, 0], start)
            chosen.append(ctx.get(part.victim))

    check(part, bench)
    assert chosen == [0b0001, 0b0100, 0b0100, 0b0001]
