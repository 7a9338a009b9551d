"""Owners against the rules of the page, written down once more as sets."""

import random
from collections import Counter
from dataclasses import dataclass, field

import pytest

from tests.hdl.rf.owf.bench import config
from tests.hdl.rf.packed.bench import run
from warpfile.hdl.rf.owf.owners import Owners


@dataclass
class Page:
    """docs/schemes/owf.md, sections 3 to 7."""

    paired: int  #: slots below have partners
    cta_of: dict[int, int] = field(default_factory=dict)  #: CTA slot of every resident warp
    owners: set[int] = field(default_factory=set)
    stray: bool = False
    reached: Counter = field(default_factory=Counter)

    def holds(self, warp: int, touches: set[int]) -> bool:
        closed = {self.cta_of[owner] for owner in self.owners}
        return warp in touches and warp not in self.owners and self.cta_of[warp] ^ 1 in closed

    def step(self, issued: int | None, touches: set[int], launched: tuple[int, int] | None, ended: int | None) -> None:
        self.stray |= any(owner ^ 1 in self.owners for owner in self.owners)
        if issued in touches:
            self.reached["becomes an owner"] += issued not in self.owners
            self.reached["second owner of a CTA"] += any(
                self.cta_of[owner] == self.cta_of[issued] for owner in self.owners - {issued}
            )
            self.owners.add(issued)
        if ended is not None:
            self.owners.discard(ended)
            del self.cta_of[ended]
        if launched is not None:
            self.cta_of[launched[0]] = launched[1]


def bits(warps) -> int:
    return sum(1 << warp for warp in warps)


def homes(members: int, paired: int, ctas: int) -> dict[int, int]:
    """CTA slot of every warp slot, by the table of section 2."""
    found = {}
    for cta in range(ctas):
        for number in range(members):
            first = cta * members < paired
            slot = cta // 2 * 2 * members + 2 * number + cta % 2 if first else cta * members + number
            found[slot] = cta
    return found


def simulate(part: Owners, cfg, home: dict[int, int], paired: int, cycles: int = 1200) -> Page:
    """Warps come and go in their home slots, issue any beat that is not held, and end where nothing is left."""
    rng, page = random.Random(11), Page(paired)
    free_of_choice = not home

    def check(ctx, touches) -> set[int]:
        held = {warp for warp in page.cta_of if page.holds(warp, touches)}
        assert ctx.get(part.owner) == bits(page.owners)
        assert ctx.get(part.paired) == bits(warp for warp in page.cta_of if warp < paired)
        assert ctx.get(part.hold) == bits(held), "who is held by the page"
        assert ctx.get(part.stray) == page.stray
        page.reached["waits"] += bool(held)
        return held

    async def bench(ctx) -> None:
        for _ in range(cycles):
            names = {warp for warp in page.cta_of if rng.random() < 0.4}
            touches = {warp for warp in names if warp < paired}
            ctx.set(part.names_shared, bits(names))
            able = sorted(page.cta_of.keys() - check(ctx, touches))
            issued = rng.choice(able) if able and rng.random() < 0.8 else None
            ends = issued is not None and issued not in names and rng.random() < 0.3
            slots = range(cfg.warps) if free_of_choice else home
            empty = sorted(set(slots) - page.cta_of.keys())
            slot = rng.choice(empty) if empty and rng.random() < 0.4 else None
            launched = None if slot is None else (slot, rng.randrange(cfg.cta_slots) if free_of_choice else home[slot])
            ctx.set(part.issued, bits(() if issued is None else (issued,)))
            ctx.set(part.exits, bits((issued,) if ends else ()))
            ctx.set(part.launched, bits(() if slot is None else (slot,)))
            ctx.set(part.cta, rng.randrange(1 << cfg.cta_bits) if launched is None else launched[1])
            ctx.set(part.partnered, slot is not None and slot < paired)
            assert ctx.get(part.takes) == (issued in touches - page.owners)
            page.step(issued, touches, launched, issued if ends else None)
            await ctx.tick()

    run(part, bench)
    return page


@pytest.mark.parametrize(
    ("warps", "ctas", "members", "paired"),
    [(8, 4, 2, 8), (8, 3, 2, 4), (7, 3, 1, 2), (8, 3, 2, 0)],
)
def test_owners_are_those_of_the_page(warps, ctas, members, paired) -> None:
    cfg = config(warps=warps, ctas=ctas)
    page = simulate(Owners(cfg), cfg, homes(members, paired, ctas), paired)
    assert not page.stray
    wanted = {"becomes an owner", "waits"} | ({"second owner of a CTA"} if members > 1 else set())
    found = {what for what, count in page.reached.items() if count > 20}
    assert found == (wanted if paired else set())


def test_two_partners_that_are_owners_set_the_error_flag_for_ever() -> None:
    cfg = config(ctas=4)
    page = simulate(Owners(cfg), cfg, {}, 8)
    assert page.stray


class Everybody(Owners):
    """A warp waits for any owner."""

    def _closed(self, m):
        super()._closed(m)
        return self.owner.any().replicate(len(self.owner))


class Open(Owners):
    """No warp waits."""

    def _closed(self, m):
        return super()._closed(m) & 0


@pytest.mark.parametrize("wrong", [Everybody, Open])
def test_owners_that_err_are_found(wrong) -> None:
    cfg = config(ctas=4)
    with pytest.raises(AssertionError, match="who is held by the page"):
        simulate(wrong(cfg), cfg, homes(2, 8, 4), 8)
