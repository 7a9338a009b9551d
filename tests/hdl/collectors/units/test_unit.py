"""A unit whose beat leaves in the cycle in which the next one comes."""

import pytest
from amaranth.sim import Simulator

from warpfile.hdl.collectors.units.checked_unit import CheckedUnit
from warpfile.hdl.collectors.units.unit import CollectorUnit
from warpfile.spec.presets import PRESETS
from warpfile.spec.schemes.rfc import RfcConfig

SMALL = {"warps": 4, "lanes": 1, "collectors": 3, "source_slots": 2}


def plain():
    return CollectorUnit(PRESETS["tiny"].config.replace(**SMALL))


def checked():
    values = {**PRESETS["isca2011"].config.to_json(), **SMALL, "register_names": 32}
    return CheckedUnit(RfcConfig(**RfcConfig.adapted(values | {"scheduler": "two_level"})))


async def take(ctx, part, *, leaves=False, wait_for=0, valid=0b11, **beat):
    """A beat comes; ``leaves``: the one that was there goes."""
    for name in ("allocate", "follows"):
        ctx.set(getattr(part, name), 1)
    ctx.set(part.dispatch, leaves)
    ctx.set(part.wait_for, wait_for)
    ctx.set(part.beat, {"source_valid": valid, "warp": beat.get("warp", 0), "payload": beat.get("payload", 0)})
    await ctx.tick()
    for name in ("allocate", "follows", "dispatch", "wait_for"):
        ctx.set(getattr(part, name), 0)


async def collect(ctx, part):
    """Look the sources up if that is due, read them all from their banks."""
    if hasattr(part, "check"):
        assert not ctx.get(part.request)
        ctx.set(part.check, 1)
        await ctx.tick()
        ctx.set(part.check, 0)
    for name in ("grant", "fill") * 2:
        if name == "grant":
            slot = ctx.get(part.request)
        ctx.set(getattr(part, name), slot)
        await ctx.tick()
        ctx.set(getattr(part, name), 0)


def shown(ctx, part):
    return tuple(ctx.get(getattr(part, name)) for name in ("occupied", "ready", "lacking", "uncollected"))


@pytest.mark.parametrize("build", (plain, checked), ids=["plain", "checked"])
def test_the_beat_that_comes_as_another_leaves_starts_as_in_an_empty_unit(build):
    part = build()

    async def bench(ctx):
        await take(ctx, part, warp=1, payload=5)
        first = shown(ctx, part)
        assert first == (1, 0, 1, 0b11)
        await collect(ctx, part)
        assert shown(ctx, part) == (1, 1, 0, 0)
        ctx.set(part.beat.payload, 6)
        ctx.set(part.dispatch, 1)
        assert (ctx.get(part.out.warp), ctx.get(part.out.payload)) == (1, 5)
        await take(ctx, part, leaves=True, warp=2, payload=6)
        assert shown(ctx, part) == first
        assert (ctx.get(part.out.warp), ctx.get(part.out.payload)) == (2, 6)
        await collect(ctx, part)
        assert shown(ctx, part) == (1, 1, 0, 0)

    simulate(part, bench)


@pytest.mark.parametrize("build", (plain, checked), ids=["plain", "checked"])
def test_it_waits_for_the_units_that_it_is_told_and_not_for_itself(build):
    """The unit is number 0: its own bit of ``leaving`` in the cycle of the change takes nothing from the new beat."""
    part = build()

    async def bench(ctx):
        await take(ctx, part, valid=0)
        assert ctx.get(part.ready)
        ctx.set(part.leaving, 0b001)
        await take(ctx, part, leaves=True, valid=0, wait_for=0b110)
        for leaving, ready in ((0b010, 0), (0b001, 0), (0b100, 1)):
            ctx.set(part.leaving, leaving)
            assert not ctx.get(part.ready)
            await ctx.tick()
            assert ctx.get(part.ready) == ready

    simulate(part, bench)


@pytest.mark.parametrize("build", (plain, checked), ids=["plain", "checked"])
def test_a_unit_that_is_not_taken_is_empty_after_its_dispatch(build):
    part = build()

    async def bench(ctx):
        await take(ctx, part, valid=0)
        ctx.set(part.dispatch, 1)
        await ctx.tick()
        assert shown(ctx, part) == (0, 0, 0, 0)

    simulate(part, bench)


def simulate(part, bench):
    simulator = Simulator(part)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
