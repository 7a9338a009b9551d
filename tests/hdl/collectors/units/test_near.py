"""Near sources and sources to be copied that are known at the offer (docs/slots/rf.md, "Place at once")."""

import pytest

from tests.hdl.collectors.bench import accept, offer, simulate
from tests.hdl.rf.shrf.bench import config
from warpfile.hdl.collectors import allocation, dispatch
from warpfile.hdl.collectors.units import collectors
from warpfile.hdl.collectors.units.collectors import Units


@pytest.fixture
def play(monkeypatch):
    """Run a scene on the units of a configuration, all ports ready."""

    def run(scene, **changes):
        cfg = config(collectors=2, source_slots=3, ports=3, orf_entries=3, warps=3, **changes)

        async def begin(ctx, part):
            accept(ctx, part, 0, 1, 2)
            await scene(ctx, part)

        simulate(monkeypatch, lambda: Units(cfg), (allocation, dispatch, collectors), begin)

    return run


async def take(ctx, part, warp, *, valid, near=0, bring=0, refs=(0, 0, 0), mask=1):
    """A beat is offered and taken."""
    offer(ctx, part, warp, source_valid=valid, mask=mask)
    ctx.set(part.source_near, near)
    ctx.set(part.source_bring, bring)
    ctx.set(part.source_refs, list(refs))
    await ctx.tick()
    offer(ctx, part)


async def serve(ctx, part, slots):
    """Banks of one cycle serve these slots, whose data come in the next cycle."""
    ctx.set(part.grant, slots)
    await ctx.tick()
    ctx.set(part.grant, 0)
    ctx.set(part.fill, slots)
    await ctx.tick()
    ctx.set(part.fill, 0)


def test_near_sources_are_read_in_the_cycle_after_the_allocation(play):
    async def scene(ctx, part):
        await take(ctx, part, 1, valid=0b111, near=0b101, refs=(2, 0, 4))
        # The first cycle behind the allocation; the second beat is offered in it.
        assert ctx.get(part.near_read) == 0b01 and ctx.get(part.near_warp) == 1
        assert ctx.get(part.near_slots) == 0b101
        assert (ctx.get(part.near_refs[0]), ctx.get(part.near_refs[2])) == (2, 4)
        assert ctx.get(part.request) == 0b010  # a near slot never asks a bank
        await take(ctx, part, 2, valid=0b011, near=0b011, refs=(1, 3, 0))
        assert ctx.get(part.near_read) == 0b10 and ctx.get(part.near_slots) == 0b011
        assert ctx.get(part.lacking) == 0b11
        await ctx.tick()
        assert ctx.get(part.near_read) == 0 and ctx.get(part.lacking) == 0b01
        assert ctx.get(part.chosen[0]) == 0b10  # read in t + 1, dispatched in t + 2
        await serve(ctx, part, 0b010)
        assert ctx.get(part.lacking) == 0

    play(scene)


def test_a_near_source_that_is_not_read_blocks_a_write_of_its_register(play):
    async def scene(ctx, part):
        await take(ctx, part, 1, valid=0b001, near=0b001)
        for head in part.heads:
            ctx.set(head.dest_count, 1)  # of register 0, which the beat reads
        assert ctx.get(part.blocked) == 0b010
        await ctx.tick()
        assert ctx.get(part.blocked) == 0

    play(scene)


@pytest.mark.parametrize(
    ("collect", "steps"),
    [
        # Per grant: the slot that brings, and all that ask; unit 0 has slots 0 to 2, unit 1 slots 3 to 5.
        ("all", [(0b000001, 0b100101), (0b000010, 0b100110), (0b001000, 0b101100)]),
        ("lowest", [(0b000001, 0b000001), (0b000010, 0b000010), (0b001000, 0b001100)]),
    ],
)
def test_one_slot_that_brings_asks_in_a_cycle(play, collect, steps):
    async def scene(ctx, part):
        await take(ctx, part, 1, valid=0b111, bring=0b011, refs=(2, 1, 0), mask=1)
        await take(ctx, part, 2, valid=0b101, bring=0b001, refs=(0, 0, 0), mask=0)
        for (brings, asks), warp, ref in zip(steps, (1, 1, 2), (2, 1, 0), strict=True):
            assert (ctx.get(part.bring_slot), ctx.get(part.request)) == (brings, asks)
            assert (ctx.get(part.bring_warp), ctx.get(part.bring_ref)) == (warp, ref)
            assert ctx.get(part.bring_mask) == (warp == 1)
            await serve(ctx, part, brings)
        assert ctx.get(part.bring_slot) == 0

    play(scene, collect=collect)
