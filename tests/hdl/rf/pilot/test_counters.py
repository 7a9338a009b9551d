"""What a beat of the pilot adds to which counter."""

from collections import Counter

import pytest

from tests.hdl.rf.pilot.bench import config, run
from warpfile.hdl.rf.pilot.counters import AccessCounters


def offer(ctx, part, take, sources, dest=0, dest_count=0):
    """Show a beat, and say whether it is taken."""
    ctx.set(part.take, take)
    ctx.set(part.beat.source_valid, (1 << len(sources)) - 1)
    for slot, register in enumerate(sources):
        ctx.set(part.beat.sources[slot], register)
    ctx.set(part.beat.dest, dest)
    ctx.set(part.beat.dest_count, dest_count)


def counts(ctx, part, names):
    """All counters that are not 0."""
    found = {}
    for register in range(names):
        ctx.set(part.scan, register)
        if count := ctx.get(part.count):
            found[register] = count
    return found


def test_a_wide_multiply_add_has_six_accesses():
    async def bench(ctx):
        offer(ctx, part, 1, (4, 6, 8, 9), dest=4, dest_count=2)
        await ctx.tick()
        assert not counts(ctx, part, 16) and ctx.get(part.counted) == 6
        offer(ctx, part, 0, (1, 2, 3), dest=5, dest_count=1)
        await ctx.tick()
        assert counts(ctx, part, 16) == {4: 2, 5: 1, 6: 1, 8: 1, 9: 1} and ctx.get(part.counted) == 0
        await ctx.tick()
        assert sum(counts(ctx, part, 16).values()) == 6
        ctx.set(part.clear, 1)
        await ctx.tick()
        assert not counts(ctx, part, 16)

    part = AccessCounters(config(source_slots=4))
    run(part, bench)


@pytest.mark.parametrize("dest_count", range(5))
def test_the_marker_is_not_counted(dest_count):
    async def bench(ctx):
        offer(ctx, part, 1, (15, 14), dest=12, dest_count=dest_count)
        await ctx.tick()
        offer(ctx, part, 0, ())
        expected = Counter([14, *range(12, 12 + min(dest_count, 3))])
        assert ctx.get(part.counted) == expected.total()
        await ctx.tick()
        assert counts(ctx, part, 15) == expected

    part = AccessCounters(config())
    run(part, bench)


@pytest.mark.regress
def test_a_counter_stops_at_its_largest_value():
    async def bench(ctx):
        offer(ctx, part, 1, (1, 2), dest=1, dest_count=1)
        await ctx.tick().repeat(32767)
        offer(ctx, part, 1, (1,))
        await ctx.tick()
        ctx.set(part.scan, 1)
        assert ctx.get(part.count) == 65534
        await ctx.tick().repeat(4)
        assert ctx.get(part.count) == 65535

    part = AccessCounters(config())
    run(part, bench)
