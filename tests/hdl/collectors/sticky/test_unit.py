"""A unit: sources that hit, that wait for a result, and that ask their bank, side by side."""

import pytest

from tests.hdl.collectors.sticky.bench import config, run
from tests.hdl.unstamped import inside
from warpfile.hdl.collectors.sticky import unit
from warpfile.hdl.collectors.sticky.unit import StickyUnit


@pytest.fixture
def play(monkeypatch):
    """Run a scene on one unit."""
    monkeypatch.setattr(unit, "stamp", inside)

    def start(scene, **changes):
        part = StickyUnit(config(**changes))

        async def bench(ctx):
            await scene(ctx, part)

        run(part, bench)

    return start


async def take(ctx, part, *sources, expects=0, warp=1, found=(), leaves=False):
    """A beat of these sources comes; ``found``: slots that are shown it as the head beat of their warp."""
    valid = (1 << len(sources)) - 1
    ctx.set(part.beat, {"warp": warp, "source_valid": valid, "sources": list(sources), "full": 1, "dest_count": 1})
    for name in ("allocate", "follows"):
        ctx.set(getattr(part, name), 1)
    ctx.set(part.dispatch, leaves)
    if "offered" in part.signature.members:
        ctx.set(part.offered, 1 << warp)
        ctx.set(part.stays, 0b111)
        ctx.set(
            part.head, [{"valid": slot in found, "source": sources[slot] if slot in found else 0} for slot in (0, 1, 2)]
        )
        assert ctx.get(part.hit) == sum(1 << slot for slot in found)
    if expects:
        ctx.set(part.expects, expects)
    await ctx.tick()
    for name in ("allocate", "follows", "dispatch"):
        ctx.set(getattr(part, name), 0)
    if "expects" in part.signature.members:
        ctx.set(part.expects, 0)


async def serve(ctx, part, slots):
    """Banks serve these slots, whose rows come in the next cycle."""
    for name in ("grant", "fill"):
        ctx.set(getattr(part, name), slots)
        await ctx.tick()
        ctx.set(getattr(part, name), 0)


def shown(ctx, part):
    return tuple(ctx.get(getattr(part, name)) for name in ("ready", "request", "uncollected", "awaiting"))


async def arrive(ctx, part, register, warp=1, accepted=1):
    """A result is offered; returns the slots that take it."""
    for name, value in (("shows", 1), ("arrives", accepted), ("result_warp", warp), ("result_register", register)):
        ctx.set(getattr(part, name), value)
    taken, awaited = ctx.get(part.forward), ctx.get(part.awaited)
    assert taken == (awaited if accepted else 0)
    await ctx.tick()
    ctx.set(part.shows, 0)
    ctx.set(part.arrives, 0)
    assert ctx.get(part.awaited) == 0
    return awaited


def test_a_source_is_served_by_the_slot_the_result_or_the_bank(play):
    async def scene(ctx, part):
        await take(ctx, part, 3, 4, 5)
        assert shown(ctx, part) == (0, 0b111, 0b111, 0)
        await serve(ctx, part, 0b111)
        assert shown(ctx, part) == (1, 0, 0, 0)
        # Slot 0 has register 3, slot 1 waits for 6, slot 2 asks for 7.
        await take(ctx, part, 3, 6, 7, expects=0b010, found=(0,), leaves=True)
        assert shown(ctx, part) == (0, 0b100, 0b110, 0b010)
        await serve(ctx, part, 0b100)
        assert shown(ctx, part) == (0, 0, 0b010, 0b010)
        assert await arrive(ctx, part, 6, warp=2) == 0  # of another warp
        assert await arrive(ctx, part, 7) == 0  # another register
        assert await arrive(ctx, part, 6, accepted=0) == 0b010  # held
        assert shown(ctx, part) == (0, 0, 0b010, 0b010)
        assert await arrive(ctx, part, 6) == 0b010
        assert shown(ctx, part) == (1, 0, 0, 0)
        assert await arrive(ctx, part, 6) == 0

    play(scene)


def test_of_slots_that_do_not_await_the_lowest_asks(play):
    async def scene(ctx, part):
        await take(ctx, part, 3, 4, 5, expects=0b001)
        assert shown(ctx, part) == (0, 0b010, 0b111, 0b001)
        await serve(ctx, part, 0b010)
        assert ctx.get(part.request) == 0b100
        assert await arrive(ctx, part, 3) == 0b001
        await serve(ctx, part, 0b100)
        assert ctx.get(part.ready)

    play(scene, collect="lowest")


def test_a_slot_without_a_source_of_the_beat_keeps_its_register_and_warp(play):
    async def scene(ctx, part):
        await take(ctx, part, 3, 4, 5)
        await serve(ctx, part, 0b111)
        await take(ctx, part, 8, warp=2, leaves=True)
        assert [ctx.get(part.registers[slot]) for slot in (0, 1, 2)] == [8, 4, 5]
        assert [ctx.get(part.owner[slot]) for slot in (0, 1, 2)] == [2, 1, 1]
        assert ctx.get(part.kept) == 0b111

    play(scene)


def test_a_free_unit_that_is_not_taken_keeps_its_tags_whatever_is_offered(play):
    async def scene(ctx, part):
        await take(ctx, part, 3, 4, 5)
        await serve(ctx, part, 0b111)
        ctx.set(part.dispatch, 1)
        ctx.set(part.follows, 1)
        ctx.set(part.offered, 0b100)
        ctx.set(part.beat, {"warp": 2, "source_valid": 0b111, "sources": [9, 10, 11]})
        await ctx.tick()
        assert [ctx.get(part.registers[slot]) for slot in (0, 1, 2)] == [3, 4, 5]
        assert (ctx.get(part.occupied), ctx.get(part.kept)) == (0, 0b111)

    play(scene)


@pytest.mark.parametrize(("full", "count", "marks"), [(1, 1, 1), (0, 1, 0), (1, 0, 0)])
def test_only_full_results_with_a_register_are_coming(play, full, count, marks):
    async def scene(ctx, part):
        for name in ("allocate", "follows"):
            ctx.set(getattr(part, name), 1)
        ctx.set(part.beat, {"full": full, "dest_count": count})
        await ctx.tick()
        assert ctx.get(part.marks) == marks

    play(scene, keep_operands="none")
