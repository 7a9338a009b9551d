"""Choice of a unit against the page's list of cases, and the order of dispatch against a list."""

import random

import pytest
from amaranth.sim import Simulator

from warpfile.hdl.collectors.malekeh.allocator import CHOICES, DepartureOrder, UnitAllocator
from warpfile.spec.presets import PRESETS
from warpfile.spec.schemes.malekeh import MalekehConfig


def config(**changes):
    return MalekehConfig(
        **MalekehConfig.adapted({**PRESETS["tiny"].config.to_json(), **changes} | {"scheduler": "oldest"})
    )


def run(part, bench):
    simulator = Simulator(part)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()


def choose(units, own, dispatched, count, threshold):
    """The case, the unit and the next wait count; ``dispatched`` lists the units, least recently first."""
    free = [unit for unit, (busy, _, _) in enumerate(units) if not busy]
    if own is not None:
        return "take_own", own, count
    if not free:
        return "refuse_busy", None, count
    empty = [unit for unit in free if units[unit][1]]
    far = [unit for unit in free if not units[unit][2]]
    if empty or far:
        return ("take_empty", empty[0], 0) if empty else ("take_far", far[0], 0)
    if count > threshold:
        return "take_near", next(unit for unit in dispatched if unit in free), 0
    return "refuse_wait", None, count + 1


def random_units(rng, number):
    """Busy, empty and near of each unit."""
    density = rng.choice((0.2, 1.0, 1.0))
    near = [rng.random() < density for _ in range(number)]
    return [(rng.random() < 0.4, not has and rng.random() < 0.3, has) for has in near]


@pytest.mark.parametrize("number", (1, 2, 3, 8))
def test_the_allocator_goes_through_its_cases_in_order(number):
    part, rng, met = UnitAllocator(config(collectors=number)), random.Random(number), set()

    async def bench(ctx):
        count = 0
        for _ in range(1500):
            units, threshold = random_units(rng, number), rng.choice((0, 1, 3, 63))
            dispatched = rng.sample(range(number), number)
            free = [unit for unit, (busy, _, _) in enumerate(units) if not busy]
            own, wanted = (rng.choice(free) if free and rng.random() < 0.2 else None), rng.random() < 0.9
            for place, name in enumerate(("busy", "empty", "near")):
                ctx.set(getattr(part, name), sum(int(unit[place]) << at for at, unit in enumerate(units)))
            ctx.set(part.own, 0 if own is None else 1 << own)
            ctx.set(part.wanted, wanted)
            ctx.set(part.threshold, threshold)
            ctx.set(part.older, order_bits(dispatched))
            case, unit, then = choose(units, own, dispatched, count, threshold) if wanted else (None, None, count)
            assert ctx.get(part.wait_count) == count
            assert [name for name in CHOICES if ctx.get(getattr(part, name))] == [case] * wanted
            assert ctx.get(part.allocate) == (0 if unit is None else 1 << unit)
            await ctx.tick()
            count = then
            met.add(case)

    run(part, bench)
    assert met == {*CHOICES, None}


@pytest.mark.parametrize("threshold", (0, 4, 63))
def test_an_offer_is_refused_once_more_than_the_threshold_says(threshold):
    part = UnitAllocator(config(collectors=1))

    async def bench(ctx):
        for name, value in (("wanted", 1), ("near", 1), ("threshold", threshold)):
            ctx.set(getattr(part, name), value)
        for waits in range(threshold + 1):
            assert (ctx.get(part.refuse_wait), ctx.get(part.wait_count)) == (1, waits)
            await ctx.tick()
        assert ctx.get(part.take_near)
        await ctx.tick()
        assert ctx.get(part.wait_count) == 0

    run(part, bench)


def order_bits(order):
    """Bit ``count * a + b``: a stands before b."""
    count, place = len(order), {unit: at for at, unit in enumerate(order)}
    return sum(1 << (count * a + b) for a in range(count) for b in range(count) if place[a] < place[b])


@pytest.mark.parametrize(("number", "ports"), [(2, 1), (2, 3), (5, 3), (8, 3)])
def test_units_that_dispatch_become_the_most_recent_in_the_order_of_ports(number, ports):
    part, rng = DepartureOrder(config(collectors=number, ports=ports)), random.Random(number * ports)
    order = list(range(number))

    async def bench(ctx):
        for _ in range(400):
            assert ctx.get(part.older) == order_bits(order)
            leaving = rng.sample(range(number), rng.randint(0, min(number, ports)))
            places = rng.sample(range(ports), len(leaving))
            for port in range(ports):
                ctx.set(part.leaves[port], 0)
            for port, unit in sorted(zip(places, leaving, strict=True)):
                ctx.set(part.leaves[port], 1 << unit)
                order.remove(unit)
                order.append(unit)
            await ctx.tick()

    run(part, bench)
