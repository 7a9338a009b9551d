"""Kernels and their descriptors."""

from tests.hdl.rf.regmutex.bench import config, run
from warpfile.hdl.rf.regmutex.kernel_state import KernelState


async def begin(ctx, part, **descriptor):
    """A kernel is offered in this cycle; returns whether it is taken."""
    ctx.set(part.kernel_valid, 1)
    for name, value in descriptor.items():
        ctx.set(part.kernel[name], value)
    ready = ctx.get(part.kernel_ready)
    assert ctx.get(part.taken) == ready
    await ctx.tick()
    ctx.set(part.kernel_valid, 0)
    return ready


def test_a_kernel_waits_until_the_last_warp_has_left():
    async def bench(ctx):
        assert not ctx.get(part.launch_ready)
        assert await begin(ctx, part, base_registers=9, extended_registers=4, pool=40)
        assert ctx.get(part.launch_ready)
        ctx.set(part.launch_valid, 1)
        await ctx.tick().repeat(2)
        ctx.set(part.launch_valid, 0)
        for warp, last in ((2, False), (0, True)):
            assert not await begin(ctx, part, base_registers=3, extended_registers=2, pool=6)
            ctx.set(part.exits, 1 << warp)
            await ctx.tick()
            ctx.set(part.exits, 0)
            assert ctx.get(part.kernel_ready) == last
        assert (ctx.get(part.base_registers), ctx.get(part.extended_registers), ctx.get(part.pool)) == (9, 4, 40)
        assert await begin(ctx, part, base_registers=3, extended_registers=2, pool=6)
        assert (ctx.get(part.base_registers), ctx.get(part.extended_registers), ctx.get(part.pool)) == (3, 2, 6)
        assert ctx.get(part.launch_ready) and ctx.get(part.extended) == 0b1111_1111_1111_1000

    part = KernelState(config())
    run(part, bench)


def test_the_extended_set_is_what_is_behind_the_base_set_whatever_its_size():
    async def bench(ctx):
        for base in range(len(part.extended) + 1):
            assert await begin(ctx, part, base_registers=base)
            assert ctx.get(part.extended) == (1 << len(part.extended)) - (1 << base)

    part = KernelState(config(register_names=64))
    run(part, bench)
