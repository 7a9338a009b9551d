"""Parts of the frame against plain Python models, on seeded random walks."""

import random
from collections import deque

import pytest
from amaranth.sim import Simulator

from warpfile.hdl.barrier import Barrier
from warpfile.hdl.buffer import InstructionBuffer
from warpfile.hdl.scheduler.policy import Gto, Lrr
from warpfile.spec.config import Config

CFG = Config(warps=4, lanes=1, ctas=2, banks=2, rows=16, collectors=2, register_names=16, payload_bits=16)


def run(part, bench):
    simulator = Simulator(part)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()


@pytest.mark.parametrize("depth", (1, 2, 3, 4))
def test_an_instruction_buffer_is_a_queue(depth):
    part, rng, queue = InstructionBuffer(CFG.replace(buffer_depth=depth)), random.Random(depth), deque()

    async def bench(ctx):
        for number in range(400):
            assert ctx.get(part.valid) == bool(queue)
            if queue:
                assert ctx.get(part.head.payload) == queue[0]
            pop, push = bool(queue) and rng.random() < 0.5, rng.random() < 0.6
            taken = push and len(queue) < depth
            assert ctx.get(part.ready) == (len(queue) < depth)
            ctx.set(part.push, push)
            ctx.set(part.beat.payload, number)
            ctx.set(part.pop, pop)
            await ctx.tick()
            if pop:
                queue.popleft()
            if taken:
                queue.append(number)

    run(part, bench)


def test_a_barrier_releases_a_cta_in_the_cycle_after_its_last_arrival_is_seen():
    part = Barrier(CFG)

    async def bench(ctx):
        ctx.set(part.resident, 0b1111)
        for warp, cta in enumerate((0, 0, 1, 1)):
            ctx.set(part.cta[warp], cta)
        for arrive, waiting in ((0b0001, 0), (0b0100, 0b0001), (0b0010, 0b0101), (0, 0b0111), (0, 0b0100)):
            ctx.set(part.arrive, arrive)
            assert ctx.get(part.waiting) == waiting
            await ctx.tick()

    run(part, bench)


def test_an_exit_releases_those_who_wait():
    part = Barrier(CFG)

    async def bench(ctx):
        ctx.set(part.resident, 0b0011)
        ctx.set(part.arrive, 0b0001)
        await ctx.tick()
        ctx.set(part.arrive, 0)
        await ctx.tick().repeat(3)
        assert ctx.get(part.waiting) == 0b0001
        ctx.set(part.resident, 0b0001)
        await ctx.tick()
        assert ctx.get(part.waiting) == 0

    run(part, bench)


def schedule(part, steps):
    """Feed (eligible, taken, launch, exit) per cycle and return the grants."""
    grants = []

    async def bench(ctx):
        for eligible, taken, launch, leaving in steps:
            ctx.set(part.eligible, eligible)
            ctx.set(part.launch, launch)
            ctx.set(part.exit, leaving)
            ctx.set(part.taken, taken)
            grants.append(ctx.get(part.grant))
            await ctx.tick()

    run(part, bench)
    return grants


LAUNCHES = [(0, 0, 1 << warp, 0) for warp in (2, 0, 3, 1)]


def test_gto_stays_with_the_last_issuer_and_then_takes_the_oldest():
    steps = [*LAUNCHES, (0b1011, 1, 0, 0), (0b1111, 1, 0, 0), (0b1110, 1, 0, 0), (0b1011, 1, 0, 0)]
    assert schedule(Gto(CFG), steps)[4:] == [0b0001, 0b0001, 0b0100, 0b0001]


def test_gto_forgets_an_issuer_that_exits():
    steps = [*LAUNCHES, (0b0010, 1, 0, 0b0010), (0b1010, 1, 0, 0)]
    assert schedule(Gto(CFG), steps)[4:] == [0b0010, 0b1000]


def test_gto_keeps_its_choice_where_an_offer_is_refused():
    steps = [*LAUNCHES, (0b1000, 1, 0, 0), (0b0100, 0, 0, 0), (0b1100, 1, 0, 0)]
    assert schedule(Gto(CFG), steps)[4:] == [0b1000, 0b0100, 0b1000]


def test_lrr_takes_turns():
    steps = [(0b1111, 1, 0, 0)] * 5 + [(0b1001, 1, 0, 0)] * 2
    assert schedule(Lrr(CFG), steps) == [1, 2, 4, 8, 1, 8, 1]
