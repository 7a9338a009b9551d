"""Places of registers, by the formula of the page, whatever the number of banks; golden model and RTL alike."""

import random
from unittest import mock

import pytest
from amaranth import Const
from amaranth.hdl import Fragment
from amaranth.sim import Simulator

from warpfile.golden.rf.location import Location as Model
from warpfile.hdl.rf import digits, location
from warpfile.hdl.rf.location import Location, skewed
from warpfile.spec.config import Config

WARPS, NAMES = 7, 32
SKEWS = ("none", "warp", "row")


def config(banks, skew, **changes):
    """Some hundred places: with three banks or with 24."""
    rows = max(2, 1 << (256 // banks).bit_length())
    values = {"banks": banks, "bank_skew": skew, "rows": rows, "warps": WARPS, "register_names": NAMES, "lanes": 1}
    return Config(**values | changes)


def places(cfg):
    """All places, in the order in which the page counts them: along the rows, each row turned by its skew."""
    shift = {"none": lambda warp, row: 0, "warp": lambda warp, row: warp, "row": lambda warp, row: row}[cfg.bank_skew]
    return [
        lambda warp, bank=bank, row=row: ((bank + shift(warp, row)) % cfg.banks, row)
        for row in range(cfg.rows)
        for bank in range(cfg.banks)
    ]


def misses(cfg):
    """Registers of some warps that the RTL finds elsewhere than the page, as a source or as a result."""
    part, order, found = Location(cfg), places(cfg), []
    rng = random.Random(cfg.banks)
    bases = [0, *(rng.randrange(len(order) - 1) for _ in range(WARPS - 2)), len(order) - 1]

    async def bench(ctx):
        for warp, base in enumerate(bases):
            ctx.set(part.launch_valid, 1)
            ctx.set(part.launch.warp, warp)
            ctx.set(part.launch.base, base)
            await ctx.tick()
        ctx.set(part.launch_valid, 0)
        for warp, base in enumerate(bases):
            for register in range(min(cfg.register_names, len(order) - base)):
                ctx.set(part.warp, 1 << warp)
                ctx.set(part.sources[1], register)
                ctx.set(part.result_warps[0], warp)
                ctx.set(part.result_registers[0], register)
                source, result = part.source_places[1], part.result_places[0]
                row = sum(ctx.get(getattr(source, name)) for name in ("base", "offset", "carry")) % cfg.rows
                said = {(ctx.get(source.bank), row), (ctx.get(result.bank), ctx.get(result.row))}
                if said != {order[base + register](warp)}:
                    found.append((warp, register))

    simulator = Simulator(part)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    return found


@pytest.mark.parametrize("skew", SKEWS)
@pytest.mark.parametrize("banks", (1, 3, 6, 8, 12, 24))
def test_rtl_finds_every_register_where_the_page_says(banks, skew):
    assert misses(config(banks, skew)) == []


@pytest.mark.parametrize(
    ("banks", "changes"),
    [
        (127, {"register_names": 256, "rows": 4}),
        (96, {"register_names": 8, "rows": 2}),
        (5, {"register_names": 8, "rows": 2}),
    ],
)
def test_names_may_be_more_than_places_or_fewer_than_banks(banks, changes):
    assert misses(config(banks, "row", **changes)) == []


@pytest.mark.parametrize("skew", SKEWS)
def test_a_sum_of_banks_that_is_never_reduced_is_noticed(skew):
    def never(m, cfg, bank, parts):
        return sum(parts, bank)[: digits.bank_digit(cfg)], [Const(0, 1) for _ in parts]

    with mock.patch.object(location, "summed", never):
        assert misses(config(6, skew))


@pytest.mark.parametrize("skew", SKEWS)
@pytest.mark.parametrize("banks", (1, 3, 6, 8, 12, 24))
def test_the_golden_model_finds_every_register_where_the_page_says(banks, skew):
    cfg = config(banks, skew)
    model, order = Model(cfg), places(cfg)
    for warp, base in enumerate((0, 1, 5, 23, 24, 100, len(order) - NAMES)):
        model.launched(warp, base)
        for register in range(NAMES):
            assert model.place(warp, register) == order[base + register](warp)


def test_a_rule_that_goes_by_bits_needs_a_power_of_two_of_banks():
    def mirrored(cfg, place, warp, row):
        return ~place

    for banks, rule in ((8, mirrored), (6, skewed)):
        Fragment.get(Location(config(banks, "none"), rule), None)
    with pytest.raises(ValueError, match="banks must be a power of two, 4 or 8, not 6: a rule of another package"):
        Fragment.get(Location(config(6, "none"), mirrored), None)
