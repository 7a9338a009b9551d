"""Places of private and shared registers, by the formulas of the page."""

import pytest

from tests.hdl.rf.owf.bench import config
from tests.hdl.rf.packed.bench import run
from tests.hdl.rf.regmutex.bench import row_of
from warpfile.hdl.rf.owf.location import OwfLocation

PRIVATE, SHARED = 3, 5
REGISTERS = PRIVATE + SHARED
TWO = 2 * PRIVATE + SHARED


def expected(warp: int, register: int, paired: int) -> int:
    """docs/schemes/owf.md, sections 2 and 6."""
    if warp >= paired:
        return paired // 2 * TWO + (warp - paired) * REGISTERS + register
    if register >= PRIVATE:
        return warp // 2 * TWO + 2 * PRIVATE + register - PRIVATE
    return warp // 2 * TWO + warp % 2 * PRIVATE + register


@pytest.mark.parametrize(("warps", "paired"), [(8, 4), (8, 8), (7, 6), (7, 0)])
def test_partners_have_their_shared_registers_behind_both_private_sets(warps, paired) -> None:
    cfg = config(warps=warps, rows=32)
    part = OwfLocation(cfg)

    async def looked_up(ctx, warp, register) -> int:
        ctx.set(part.warp, 1 << warp)
        ctx.set(part.sources[1], register)
        ctx.set(part.result_warps[0], warp)
        ctx.set(part.result_registers[0], register)
        await ctx.delay(1e-9)
        place, source = part.result_places[0], part.source_places[1]
        found = ctx.get(place.row), ctx.get(place.bank)
        assert (row_of(ctx, source) % cfg.rows, ctx.get(source.bank)) == found
        return found[0] * cfg.banks + found[1]

    async def bench(ctx) -> None:
        ctx.set(part.private_registers, PRIVATE)
        places: dict[int, tuple[int, int]] = {}
        for warp in reversed(range(warps)):
            ctx.set(part.launch_valid, 1)
            ctx.set(part.launch.warp, warp)
            ctx.set(part.launch.base, expected(warp, 0, paired))
            ctx.set(part.partnered, warp < paired)
            await ctx.tick()
            ctx.set(part.launch_valid, 0)
        for warp in range(warps):
            for register in range(REGISTERS):
                place = await looked_up(ctx, warp, register)
                assert place == expected(warp, register, paired)
                owner = (warp // 2 if warp < paired and register >= PRIVATE else -1 - warp, register)
                assert places.setdefault(place, owner) == owner, "only partners share a place"

    run(part, bench)
