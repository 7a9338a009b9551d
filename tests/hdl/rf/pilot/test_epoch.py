"""Epochs and modes of the fast part."""

import pytest

from tests.hdl.rf.pilot.bench import config, run
from warpfile.hdl.rf.pilot.epoch import EpochUnit


async def epoch(ctx, part, length, issues):
    """Issue in the last cycles of an epoch; returns its mode."""
    modes = set()
    for cycle in range(length):
        assert (ctx.get(part.cycle), ctx.get(part.ends)) == (cycle, cycle == length - 1)
        assert ctx.get(part.issued) == max(0, issues - (length - cycle))
        ctx.set(part.issue, cycle >= length - issues)
        modes.add(ctx.get(part.high))
        await ctx.tick()
    ctx.set(part.issue, 0)
    assert len(modes) == 1
    return modes.pop()


def test_the_issues_of_an_epoch_say_how_the_next_one_runs():
    async def bench(ctx):
        ctx.set(part.start, 1)
        await ctx.tick().repeat(3)
        ctx.set(part.start, 0)
        modes = [await epoch(ctx, part, 50, issues) for issues in (10, 9, 0, 50, 0)]
        assert modes == [1, 1, 0, 0, 1]

    part = EpochUnit(config(epoch=50, epoch_threshold=10))
    run(part, bench)


@pytest.mark.parametrize(
    ("length", "threshold", "modes"), [(8, 0, [1] * 4), (8, 9, [1, 0, 0, 0]), (1, 1, [1, 0, 1, 0])]
)
def test_extreme_thresholds_leave_one_mode(length, threshold, modes):
    async def bench(ctx):
        ctx.set(part.start, 1)
        await ctx.tick().repeat(2)
        ctx.set(part.start, 0)
        assert [await epoch(ctx, part, length, issues) for issues in (0, 1, 0, 1)] == modes

    part = EpochUnit(config(epoch=length, epoch_threshold=threshold))
    run(part, bench)


def test_a_kernel_starts_with_a_new_epoch_in_high_mode():
    async def bench(ctx):
        assert await epoch(ctx, part, 8, 0) == 1
        await ctx.tick().repeat(3)
        assert (ctx.get(part.high), ctx.get(part.cycle)) == (0, 3)
        ctx.set(part.start, 1)
        ctx.set(part.issue, 1)
        await ctx.tick().repeat(2)
        assert (ctx.get(part.high), ctx.get(part.cycle), ctx.get(part.issued), ctx.get(part.ends)) == (1, 0, 0, 0)
        ctx.set(part.start, 0)
        assert await epoch(ctx, part, 8, 1) == 1

    part = EpochUnit(config(epoch=8, epoch_threshold=1))
    run(part, bench)
