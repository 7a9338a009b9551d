"""The merge slot: its cycles, what it asks, and that it gathers, for all pairs of distances."""

from __future__ import annotations

import random

import pytest

from tests.hdl.rf.shared.bench import config, run
from warpfile.hdl.rf.shared.merge import MergeSlot
from warpfile.spec.schemes.shared import IDLE, READ1, READ2, WRITE

LANES = 8
ALL = (1 << LANES) - 1


def given(distance: int, wanted: int) -> int:
    """Lanes that a row at this distance can give, of those that are wanted."""
    return sum(1 << lane for lane in range(LANES) if wanted >> lane & 1 and 0 <= lane + distance < LANES)


async def start(ctx, part, sources, mask: int) -> None:
    """A job of (distance, lanes) by source; returns in its first cycle."""
    for at, (distance, cover) in enumerate(sources):
        ctx.set(part.job.distances[at], distance % LANES)
        ctx.set(part.job.covers[at], cover)
        ctx.set(part.job.places[at].row, 1 + at)
    ctx.set(part.job.double, len(sources) == 2)
    ctx.set(part.job.target.row, 3)
    ctx.set(part.job.mask, mask)
    ctx.set(part.start, 1)
    assert ctx.get(part.state) == IDLE and not ctx.get(part.busy)
    await ctx.tick()
    ctx.set(part.start, 0)


async def merged(ctx, part, rows, *, slow: int = 0) -> list[int]:
    """Serve a job, each access after so many cycles, and return what it writes. It reads one row per source."""
    arriving = None
    for number, row in enumerate(rows):
        for wait in range(slow + 1):
            assert ctx.get(part.state) == (READ1, READ2)[number] and ctx.get(part.reads)
            assert ctx.get(part.place.row) == 1 + number and ctx.get(part.busy) == (3, 2)[number] & (1 << len(rows)) - 1
            ctx.set(part.arrives, arriving is not None)
            ctx.set(part.row, arriving or [0] * LANES)
            ctx.set(part.read, wait == slow)
            await ctx.tick()
            arriving = None
        ctx.set(part.read, 0)
        arriving = row
    ctx.set(part.arrives, 1)
    ctx.set(part.row, arriving)
    assert ctx.get(part.state) == WRITE and not ctx.get(part.writes) and not ctx.get(part.busy)
    await ctx.tick()
    ctx.set(part.arrives, 0)
    assert ctx.get(part.writes) and ctx.get(part.place.row) == 3
    made = ctx.get(part.made)
    ctx.set(part.written, 1)
    await ctx.tick()
    ctx.set(part.written, 0)
    assert ctx.get(part.state) == IDLE
    return list(made)


def test_a_merge_is_a_gather_for_all_pairs_of_distances(monkeypatch) -> None:
    part, numbers = MergeSlot(config(lanes=LANES)), random.Random(1)

    async def bench(ctx) -> None:
        for low in range(LANES):
            for high in range(-LANES + 1, 0):
                rows = [[numbers.getrandbits(32) for _ in range(LANES)] for _ in range(2)]
                first = given(low, ALL)
                second = given(high, ALL) & ~first
                await start(ctx, part, [(low, first), (high, second)], first | second)
                made = await merged(ctx, part, rows)
                for lane in range(LANES):
                    if first >> lane & 1:
                        assert made[lane] == rows[0][lane + low]
                    elif second >> lane & 1:
                        assert made[lane] == rows[1][lane + high]

    run(monkeypatch, part, bench)


@pytest.mark.parametrize("distance", [0, 3, -3, LANES - 1, 1 - LANES])
def test_one_source_is_read_once_and_the_slot_waits_for_its_bank(monkeypatch, distance: int) -> None:
    part, cover = MergeSlot(config(lanes=LANES)), given(distance, ALL)

    async def bench(ctx) -> None:
        row = list(range(100, 100 + LANES))
        await start(ctx, part, [(distance, cover)], cover)
        made = await merged(ctx, part, [row], slow=3)
        assert [made[lane] for lane in range(LANES) if cover >> lane & 1] == [
            row[lane + distance] for lane in range(LANES) if cover >> lane & 1
        ]

    run(monkeypatch, part, bench)
