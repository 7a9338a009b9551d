"""A register file that refuses head beats: a chosen warp that is refused is a bubble."""

import pytest
from amaranth.sim import Simulator

from tests.hdl.unstamped import inside
from warpfile.hdl import frame
from warpfile.hdl.frame import Frame
from warpfile.hdl.scheduler.policy import Lrr
from warpfile.hdl.scheduler.two_level.scheduler import TwoLevel
from warpfile.spec.schemes.regmutex import RegMutexConfig

CFG = RegMutexConfig(
    warps=3, lanes=1, collectors=1, rows=8, register_names=8, banks=2, bank_skew="none", source_slots=1, active_warps=1
)


def play(monkeypatch, scene, kind=Lrr, scheduler="lrr"):
    """Run a scene against a frame whose warps 0 and 1 have a beat that writes register 5 of their own."""
    monkeypatch.setattr(frame, "stamp", inside)
    part = Frame(CFG.replace(scheduler=scheduler), kind)

    async def bench(ctx):
        for port in (part.launch_ready, part.launch.valid, part.accept):
            ctx.set(port, 1)
        ctx.set(part.room, 0b111)
        for warp in (0, 1):
            ctx.set(part.launch.payload.warp, warp)
            await ctx.tick()
        ctx.set(part.launch.valid, 0)
        await scene(ctx, part)

    simulator = Simulator(part)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()


async def decode(ctx, part, warp):
    """A beat of a warp, that executes and writes register 5."""
    ctx.set(part.decode_valid, 1)
    ctx.set(part.decode, {"warp": warp, "executes": 1, "dest": 5, "dest_count": 1})
    await ctx.tick()
    ctx.set(part.decode_valid, 0)


def offered(ctx, part):
    return tuple(ctx.get(port) for port in (part.refused, part.offer_valid, part.offer_warp, part.issue))


@pytest.mark.parametrize("cycles", (1, 3))
def test_a_refused_warp_keeps_its_turn_and_its_beat(monkeypatch, cycles):
    async def scene(ctx, part):
        ctx.set(part.refuses, 0b11)
        for warp in (0, 1):
            await decode(ctx, part, warp)
        for _ in range(cycles):
            ctx.set(part.refuses, 0b01)
            assert offered(ctx, part) == (0b01, 0, 0, 0)
            await ctx.tick()
            assert ctx.get(part.buffered) == 0b11 and ctx.get(part.pending[0]) == 0
        ctx.set(part.refuses, 0)
        for warp in (0, 1):
            assert offered(ctx, part) == (0, 1, 1 << warp, 1)
            await ctx.tick()
            assert ctx.get(part.pending[warp]) == 1 << 5
        assert ctx.get(part.buffered) == 0

    play(monkeypatch, scene)


def test_a_warp_that_yields_gives_its_place_to_another(monkeypatch):
    """As at a barrier that does not open: one place, two warps."""

    async def scene(ctx, part):
        ctx.set(part.hold, 0b11)
        for warp in (0, 1):
            await decode(ctx, part, warp)
        await ctx.tick().repeat(8)
        assert ctx.get(part.places[0]) == 0b01
        ctx.set(part.yields, 0b01)
        ctx.set(part.released, 1)
        await ctx.tick().repeat(8)
        assert ctx.get(part.places[0]) == 0b10
        ctx.set(part.yields, 0b11)
        await ctx.tick().repeat(8)
        assert ctx.get(part.places[0]) == 0
        ctx.set(part.yields, 0b10)
        await ctx.tick().repeat(2)
        assert ctx.get(part.places[0]) == 0b01

    play(monkeypatch, scene, TwoLevel, "two_level")
