"""Choice of a unit against the page's sentence (docs/schemes/sticky.md, section 5, step 4)."""

import random

import pytest
from amaranth import Module
from amaranth.lib import wiring

from tests.hdl.collectors.sticky.bench import config, run
from warpfile.hdl.arbiter import Ages
from warpfile.hdl.collectors.sticky.choice import UnitChoice


class OrderedChoice(wiring.Component):
    """The choice with the order that its own decisions make."""

    def __init__(self, cfg):
        self._choice, self._ages = UnitChoice(cfg), Ages(cfg.collectors)
        super().__init__({name: port for name, port in self._choice.signature.members.items() if name != "older"})

    def elaborate(self, platform):
        m = Module()
        m.submodules.choice, m.submodules.ages = choice, ages = self._choice, self._ages
        m.d.comb += [
            *(getattr(choice, name).eq(getattr(self, name)) for name in ("free", "fits", "wanted")),
            choice.older.eq(ages.older),
            ages.arrive.eq(choice.allocate),
            self.allocate.eq(choice.allocate),
        ]
        return m


@pytest.mark.parametrize("units", (2, 3, 5))
def test_the_unit_allocated_longest_ago_of_those_that_fit_or_of_all_takes_the_beat(units):
    cfg, rng, met = config(collectors=units), random.Random(units), set()
    part = OrderedChoice(cfg)

    async def bench(ctx):
        order = list(range(units))
        for _ in range(200):
            free = [unit for unit in range(units) if rng.random() < 0.7]
            fits = [[unit for unit in range(units) if rng.random() < 0.4] for _ in range(cfg.warps)]
            warp = rng.choice((None, *range(cfg.warps)))
            ctx.set(part.free, sum(1 << unit for unit in free))
            ctx.set(part.fits, [sum(1 << unit for unit in some) for some in fits])
            ctx.set(part.wanted, 0 if warp is None else 1 << warp)
            chosen = None
            if warp is not None and free:
                fitting = [unit for unit in free if unit in fits[warp]]
                chosen = min(fitting or free, key=order.index)
                met.add((bool(fitting), chosen == min(free, key=order.index)))
            assert ctx.get(part.allocate) == (0 if chosen is None else 1 << chosen)
            await ctx.tick()
            if chosen is not None:
                order.remove(chosen)
                order.append(chosen)

    run(part, bench)

    assert met == {(True, True), (True, False), (False, True)}
