"""Places of base and extended sets, by the formulas of the page."""

import random

import pytest

from tests.hdl.rf.regmutex.bench import config, row_of, run
from warpfile.hdl.rf.regmutex.location import RegMutexLocation

BASE, EXTENDED, REGISTERS = 5, 3, 8


def place_of(ctx, place):
    """Row and bank of a place, and whether it is absent."""
    return ctx.get(place.row), ctx.get(place.bank), ctx.get(place.absent)


def place_of_source(ctx, place, cfg):
    """The same of a source, whose row is not added up."""
    return row_of(ctx, place) % cfg.rows, ctx.get(place.bank), ctx.get(place.absent)


async def looked_up(ctx, part, cfg, warp, register):
    """What all ports say of a register of a warp: as a source, as a result."""
    ctx.set(part.warp, 1 << warp)
    ctx.set(part.sources[1], register)
    ctx.set(part.result_warps[0], warp)
    ctx.set(part.result_registers[0], register)
    await ctx.delay(1e-9)
    found = place_of(ctx, part.result_places[0])
    assert place_of_source(ctx, part.source_places[1], cfg) == found
    row, bank, absent = found
    return row * cfg.banks + bank, absent


async def launch(ctx, part, warp, base):
    ctx.set(part.launch_valid, 1)
    ctx.set(part.launch.warp, warp)
    ctx.set(part.launch.base, base)
    await ctx.tick()
    ctx.set(part.launch_valid, 0)


def test_a_warp_has_its_base_set_and_the_section_that_it_took():
    cfg, rng = config(), random.Random(0)
    pool = cfg.warps * BASE
    part = RegMutexLocation(cfg)

    async def bench(ctx):
        for name, value in (("base_registers", BASE), ("extended_registers", EXTENDED), ("pool", pool)):
            ctx.set(getattr(part, name), value)
        for warp in range(cfg.warps):
            await launch(ctx, part, warp, warp * BASE)
            assert (await looked_up(ctx, part, cfg, warp, BASE)) == (BASE, 1)  # of extended base 0
        sections, present = {}, 0
        for _ in range(3 * cfg.warps):
            warp, section = rng.randrange(cfg.warps), rng.randrange(7)
            ctx.set(part.takes, 1 << warp)
            ctx.set(part.number, section)
            await ctx.tick()
            ctx.set(part.takes, 0)
            sections[warp] = section
            present = present ^ 1 << rng.randrange(cfg.warps)
            ctx.set(part.present, present)
            for warp, section in sections.items():
                for register in range(REGISTERS):
                    beyond = register >= BASE
                    place = pool + section * EXTENDED + register - BASE if beyond else warp * BASE + register
                    absent = beyond and not present >> warp & 1
                    assert (await looked_up(ctx, part, cfg, warp, register)) == (place % (1 << cfg.place_bits), absent)

    run(part, bench)


@pytest.mark.parametrize("warps", (7, 8))
def test_partners_have_their_section_behind_both_base_sets(warps):
    cfg = config(sharing="pairs", warps=warps)
    part = RegMutexLocation(cfg)

    async def bench(ctx):
        ctx.set(part.base_registers, BASE)
        ctx.set(part.present, (1 << warps) - 1)
        places = set()
        for warp in range(warps):
            pair = warp // 2 * (2 * BASE + EXTENDED)
            base = pair + warp % 2 * BASE
            assert base == cfg.base_place(warp, REGISTERS, {"base_registers": BASE, "extended_registers": EXTENDED})
            await launch(ctx, part, warp, base)
            for register in range(REGISTERS):
                expected = pair + 2 * BASE + register - BASE if register >= BASE else base + register
                assert (await looked_up(ctx, part, cfg, warp, register)) == (expected % (1 << cfg.place_bits), 0)
                places.add(expected)
        assert len(places) == warps * BASE + (warps + 1) // 2 * EXTENDED

    run(part, bench)
