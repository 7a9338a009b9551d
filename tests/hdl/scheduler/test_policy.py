"""Greedy, then the youngest: docs/schemes/modern.md, section 11."""

from tests.hdl.rf.packed.bench import run
from warpfile.hdl.scheduler.policy import Cggty
from warpfile.spec.config import Config


def test_the_last_issuer_goes_on_and_otherwise_the_warp_that_came_last() -> None:
    part = Cggty(Config(warps=3))

    async def bench(ctx) -> None:
        for warp in (2, 0, 1):  # launched in this order
            ctx.set(part.launch, 1 << warp)
            await ctx.tick()
        ctx.set(part.launch, 0)
        ctx.set(part.eligible, 0b101)
        assert ctx.get(part.grant) == 0b001
        await ctx.tick()  # it is not taken, so no warp issued last
        ctx.set(part.eligible, 0b111)
        assert ctx.get(part.grant) == 0b010
        ctx.set(part.eligible, 0b100)
        ctx.set(part.taken, 1)
        assert ctx.get(part.grant) == 0b100
        await ctx.tick()
        ctx.set(part.eligible, 0b111)
        assert ctx.get(part.grant) == 0b100
        ctx.set(part.exit, 0b100)
        await ctx.tick()  # "issued last" is forgotten with its exit
        ctx.set(part.exit, 0)
        ctx.set(part.eligible, 0b101)
        assert ctx.get(part.grant) == 0b001
        ctx.set(part.eligible, 0)
        assert ctx.get(part.grant) == 0

    run(part, bench)
