"""The scheduler `las` chooses as section 19 of docs/schemes/larf.md says, at random and with a scheduler that errs."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from amaranth import Const

from tests.hdl.rf.packed.bench import run
from warpfile.hdl.scheduler.las.scheduler import Las
from warpfile.schemes import find

WARPS, LIMIT = 5, 3


def configuration():
    return find("larf+las").configuration("tiny", warps=WARPS, flag_limit=LIMIT, lanes=1)


class Page:
    """Flags, one pointer, a count of issues of flagged warps in a row."""

    def __init__(self) -> None:
        self.flags, self.pointer, self.in_a_row, self.reached = set(), 0, 0, Counter()

    def choose(self, eligible: set[int]) -> int | None:
        unflagged, flagged = eligible - self.flags, eligible & self.flags
        among = flagged or eligible
        if self.in_a_row == LIMIT and unflagged:
            among = unflagged
            self.reached["limit"] += bool(flagged)
        elif flagged:
            self.reached["flagged goes first"] += bool(unflagged)
        return min(among, key=lambda warp: (warp - self.pointer) % WARPS) if among else None

    def change(self, issuer: int | None, lookahead_hit: set[int], cleared: set[int], shareable: set[int]) -> None:
        if issuer is not None:
            self.pointer = (issuer + 1) % WARPS
            self.in_a_row = min(self.in_a_row + 1, LIMIT) if issuer in self.flags else 0
        gone = cleared | ({issuer} & shareable)
        self.flags = (self.flags | lookahead_hit) - gone


def bits(warps: set[int]) -> int:
    return sum(1 << warp for warp in warps)


def simulate(part: Las) -> Counter:
    numbers, page = random.Random(5), Page()

    def some(share: float) -> set[int]:
        return {warp for warp in range(WARPS) if numbers.random() < share}

    async def bench(ctx) -> None:
        for _ in range(1500):
            eligible, lookahead_hit, launched = some(0.5), some(0.2), some(0.03)
            exits, shareable, taken = some(0.03), some(0.3), numbers.random() < 0.8
            chosen = page.choose(eligible)
            given = {"eligible": eligible, "lookahead_hit": lookahead_hit, "launch": launched, "exit": exits}
            for name, warps in given.items():
                ctx.set(getattr(part, name), bits(warps))
            ctx.set(part.shareable, bits(shareable))
            ctx.set(part.taken, bool(taken and eligible))
            assert ctx.get(part.flagged) == bits(page.flags)
            assert ctx.get(part.grant) == (0 if chosen is None else 1 << chosen), "the warp of the page"
            page.change(chosen if taken else None, lookahead_hit, launched | exits, shareable)
            await ctx.tick()

    run(part, bench)
    return page.reached


def test_the_choice_is_that_of_the_page() -> None:
    reached = simulate(Las(configuration()))
    assert set(reached) == {"limit", "flagged goes first"} and min(reached.values()) > 20


class Tireless(Las):
    """It forgets the limit in its choice."""

    def _before(self, m, above, tired):
        return super()._before(m, above, Const(0, 1))


class FromZero(Las):
    """Its pointer stays at the first warp."""

    def _before(self, m, above, tired):
        return super()._before(m, Const(0, WARPS), tired)


@pytest.mark.parametrize("wrong", [Tireless, FromZero])
def test_a_scheduler_that_errs_is_found(wrong: type[Las]) -> None:
    with pytest.raises(AssertionError, match="the warp of the page"):
        simulate(wrong(configuration()))
