"""The lowest zero, and the order of those who wait."""

import random
from collections import deque

import pytest

from tests.hdl.rf.regmutex.bench import config, run
from warpfile.hdl.rf.regmutex.first_zero import FirstZero
from warpfile.hdl.rf.regmutex.waiters import Waiters


@pytest.mark.parametrize("count", (1, 5, 6))
def test_the_lowest_zero_of_every_mask_is_found(count):
    async def bench(ctx):
        for bits in range(1 << count):
            ctx.set(part.bits, bits)
            zeros = [number for number in range(count) if not bits >> number & 1]
            assert ctx.get(part.lowest) == (1 << zeros[0] if zeros else 0)
            assert ctx.get(part.number) == (zeros[0] if zeros else 0)
            await ctx.delay(1e-9)

    part = FirstZero(count)
    run(part, bench, clocked=False)


@pytest.mark.parametrize("warps", (1, 5))
def test_waiters_are_a_queue(warps):
    rng, queue = random.Random(warps), deque()

    async def bench(ctx):
        full = 0
        for _ in range(300):
            assert (ctx.get(part.valid), ctx.get(part.count)) == (bool(queue), len(queue))
            assert not queue or ctx.get(part.first) == queue[0]
            others = [warp for warp in range(warps) if warp not in queue]
            push, pop = bool(others) and rng.random() < 0.6, bool(queue) and rng.random() < 0.4
            push &= not pop
            warp = rng.choice(others) if push else rng.randrange(warps)
            for port, value in ((part.push, push), (part.pop, pop), (part.warp, warp)):
                ctx.set(port, value)
            await ctx.tick()
            queue.extend([warp] * push)
            if pop:
                queue.popleft()
            full += len(queue) == warps
        assert full

    part = Waiters(config(warps=warps))
    run(part, bench)
