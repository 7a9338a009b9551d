"""The scheduler `owners_first` chooses as docs/schemes/owf.md, section 8, says; and one that errs is found."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.hdl.rf.packed.bench import run
from warpfile.hdl.scheduler.owners_first.scheduler import OwnersFirst
from warpfile.schemes import find

WARPS = 5


class Page:
    """The class of a warp, then the last issuer, then the warp that was launched first."""

    def __init__(self) -> None:
        self.launched: list[int] = list(range(WARPS))  #: oldest first
        self.last: int | None = None
        self.reached: Counter = Counter()

    def choose(self, eligible: set[int], owners: set[int], sharers: set[int]) -> int | None:
        classes = (eligible & owners, eligible - owners - sharers, eligible & sharers)
        among = next((some for some in classes if some), set())
        self.reached["owner before others"] += bool(classes[0]) and bool(classes[1])
        self.reached["sharer last"] += bool(classes[1]) and bool(classes[2]) and not classes[0]
        self.reached["last issuer of a lower class"] += self.last in eligible and self.last not in among
        self.reached["last issuer"] += self.last in among and len(among) > 1
        return self.last if self.last in among else min(among, key=self.launched.index, default=None)


def bits(warps: set[int]) -> int:
    return sum(1 << warp for warp in warps)


def simulate(part: OwnersFirst) -> Counter:
    numbers, page = random.Random(3), Page()

    def some(share: float) -> set[int]:
        return {warp for warp in range(WARPS) if numbers.random() < share}

    async def bench(ctx) -> None:
        for warp in page.launched:
            ctx.set(part.launch, 1 << warp)
            await ctx.tick()
        for _ in range(1500):
            eligible, paired, taken = some(0.6), some(0.6), numbers.random() < 0.8
            owners = paired & some(0.4)
            sharers = paired - owners
            chosen = page.choose(eligible, owners, sharers)
            ends = chosen is not None and taken and numbers.random() < 0.1
            launched = numbers.randrange(WARPS) if numbers.random() < 0.1 and not ends else None
            for name, warps in (("eligible", eligible), ("owners", owners), ("sharers", sharers)):
                ctx.set(getattr(part, name), bits(warps))
            ctx.set(part.taken, bool(taken and eligible))
            ctx.set(part.exit, 1 << chosen if ends else 0)
            ctx.set(part.launch, 0 if launched is None else 1 << launched)
            assert ctx.get(part.grant) == (0 if chosen is None else 1 << chosen), "the warp of the page"
            if taken and chosen is not None:
                page.last = None if ends else chosen
            if launched is not None:
                page.launched.remove(launched)
                page.launched.append(launched)
            await ctx.tick()

    run(part, bench)
    return page.reached


def configuration():
    return find("owf").configuration("tiny", warps=WARPS, lanes=1)


def test_the_choice_is_that_of_the_page() -> None:
    reached = simulate(OwnersFirst(configuration()))
    assert len(reached) == 4 and min(reached.values()) > 20


def test_without_owners_and_sharers_it_is_gto() -> None:
    part = OwnersFirst(configuration())

    async def bench(ctx) -> None:
        for warp in (2, 0, 1):  # launched in this order
            ctx.set(part.launch, 1 << warp)
            await ctx.tick()
        ctx.set(part.launch, 0)
        ctx.set(part.taken, 1)
        for eligible, granted in ((0b011, 0b001), (0b111, 0b001), (0b110, 0b100), (0b111, 0b100), (0, 0)):
            ctx.set(part.eligible, eligible)
            ctx.set(part.taken, eligible != 0)
            assert ctx.get(part.grant) == granted
            await ctx.tick()

    run(part, bench)


class LastIssuerFirst(OwnersFirst):
    """The last issuer goes before owners."""

    def _goes_before(self, one, other, in_class):
        return in_class


class SharersLikeOthers(OwnersFirst):
    """It knows owners alone."""

    def _goes_before(self, one, other, in_class):
        before, after = self.owners[one] & ~self.owners[other], self.owners[other] & ~self.owners[one]
        return before | (in_class & ~after)


@pytest.mark.parametrize("wrong", [LastIssuerFirst, SharersLikeOthers])
def test_a_scheduler_that_errs_is_found(wrong: type[OwnersFirst]) -> None:
    with pytest.raises(AssertionError, match="the warp of the page"):
        simulate(wrong(configuration()))
