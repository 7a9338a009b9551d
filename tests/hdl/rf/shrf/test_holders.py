"""Which warp has which place with entries, against docs/schemes/shrf.md, section 5."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from amaranth import Module, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tests.hdl.rf.shrf.bench import run
from warpfile.hdl.rf.shrf.holders import SchedulerPlaces, SlotPlaces

WARPS, PLACES, WIDTH = 5, 3, 4


class Asked(wiring.Component):
    """A holder with everything that it is asked for at ports."""

    def __init__(self, places: int, *, slots: bool) -> None:
        self._count, self._slots = places, slots
        super().__init__(
            {
                **{f"place{place}": In(WARPS) for place in range(0 if slots else places)},
                "number": In(range(WARPS)),
                "mask": In(WARPS),
                **{f"word{place}": In(WIDTH) for place in range(places)},
                "place": Out(places),
                "holds": Out(places),
                **{f"of{warp}": Out(WIDTH) for warp in range(WARPS)},
            }
        )

    def elaborate(self, platform) -> Module:
        """The three questions."""
        m = Module()
        places: Sequence[Value] = [] if self._slots else [getattr(self, f"place{one}") for one in range(self._count)]
        holder = SlotPlaces(WARPS) if self._slots else SchedulerPlaces(m, places, 3)
        words = [getattr(self, f"word{place}") for place in range(self._count)]
        m.d.comb += self.place.eq(holder.place_of(m, "asked", self.number))
        m.d.comb += [self.holds[place].eq(holder.holds(place, self.mask)) for place in range(self._count)]
        m.d.comb += [getattr(self, f"of{warp}").eq(holder.word_of(warp, words)) for warp in range(WARPS)]
        return m


def asking(part: Asked, held: Callable[[random.Random], list[int]], seed: int):
    """A bench that asks many times; ``held`` draws the warp of each place, -1 for none."""
    rng = random.Random(seed)

    async def bench(ctx):
        for _ in range(40):
            own = held(rng)
            words = [rng.randrange(1 << WIDTH) for _ in own]
            number, mask = rng.randrange(WARPS), 1 << rng.randrange(WARPS)
            for place, (warp, word) in enumerate(zip(own, words, strict=True)):
                if hasattr(part, f"place{place}"):
                    ctx.set(getattr(part, f"place{place}"), 0 if warp < 0 else 1 << warp)
                ctx.set(getattr(part, f"word{place}"), word)
            ctx.set(part.number, number)
            ctx.set(part.mask, mask)
            await ctx.delay(1e-7)
            assert ctx.get(part.place) == sum(1 << place for place, warp in enumerate(own) if warp == number)
            holds = [warp >= 0 and bool(mask >> warp & 1) for warp in own]
            assert ctx.get(part.holds) == sum(1 << place for place, one in enumerate(holds) if one)
            for warp in range(WARPS):
                assert ctx.get(getattr(part, f"of{warp}")) == (words[own.index(warp)] if warp in own else 0)

    return bench


def drawn(rng: random.Random) -> list[int]:
    """Warps of the places of a scheduler, each once, and places without one."""
    return [warp if rng.random() < 0.8 else -1 for warp in rng.sample(range(WARPS), PLACES)]


def test_places_of_a_scheduler_go_from_warp_to_warp() -> None:
    part = Asked(PLACES, slots=False)
    run(part, asking(part, drawn, 1), clocked=False)


def test_without_places_every_slot_has_that_of_its_number() -> None:
    part = Asked(WARPS, slots=True)
    run(part, asking(part, lambda _: list(range(WARPS)), 2), clocked=False)
