"""One lane of operands: near slots take results, and nothing but a fill or a result changes an operand."""

import random

import pytest

from tests.hdl.collectors.sticky.bench import config, run
from warpfile.hdl.collectors.sticky.lane import StickyLane


@pytest.mark.parametrize("collect", ("lowest", "all"))
@pytest.mark.parametrize("slots", (2, 4))
def test_a_slot_holds_the_last_row_or_result_that_it_took(collect, slots):
    cfg, rng = config(collectors=2, source_slots=slots, collect=collect), random.Random(slots)
    part, near, units = StickyLane(cfg), cfg.near_slots, cfg.collectors
    inputs = units * slots if collect == "all" else units

    async def bench(ctx):
        held = {}
        for _ in range(200):
            words, result = [rng.getrandbits(32) for _ in range(inputs)], rng.getrandbits(32)
            fill = [rng.random() < 0.2 for _ in range(units * slots)]
            awaited = [not fill[at // near * slots + at % near] and rng.random() < 0.3 for at in range(units * near)]
            ctx.set(part.inputs, sum(word << 32 * at for at, word in enumerate(words)))
            ctx.set(part.fill, sum(bit << at for at, bit in enumerate(fill)))
            ctx.set(part.awaited, sum(bit << at for at, bit in enumerate(awaited)))
            ctx.set(part.result, result)
            await ctx.tick()
            held |= {at: words[at if collect == "all" else at // slots] for at, bit in enumerate(fill) if bit}
            held |= {at // near * slots + at % near: result for at, bit in enumerate(awaited) if bit}
            for unit in range(units):
                ctx.set(part.chosen, 1 << unit)
                operands = ctx.get(part.operands)
                for slot in range(slots):
                    if (at := unit * slots + slot) in held:
                        assert operands >> 32 * slot & 0xFFFFFFFF == held[at]
        assert len(held) == units * slots

    run(part, bench)
