"""Where registers live that results and flushed lines send to the queues (docs/machine.md, section 5)."""

import random

import pytest
from amaranth.sim import Simulator

from warpfile.hdl.rf.rfc.location import CacheLocation
from warpfile.spec.presets import PRESETS
from warpfile.spec.schemes.rfc import RfcConfig

CFG = RfcConfig(**RfcConfig.adapted(PRESETS["tiny"].config.to_json() | {"scheduler": "two_level", "active_warps": 2}))


def home(base, warp, register):
    place = base + register
    return (place + (warp if CFG.bank_skew == "warp" else 0)) % CFG.banks, place // CFG.banks


def seen(ctx, place):
    return ctx.get(place.bank), ctx.get(place.row)


@pytest.mark.parametrize("seed", range(3))
def test_a_place_knows_the_base_of_its_warp_from_the_second_cycle_on(seed):
    part, rng = CacheLocation(CFG), random.Random(seed)
    bases = {warp: rng.randrange(0, CFG.banks * CFG.rows - 16, CFG.banks) for warp in range(CFG.warps)}

    async def bench(ctx):
        for warp, base in bases.items():
            ctx.set(part.launch_valid, 1)
            ctx.set(part.launch.warp, warp)
            ctx.set(part.launch.base, base)
            await ctx.tick()
        ctx.set(part.launch_valid, 0)
        for _ in range(10):
            holders = rng.sample(range(CFG.warps), 2)
            for place in rng.sample(range(2), 2):  # one place gets its warp per cycle
                ctx.set(part.places[place], 1 << holders[place])
                await ctx.tick()
            registers = {name: rng.randrange(16) for name in ("short", "victim", "flush", "long")}
            owners, far = {"short": rng.randrange(2), "flush": rng.randrange(2)}, rng.randrange(CFG.warps)
            for name, register in registers.items():
                ctx.set(getattr(part, f"{name}_register"), register)
            for name, place in owners.items():
                ctx.set(getattr(part, f"{name}_owner"), 1 << place)
            ctx.set(part.long_warp, far)
            full, victims = rng.getrandbits(CFG.banks), [rng.randrange(16) for _ in range(2)]
            victims[owners["short"]] = registers["victim"]
            ctx.set(part.full, full)
            ctx.set(part.victims, victims)
            warps = {name: holders[place] for name, place in owners.items()}
            warps |= {"victim": warps["short"], "long": far}
            for name, warp in warps.items():
                expected = home(bases[warp], warp, registers[name])
                assert seen(ctx, getattr(part, f"{name}_place")) == expected
                if name in ("short", "victim"):
                    assert ctx.get(getattr(part, f"{name}_full")) == full >> expected[0] & 1
            for place in range(2):
                ctx.set(part.places[place], 0)
            await ctx.tick()

    simulator = Simulator(part)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
