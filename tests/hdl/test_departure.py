"""Whose beat leaves, and what it was, for every kind of beat."""

import random

from amaranth.sim import Simulator

from warpfile.hdl.departure import Departure
from warpfile.spec.presets import PRESETS
from warpfile.spec.trace import Kind

CFG = PRESETS["tiny"].config


def test_an_accepted_beat_leaves_and_ends_its_warp_or_arrives_by_its_kind():
    part, rng, kinds = Departure(CFG), random.Random(5), [kind.value for kind in Kind]

    async def bench(ctx):
        for _ in range(200):
            heads = [rng.choice(kinds) for _ in range(CFG.warps)]
            warp, accept = rng.choice([None, *range(CFG.warps)]), rng.getrandbits(1)
            for number, kind in enumerate(heads):
                ctx.set(part.kinds[number], kind)
            ctx.set(part.offered, 0 if warp is None else 1 << warp)
            ctx.set(part.accept, accept)
            left = accept and warp is not None
            expected = [1 << warp if left else 0]
            kind = Kind(heads[warp]) if left else None
            expected += [1 << warp if kind is one else 0 for one in (Kind.EXIT, Kind.BARRIER)]
            assert [ctx.get(one) for one in (part.leaves, part.exits, part.arrives)] == expected

    simulator = Simulator(part)
    simulator.add_testbench(bench)
    simulator.run()
