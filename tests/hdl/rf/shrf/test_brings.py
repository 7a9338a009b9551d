"""A bring from its grant to its write, for banks of several lengths and inputs of the units."""

import random

import pytest

from tests.hdl.rf.shrf.bench import config, run
from warpfile.hdl.rf.shrf.brings import Brings


@pytest.mark.parametrize("collect", ("lowest", "one", "all"))
@pytest.mark.parametrize("cycles", (1, 2, 4))
def test_a_granted_bring_is_written_as_many_cycles_later_as_a_bank_takes(collect, cycles):
    cfg = config(orf_entries=3, collect=collect, bank_cycles=cycles, lanes=4, collectors=2)
    part, rng, under_way = Brings(cfg), random.Random(cycles), [None] * cycles
    slots, seen = 2 * cfg.source_slots, set()

    async def bench(ctx):
        for _ in range(300):
            slot, place, entry = rng.randrange(slots), rng.randrange(2), rng.randrange(3)
            mask, asks = rng.randrange(16), rng.random() < 0.7
            grant = rng.getrandbits(slots)
            ctx.set(part.slot, asks << slot)
            ctx.set(part.grant, grant)
            ctx.set(part.holder, 1 << place)
            ctx.set(part.ref, entry)
            ctx.set(part.mask, mask)
            now = under_way.pop(0)
            seen.add(now is not None)
            outputs = tuple(ctx.get(getattr(part, name)) for name in ("writes", "written", "inputs", "lanes"))
            if now is None:
                assert outputs == (0, 0, 0, 0)
            else:
                was, at, into, lanes = now
                arrives = was if collect == "all" else was // cfg.source_slots
                assert outputs == (1, 1 << 3 * at + into, 1 << arrives, lanes)
            under_way.append((slot, place, entry, mask) if asks and grant >> slot & 1 else None)
            await ctx.tick()

    run(part, bench)
    assert seen == {False, True}
