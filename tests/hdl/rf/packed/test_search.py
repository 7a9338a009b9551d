"""Where a value goes: free slices of a bank, first fit, pairs, sides; against the page in plain Python."""

from __future__ import annotations

import random

import pytest

from tests.hdl.rf.packed.bench import config, run, whole
from warpfile.hdl.rf.packed.allocation import Allocation

LEFT, RIGHT = 2, 1


@pytest.fixture(autouse=True)
def simulated(monkeypatch) -> None:
    whole(monkeypatch)


class Page:
    """Sections 5 and 6 of docs/schemes/corf.md: free slices of every bank and row, reservations, searches."""

    def __init__(self, cfg) -> None:
        self.cfg = cfg
        self.free = [[15] * cfg.rows for _ in range(cfg.banks)]
        self.reserved: set[tuple[int, int]] = set()

    def search(self, size, home, old, paired, partner, side):
        """Place, mask, whether it is reserved; None for none."""
        self.room = [list(rows) for rows in self.free]
        if old[2]:
            self.room[old[0]][old[1]] |= old[2]
        self.kept = {one for one in self.reserved if self.room[one[0]][one[1]] != 15}
        if self.cfg.allocation == "pairs" and paired:
            bank, row, mask = partner
            if mask:
                free = self.room[bank][row]
                fits = [one for one in masks(size) if not one & ~free]
                if fits:
                    return bank, row, fits[-1] if fits[-1] == masks(size)[-1] else fits[0], False
            else:
                for bank, row in self.order(home):
                    if self.room[bank][row] == 15:
                        return bank, row, masks(size)[0], size < 4
        if self.cfg.allocation == "sides" and side in (LEFT, RIGHT):
            wanted = masks(size)[0 if side == RIGHT else -1]
            for bank, row in self.order(home):
                if not wanted & ~self.room[bank][row]:
                    return bank, row, wanted, False
        for bank, row in self.order(home):
            fits = [one for one in masks(size) if not one & ~self.room[bank][row]]
            if (bank, row) not in self.kept and fits:
                return bank, row, fits[0], False
        return None

    def order(self, home):
        banks = (
            [home]
            if self.cfg.allocation == "sides"
            else [(home + far) % self.cfg.banks for far in range(self.cfg.banks)]
        )
        return [(bank, row) for bank in banks for row in range(self.cfg.rows)]

    def change(self, freed, taken, reserve, unreserve) -> None:
        """The end of a cycle."""
        before = [list(rows) for rows in self.free]
        for bank, row, mask in freed:
            self.free[bank][row] |= mask
        if reserve:
            self.reserved.add(taken[:2])
        self.reserved.discard(unreserve)
        whole = {(b, r) for b, r in self.reserved if self.free[b][r] == 15 and before[b][r] != 15}
        self.reserved -= whole
        if taken:
            self.free[taken[0]][taken[1]] &= ~taken[2]


def masks(size: int) -> list[int]:
    return [(1 << size) - 1 << anchor for anchor in range(5 - size)]


def wanted(part: Allocation, port: int, size: int, home: int, old: tuple[int, int, int]) -> list:
    """Inputs of a port that looks for so many bytes, by signal; ``old``: what it has, as bank, row and mask."""
    place = part.old_places[port]
    inputs = [(part.sizes[port], 1 << size - 1), (part.homes[port], home)]
    return [*inputs, (place.bank, old[0]), (place.row, old[1]), (part.old_masks[port], old[2])]


def dying(part: Allocation, dies: tuple[int, int, int]) -> list:
    """Inputs of the release."""
    gone = part.release_place
    return [(gone.bank, dies[0]), (gone.row, dies[1]), (part.release_mask, dies[2])]


def partnered(part: Allocation, port: int, paired: bool, partner: tuple[int, int, int]) -> list:
    """Inputs of a register's partner."""
    place = part.partner_places[port]
    inputs = [(part.with_partner, paired << port), (part.partner_masks[port], partner[2])]
    return [*inputs, (place.bank, partner[0]), (place.row, partner[1])]


@pytest.mark.parametrize("scheme", ["virtualization", "packing", "corf", "corf_plus"])
def test_searches_find_what_the_page_says(scheme: str) -> None:
    cfg = config(scheme, rows=4)
    part, numbers, page = Allocation(cfg), random.Random(7), Page(cfg)

    async def bench(ctx) -> None:
        owners: list[tuple[int, int, int]] = []
        found_none = reserved = 0
        for _ in range(300):
            old = owners.pop(numbers.randrange(len(owners))) if owners and numbers.random() < 0.5 else (0, 0, 0)
            dies = owners.pop(numbers.randrange(len(owners))) if owners and numbers.random() < 0.4 else (0, 0, 0)
            partner = numbers.choice([*owners, old, (numbers.randrange(cfg.banks), 1, 0)])
            size = numbers.randint(1, 4) if cfg.packing else 4
            home, paired, side = numbers.randrange(cfg.banks), numbers.random() < 0.6, numbers.randrange(4)
            if cfg.allocation == "sides" and old[2]:
                home = old[0]
            port = numbers.randrange(cfg.write_ports)
            found = part.places[port]
            inputs = wanted(part, port, size, home, old) + dying(part, dies)
            if cfg.allocation == "pairs":
                inputs += partnered(part, port, paired, partner)
            if cfg.allocation == "sides":
                inputs.append((part.sides[port], side))
            for signal, value in inputs:
                ctx.set(signal, int(value))
            expected = page.search(size, home, old, paired, partner, side)
            ctx.set(part.searching, 1 << port)
            ctx.set(part.takes, expected is not None)
            ctx.set(part.freed[port], old[2] if expected else 0)
            assert ctx.get(part.found) >> port & 1 == (expected is not None)
            freed = [dies, old] if expected else [dies]
            if expected:
                assert tuple(map(ctx.get, (found.bank, found.row, part.masks[port]))) == expected[:3]
                owners.append(expected[:3])
                reserved += expected[3]
            else:
                owners += [old] if old[2] else []
            lost = partner[:2] if expected and cfg.allocation == "pairs" and paired and partner[2] else None
            page.change(freed, expected[:3] if expected else None, expected and expected[3], lost)
            found_none += expected is None
            await ctx.tick()
            ctx.set(part.freed[port], 0)
            ctx.set(part.old_masks[port], 0)
            assert ctx.get(part.used_rows) == sum(free != 15 for rows in page.free for free in rows)
            if cfg.allocation == "pairs":
                assert ctx.get(part.reserved_rows) == len(page.reserved)
        assert found_none and (reserved or cfg.allocation != "pairs")

    run(part, bench)


def test_the_example_of_the_page_is_placed_as_the_figure_shows() -> None:
    """One bank with three rows: r2, r4 RIGHT, r3, r5 LEFT, r1 none; sizes 2, 3, 3, 1, 1."""
    cfg = config("corf_plus", rows=4)
    part = Allocation(cfg)

    async def bench(ctx) -> None:
        ctx.set(part.searching, 1)
        ctx.set(part.takes, 1)
        placed = {}
        for register, size, side in ((1, 2, 0), (2, 3, RIGHT), (4, 3, RIGHT), (3, 1, LEFT), (5, 1, LEFT)):
            ctx.set(part.sizes[0], 1 << size - 1)
            ctx.set(part.sides[0], side)
            placed[register] = ctx.get(part.places[0].row), ctx.get(part.masks[0])
            await ctx.tick()
        assert placed == {1: (0, 0b11), 2: (1, 0b111), 4: (2, 0b111), 3: (0, 0b1000), 5: (1, 0b1000)}

    run(part, bench)
