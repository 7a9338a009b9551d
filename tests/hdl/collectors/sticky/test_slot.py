"""The tag of a near slot against a record of what the slot read last and who wrote that since."""

import random

import pytest

from tests.hdl.collectors.sticky.bench import config, run
from warpfile.hdl.collectors.sticky.slot import KeptSlot

NAMES = 8


def beat(rng):
    """A head beat: one source for the slot or none, one or two destinations or none, sometimes without a lane."""
    count = rng.choice((0, 1, 1, 2))
    dest = rng.randrange(NAMES // 2) * 2 if count == 2 else rng.randrange(NAMES)
    ends = rng.random() < 0.05
    found = {"valid": rng.random() < 0.7, "source": rng.randrange(NAMES), "dest": dest}
    return found | {"dest_count": 0 if ends else count, "executes": rng.random() < 0.8, "ends": ends}


def written(one):
    return set(range(one["dest"], one["dest"] + one["dest_count"]))


@pytest.mark.parametrize("seed", range(3))
def test_a_slot_keeps_the_last_register_that_it_read_until_it_is_written_or_its_warp_ends(seed):
    cfg, rng, met = config(), random.Random(seed), {"hit": 0, "overwritten": 0, "ended": 0, "replaced": 0}
    part = KeptSlot(cfg)

    async def bench(ctx):
        last, kept, heads = None, False, [beat(rng) for _ in range(cfg.warps)]
        for _ in range(600):
            issuing = rng.choice((None, *range(cfg.warps)))
            seen = heads[last[0]] if kept else None
            ctx.set(part.head, seen or {"valid": 0})
            ctx.set(part.offered, 0 if issuing is None else 1 << issuing)
            own = issuing is not None and kept and issuing == last[0]
            one = heads[issuing] if issuing is not None else None
            replaces = one is not None and one["executes"] and one["valid"] and not one["ends"] and rng.random() < 0.6
            ctx.set(part.replaces, replaces)
            ctx.set(part.warp, issuing or 0)
            ctx.set(part.source, one["source"] if one else 0)
            stays = one is not None and one["source"] not in written(one)
            ctx.set(part.stays, stays)
            fits = kept and seen["valid"] and seen["source"] == last[1]
            assert ctx.get(part.fits) == (fits << last[0] if kept else 0)
            hit, gone = own and fits, own and seen["executes"] and last[1] in written(seen)
            assert (ctx.get(part.hit), ctx.get(part.overwritten)) == (hit, gone)
            assert (ctx.get(part.kept), ctx.get(part.keeper)) == (kept, kept and 1 << last[0])
            if kept:
                assert (ctx.get(part.owner), ctx.get(part.name)) == last
            await ctx.tick()
            kept = kept and not gone and not (own and seen["ends"])
            if replaces:
                last, kept = (issuing, one["source"]), stays
            met["hit"] += hit
            met["overwritten"] += gone
            met["ended"] += own and seen["ends"]
            met["replaced"] += replaces
            if issuing is not None:
                heads[issuing] = beat(rng)

    run(part, bench)
    assert all(met.values()), met
