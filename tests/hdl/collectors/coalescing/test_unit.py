"""One unit: when it asks, what joins, what is filled, how long a dead register keeps it."""

from __future__ import annotations

from tests.hdl.rf.packed.bench import config, run
from warpfile.hdl.collectors.coalescing.unit import CoalescingUnit

LANE, FOUR = 0b0001, 0b1111


def unit(scheme: str):
    """A unit with three slots over four banks."""
    return CoalescingUnit(config(scheme, source_slots=3, banks=4, collectors=2, register_names=16))


class Driver:
    """A beat, answers of the table, grants."""

    def __init__(self, ctx, part) -> None:
        self.ctx, self.part = ctx, part

    async def allocate(self, valid: int, looked_up: int, kill: int = 0) -> None:
        ctx, part = self.ctx, self.part
        ctx.set(part.follows, 1)
        ctx.set(part.allocate, 1)
        ctx.set(part.beat.source_valid, valid)
        ctx.set(part.looked_up, looked_up)
        if hasattr(part, "kill"):
            ctx.set(part.kill, kill)
        assert not ctx.get(part.request)
        await self.tick()

    def answer(self, *entries: tuple[int, int, int] | None) -> None:
        """Bank, row, mask per slot; 0 of those that the table has not served."""
        for slot, entry in enumerate(entries):
            bank, row, mask = entry or (0, 0, 0)
            self.ctx.set(self.part.places[slot].bank, bank)
            self.ctx.set(self.part.places[slot].row, row)
            self.ctx.set(self.part.masks[slot], mask)
            self.ctx.set(self.part.mapped[slot], mask != 0)

    def sees(self, **expected: int) -> None:
        found = {name: self.ctx.get(getattr(self.part, name)) for name in expected}
        assert found == expected

    async def tick(self) -> None:
        ctx, part = self.ctx, self.part
        await ctx.tick()
        for name in ("allocate", "follows", "looked_up", "grant", "fill", "dispatch", "killed"):
            if hasattr(part, name):
                ctx.set(getattr(part, name), 0)
        self.answer(*[None] * len(part.mapped))


def test_it_asks_in_the_cycle_after_its_last_look_up() -> None:
    part = unit("packing")

    async def bench(ctx) -> None:
        one = Driver(ctx, part)
        await one.allocate(0b111, 0b011)
        one.answer((0, 1, LANE), (1, 2, FOUR), None)
        one.sees(locate=0b100, request=0, zero=0, lacking=1, ready=0, unread=0b111)
        ctx.set(part.looked_up, 0b100)
        await one.tick()
        one.answer(None, None, (2, 3, LANE))
        one.sees(locate=0, request=0b001)
        assert (ctx.get(part.slot_places[0].bank), ctx.get(part.slot_places[0].row)) == (0, 1)
        ctx.set(part.grant, 0b001)
        await one.tick()
        one.answer(None, None, None)
        ctx.set(part.fill, 0b001)
        one.sees(request=0b010, unread=0b110, unpack=LANE | 1 << 4)
        assert (ctx.get(part.slot_places[1].bank), ctx.get(part.slot_places[1].row)) == (1, 2)
        ctx.set(part.grant, 0b010)
        await one.tick()
        ctx.set(part.fill, 0b010)
        ctx.set(part.grant, 0b100)
        assert (ctx.get(part.slot_places[2].bank), ctx.get(part.slot_places[2].row)) == (2, 3)
        await one.tick()
        ctx.set(part.fill, 0b100)
        one.sees(request=0, ready=0, filled=0b100)
        await one.tick()
        one.sees(ready=1, lacking=0)
        ctx.set(part.dispatch, 1)
        await one.tick()
        one.sees(occupied=0, ready=0)

    run(part, bench)


def test_a_register_that_is_nowhere_is_zero_and_is_not_read() -> None:
    part = unit("packing")

    async def bench(ctx) -> None:
        one = Driver(ctx, part)
        await one.allocate(0b011, 0b011)
        one.answer((0, 1, 0), (0, 1, LANE), None)
        one.sees(zero=0b001, cleared=0b001, request=0b010, unread=0b011)
        ctx.set(part.grant, 0b010)
        await one.tick()
        one.sees(unread=0, lacking=1)
        ctx.set(part.fill, 0b010)
        await one.tick()
        one.sees(ready=1)

    run(part, bench)


def test_two_slots_of_a_row_come_together() -> None:
    part = unit("first_fit")

    async def bench(ctx) -> None:
        one = Driver(ctx, part)
        await one.allocate(0b111, 0b111)
        one.answer((0, 1, 0b0011), (1, 1, LANE), (0, 1, 0b1100))
        one.sees(request=0b001, joined=0b100)
        await one.tick()
        one.answer(None, None, None)
        one.sees(request=0b001, joined=0b100)
        ctx.set(part.grant, 0b001)
        await one.tick()
        ctx.set(part.fill, 0b001)
        one.sees(request=0b010, joined=0, filled=0b001, join_filled=0b100)
        one.sees(unpack=0b0010_0001, join_unpack=0b0010_0100)
        ctx.set(part.grant, 0b010)
        await one.tick()
        ctx.set(part.fill, 0b010)
        one.sees(join_filled=0)
        await one.tick()
        one.sees(ready=1)

    run(part, bench)


def test_what_is_nowhere_joins_nothing() -> None:
    part = unit("first_fit")

    async def bench(ctx) -> None:
        one = Driver(ctx, part)
        await one.allocate(0b111, 0b111)
        one.answer((0, 1, LANE), (0, 1, 0), (0, 2, LANE))
        one.sees(request=0b001, joined=0, zero=0b010)

    run(part, bench)


def test_with_byte_planes_the_slot_that_joins_has_a_row_of_its_own() -> None:
    part = unit("corf_plus")

    async def bench(ctx) -> None:
        one = Driver(ctx, part)
        await one.allocate(0b111, 0b111)
        one.answer((0, 1, 0b1100), (0, 2, 0b0111), (0, 3, 0b0011))
        one.sees(request=0b001, joined=0b100, joined_row=3, joined_mask=0b0011)
        assert ctx.get(part.slot_places[0].row) == 1
        ctx.set(part.grant, 0b001)
        await one.tick()
        one.answer(None, None, None)
        one.sees(request=0b010, joined=0, joined_mask=0)
        assert ctx.get(part.slot_places[1].row) == 2

    run(part, bench)


def test_it_may_have_the_larger_mask() -> None:
    part = unit("corf_plus")

    async def bench(ctx) -> None:
        one = Driver(ctx, part)
        await one.allocate(0b011, 0b011)
        one.answer((0, 1, 0b0001), (0, 2, 0b1110), None)
        one.sees(request=0b001, joined=0b010, joined_row=2, joined_mask=0b1110)
        assert ctx.get(part.slot_places[0].row) == 1

    run(part, bench)


def test_a_dead_register_keeps_the_unit_until_it_is_given_back() -> None:
    part = unit("packing_virtual")

    async def bench(ctx) -> None:
        one = Driver(ctx, part)
        await one.allocate(0b011, 0b011, kill=0b011)
        one.answer((0, 1, LANE), (0, 1, 0), None)
        one.sees(kills=0b011, dead=0, uncollected=0b011)
        ctx.set(part.grant, 0b001)
        await one.tick()
        one.sees(kills=0b001, dead=0)
        ctx.set(part.fill, 0b001)
        await one.tick()
        ctx.set(part.shared, 0b001)
        one.sees(ready=1, dead=0)
        ctx.set(part.dispatch, 1)
        await one.tick()
        one.sees(occupied=1, holding=0, ready=0, request=0, dead=0, uncollected=0b001)
        ctx.set(part.shared, 0)
        one.sees(dead=0b001)
        assert (ctx.get(part.dead_places[0].row), ctx.get(part.dead_masks[0])) == (1, LANE)
        ctx.set(part.killed, 0b001)
        await one.tick()
        one.sees(occupied=0, kills=0)

    run(part, bench)


def test_a_unit_whose_last_dead_register_goes_with_the_beat_is_free_at_once() -> None:
    part = unit("packing_virtual")

    async def bench(ctx) -> None:
        one = Driver(ctx, part)
        await one.allocate(0b001, 0b001, kill=0b001)
        one.answer((0, 1, LANE), None, None)
        ctx.set(part.grant, 0b001)
        await one.tick()
        ctx.set(part.fill, 0b001)
        await one.tick()
        one.sees(ready=1, dead=0b001)
        ctx.set(part.dispatch, 1)
        ctx.set(part.killed, 0b001)
        await one.tick()
        one.sees(occupied=0, kills=0)

    run(part, bench)


def test_a_beat_that_comes_as_another_leaves_starts_as_in_an_empty_unit() -> None:
    part = unit("packing_virtual")

    async def bench(ctx) -> None:
        one = Driver(ctx, part)
        await one.allocate(0b011, 0b001)
        first = {"occupied": 1, "holding": 1, "ready": 0, "lacking": 1, "locate": 0b010, "unread": 0b011, "kills": 0}
        one.answer((0, 1, LANE), None, None)
        one.sees(**first)
        ctx.set(part.looked_up, 0b010)
        await one.tick()
        one.answer(None, (1, 2, 0), None)
        ctx.set(part.grant, 0b001)
        await one.tick()
        ctx.set(part.fill, 0b001)
        await one.tick()
        one.sees(ready=1, unread=0, kills=0)
        ctx.set(part.dispatch, 1)
        await one.allocate(0b011, 0b001, kill=0b010)
        one.answer((0, 3, LANE), None, None)
        one.sees(**first | {"kills": 0b010})

    run(part, bench)
