"""A caching unit that is taken again in the cycle of its dispatch (docs/schemes/malekeh.md, end of step 3)."""

import random

import pytest

from tests.hdl.collectors.bench import accept, offer, payloads, simulate
from warpfile.hdl.collectors import dispatch
from warpfile.hdl.collectors.malekeh import collectors
from warpfile.hdl.collectors.malekeh.collectors import CachingCollectors
from warpfile.spec.presets import PRESETS
from warpfile.spec.schemes.malekeh import MalekehConfig

ALL = 0b1111
both = pytest.mark.parametrize("retake", ("next", "same"))


def config(**changes):
    small = {"warps": 4, "lanes": 1, "collectors": 2, "source_slots": 2, "unit_entries": 4, "ports": 3, "rows": 16}
    values = {**PRESETS["tiny"].config.to_json(), **small, **changes}
    return MalekehConfig(**MalekehConfig.adapted(values | {"scheduler": "oldest"}))


def play(monkeypatch, cfg, scene):
    simulate(monkeypatch, lambda: CachingCollectors(cfg), (dispatch, collectors), scene)


async def fill(ctx, part, near=0):
    """A beat of warp 0 in unit 0 and one of warp 1 in unit 1, for port 0. Each has its one source; that may be near."""
    accept(ctx, part)
    for warp in (0, 1):
        offer(ctx, part, warp, payload=warp, source_valid=1, sources=[5], hints=near)
        await ctx.tick()
    offer(ctx, part)
    for name in ("grant", "fill"):
        ctx.set(getattr(part, name), 0b0101)
        await ctx.tick()
        ctx.set(getattr(part, name), 0)


@pytest.mark.parametrize(("retake", "room"), [("next", 0b1100), ("same", 0b1101)])
def test_the_owner_of_a_unit_that_dispatches_has_room(monkeypatch, retake, room):
    async def scene(ctx, part):
        await fill(ctx, part)
        assert ctx.get(part.room) == 0b1100  # the others own nothing
        accept(ctx, part, 0)
        assert (ctx.get(part.busy), ctx.get(part.collecting), ctx.get(part.room)) == (0b11, 0b0011, room)
        accept(ctx, part, 1, 2)
        assert ctx.get(part.room) == 0b1100

    play(monkeypatch, config(retake=retake), scene)


def test_its_owner_takes_it_again_and_finds_its_registers(monkeypatch):
    async def scene(ctx, part):
        await fill(ctx, part)
        accept(ctx, part, 0)
        offer(ctx, part, 0, payload=2, source_valid=0b11, sources=[6, 5])
        assert (ctx.get(part.accept), ctx.get(part.allocate), ctx.get(part.take_own)) == (1, 0b01, 1)
        assert (ctx.get(part.hit), ctx.get(part.miss), ctx.get(part.lost)) == (0b10, 0b01, 0)
        assert payloads(ctx, part) == {0: 0}
        await ctx.tick()
        offer(ctx, part)
        assert (ctx.get(part.busy), ctx.get(part.collecting)) == (0b11, 0b0011)
        assert payloads(ctx, part) == {0: 1}  # the beat of unit 1 is the older one now
        assert ctx.get(part.requests) == 0b0001 and ctx.get(part.locked).bit_count() == 3

    play(monkeypatch, config(retake="same"), scene)


@both
def test_another_warp_takes_the_unit_that_dispatches_and_finds_nothing(monkeypatch, retake):
    async def scene(ctx, part):
        await fill(ctx, part)
        offer(ctx, part, 2, payload=2, source_valid=1, sources=[5])
        assert (ctx.get(part.accept), ctx.get(part.refuse_busy)) == (0, 1)
        accept(ctx, part, 0)
        taken = int(retake == "same")
        assert (ctx.get(part.accept), ctx.get(part.take_far), ctx.get(part.allocate)) == (taken, taken, taken)
        assert (ctx.get(part.hit), ctx.get(part.miss)) == (0, taken)
        await ctx.tick()
        offer(ctx, part)
        assert (ctx.get(part.busy), ctx.get(part.collecting)) == ((0b11, 0b0110) if taken else (0b10, 0b0010))

    play(monkeypatch, config(retake=retake), scene)


def test_a_unit_with_a_near_register_that_dispatches_is_waited_for(monkeypatch):
    """It counts as not busy: the offer is refused for the wait count, and not because all are busy."""
    cfg = config(retake="same", wait_control="fixed", wait_threshold=5)

    async def scene(ctx, part):
        await fill(ctx, part, near=1 << cfg.hint_at("near_sources"))
        offer(ctx, part, 2, payload=2)
        assert (ctx.get(part.refuse_busy), ctx.get(part.refuse_wait)) == (1, 0)
        accept(ctx, part, 0)
        assert (ctx.get(part.refuse_busy), ctx.get(part.refuse_wait), ctx.get(part.allocate)) == (0, 1, 0)

    play(monkeypatch, cfg, scene)


class Pool:
    """Random beats of at most one far source, ports, banks that serve at once; a list of units beside the part."""

    def __init__(self, ctx, part, cfg, seed):
        self.ctx, self.part, self.cfg, self.random = ctx, part, cfg, random.Random(seed)
        self.beats: list[int | None] = [None] * cfg.collectors  # payload of the beat that a unit holds
        self.owners: list[int | None] = [None] * cfg.collectors
        self.empty = [True] * cfg.collectors
        self.issued = self.taken_again = self.refused = self.crowded = 0

    async def cycle(self):
        ctx, part, cfg = self.ctx, self.part, self.cfg
        ctx.set(part.fill, ctx.get(part.grant))
        ctx.set(part.grant, ctx.get(part.requests))
        accept(ctx, part, *(port for port in range(cfg.ports) if self.random.random() < 0.6))
        offer(ctx, part)
        left = [self.beats.index(payload) for payload in payloads(ctx, part).values()]
        self.crowded += len(left) > 1
        again = left if cfg.retake == "same" else []
        kept_out = [n for n, beat in enumerate(self.beats) if beat is not None and n not in again]
        assert ctx.get(part.busy) == sum(1 << n for n, beat in enumerate(self.beats) if beat is not None)
        assert ctx.get(part.room) == ALL & ~sum(1 << self.owners[n] for n in kept_out)
        warps = [warp for warp in range(cfg.warps) if ctx.get(part.room) >> warp & 1]
        warp, source = self.random.choice(warps) if warps else None, self.random.random() < 0.7
        port = self.random.randrange(cfg.ports)
        if warp is not None:
            sources = [self.random.randrange(8)]
            offer(ctx, part, warp, payload=self.issued, port=port, source_valid=int(source), sources=sources)
        number = None if warp is None else self._choice(warp, kept_out)
        assert ctx.get(part.allocate) == (0 if number is None else 1 << number)
        self.refused += number is None
        await ctx.tick()
        self.beats = [None if n in left else beat for n, beat in enumerate(self.beats)]
        if number is not None:
            self.taken_again += number in left
            self.empty[number] = not source and (self.empty[number] or self.owners[number] != warp)
            self.owners = [None if owner == warp else owner for owner in self.owners]
            self.beats[number], self.owners[number], self.issued = self.issued, warp, self.issued + 1

    def _choice(self, warp, kept_out):
        """Nothing is near, so no beat waits."""
        if warp in self.owners:
            return self.owners.index(warp)
        free = [n for n in range(self.cfg.collectors) if n not in kept_out]
        return next((n for n in free if self.empty[n]), free[0] if free else None)


@both
@pytest.mark.parametrize("number", (1, 2, 3))
def test_room_and_choice_of_the_unit_go_by_the_beats_that_leave(monkeypatch, retake, number):
    cfg = config(collectors=number, retake=retake, payload_bits=16)

    async def scene(ctx, part):
        pool = Pool(ctx, part, cfg, number)
        for _ in range(400):
            await pool.cycle()
        assert pool.issued > 60 and pool.refused and (pool.crowded or number == 1)
        assert bool(pool.taken_again) == (retake == "same")

    play(monkeypatch, cfg, scene)
