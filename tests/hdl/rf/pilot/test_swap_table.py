"""Tables as hot lists make them, against the worked examples of the page and against a plain dictionary."""

import random

import pytest
from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tests.hdl.rf.pilot.bench import config, run
from warpfile.hdl.rf.pilot.layouts import hot_layout
from warpfile.hdl.rf.pilot.pairing import Pairing
from warpfile.hdl.rf.pilot.swap_table import SwapTable


class Installer(wiring.Component):
    """A table and what says which pair is next."""

    def __init__(self, cfg):
        self._cfg = cfg
        self.table, self.pairing = SwapTable(cfg, cfg.register_names), Pairing(cfg)
        super().__init__(
            {
                "hot": In(hot_layout(cfg)),
                "turn": In(cfg.fast_registers),
                "clear": In(1),
                "homes": Out(self.table.changes.shape()),
                "leaves": Out(cfg.register_names),
                "comes": Out(cfg.register_names),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.table, m.submodules.pairing = table, pairing = self.table, self.pairing
        m.d.comb += [
            pairing.hot.eq(self.hot),
            pairing.turn.eq(self.turn),
            pairing.entries.eq(table.entries),
            table.clear.eq(self.clear),
            table.write.eq(pairing.write),
            table.pair.eq(pairing.pair),
            self.leaves.eq(table.leaves),
            self.comes.eq(table.comes),
            table.asked.eq(-1),
        ]
        for number, home in enumerate(self.homes):
            m.d.comb += [table.registers[number].eq(number), home.eq(number ^ table.changes[number])]
        return m


async def install(ctx, part, hot):
    """One turn after the other; None stands for no register. Returns the homes of all registers."""
    ctx.set(part.clear, 1)
    await ctx.tick()
    ctx.set(part.clear, 0)
    for place, register in zip(part.hot, hot, strict=True):
        ctx.set(place.valid, register is not None)
        ctx.set(place.register, register or 0)
    for place in range(len(hot)):
        ctx.set(part.turn, 1 << place)
        await ctx.tick()
    ctx.set(part.turn, 0)
    return [ctx.get(home) for home in part.homes]


@pytest.mark.parametrize(
    ("hot", "homes"),
    [
        ((None,) * 4, (0, 4, 8, 5)),
        ((4, 5, 6, 7), (4, 0, 8, 1)),
        ((8, 9, 10, 11), (8, 4, 0, 5)),
        ((2, 0, 8, 5), (0, 4, 1, 3)),
        ((1, 2, 9, 0), (0, 4, 8, 5)),
    ],
)
def test_a_hot_list_gives_the_homes_of_the_worked_example(hot, homes):
    async def bench(ctx):
        found = await install(ctx, part, hot)
        assert tuple(found[register] for register in (0, 4, 8, 5)) == homes

    part = Installer(config(fast_registers=4))
    run(part, bench)


@pytest.mark.parametrize("fast", (1, 2, 4, 5))
def test_any_list_makes_a_permutation_that_is_its_own_inverse(fast):
    async def bench(ctx):
        rng = random.Random(fast)
        for _ in range(40):
            hot = rng.sample(range(15), fast)
            hot = [register if rng.random() < 0.8 else None for register in hot]
            homes = await install(ctx, part, hot)
            assert [homes[home] for home in homes] == list(range(16))
            assert ctx.get(part.leaves) == sum(1 << r for r, home in enumerate(homes) if r < fast <= home)
            assert ctx.get(part.comes) == sum(1 << r for r, home in enumerate(homes) if home < fast <= r)
            named = {register for register in hot if register is not None}
            assert all(homes[register] < fast for register in named)
            assert all(homes[register] == register for register in named if register < fast)
            assert sum(home != register for register, home in enumerate(homes)) == 2 * len(named - set(range(fast)))

    part = Installer(config(fast_registers=fast))
    run(part, bench)
