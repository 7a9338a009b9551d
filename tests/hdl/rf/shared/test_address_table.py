"""The address table against its definition in plain Python, entry by entry, on random tables."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest

from tests.hdl.rf.shared.bench import config, run
from warpfile.hdl.rf.shared.address_table import AddressTable

LANES = 4
ALL = (1 << LANES) - 1


@dataclass
class Entry:
    """Sections 6 and 8 of docs/schemes/larf.md, in words."""

    base: int
    stride: int
    mask: int
    row: int

    def distance(self, base: int, stride: int) -> int | None:
        if stride != self.stride:
            return None
        if not stride:
            return 0 if base == self.base else None
        found, rest = divmod(base - self.base, stride)
        return found if not rest and abs(found) < LANES else None

    def cover(self, distance: int, wanted: int) -> int:
        return sum(
            1 << lane
            for lane in range(LANES)
            if wanted >> lane & 1 and 0 <= lane + distance < LANES and self.mask >> lane + distance & 1
        )


class Table:
    """Entries by number, and where the next one goes."""

    def __init__(self, count: int) -> None:
        self.entries: list[Entry | None] = [None] * count
        self.pointer = 0

    def recent(self) -> list[int]:
        """Numbers of the valid entries, the last inserted first."""
        count = len(self.entries)
        order = [(self.pointer - 1 - back) % count for back in range(count)]
        return [at for at in order if self.entries[at]]

    def insert(self, entry: Entry) -> None:
        self.entries[self.pointer] = entry
        self.pointer = (self.pointer + 1) % len(self.entries)

    def found(self, base: int, stride: int, mask: int) -> dict:
        """Class, rows, lanes and distances, by the definition."""
        some = [(at, self.entries[at].distance(base, stride)) for at in self.recent()]
        near = [(at, distance) for at, distance in some if distance is not None]
        for at, distance in near:
            if distance == 0 and self.entries[at].cover(0, mask) == mask:
                return {"perfect": self.entries[at].row}
        ahead = min((pair for pair in near if pair[1] >= 0), key=lambda pair: pair[1], default=None)
        behind = max((pair for pair in near if pair[1] < 0), key=lambda pair: pair[1], default=None)
        covers = [self.entries[pair[0]].cover(pair[1], mask) if pair else 0 for pair in (ahead, behind)]
        rows = [self.entries[pair[0]].row if pair else None for pair in (ahead, behind)]
        distances = [pair[1] if pair else None for pair in (ahead, behind)]
        kind = "miss"
        if covers[0] == mask:
            kind = "lower"
        elif covers[1] == mask:
            kind = "upper"
        elif covers[0] | covers[1] == mask:
            kind = "both"
        return {kind: (rows, distances, covers)}


def vector(ctx, part, base: int, stride: int, mask: int) -> None:
    """The vector of the access, in both stages."""
    for name, value in {"base": base, "stride": stride, "mask": mask}.items():
        ctx.set(getattr(part, name), value)
        ctx.set(getattr(part, f"own_{name}"), value)


def insert(ctx, part, row: int, *, on: bool = True) -> None:
    """The access acts and is inserted with this row, in this cycle, or nothing of it."""
    ctx.set(part.acts, on)
    ctx.set(part.insert, on)
    ctx.set(part.place.row, row)


async def searched(ctx, part, base: int, stride: int, mask: int) -> None:
    """C, S and D of an access, with no load ahead; returns in its first cycle of E."""
    vector(ctx, part, base, stride, mask)
    for stage in ("compare", "select", "decide"):
        ctx.set(getattr(part, stage), 1)
        await ctx.tick()
        ctx.set(getattr(part, stage), 0)


def check(ctx, part, expected: dict) -> str:
    """Compare what the table found; returns the class."""
    (kind, what), *_ = expected.items()
    flags = {name: ctx.get(getattr(part, name)) for name in ("perfect", "lower", "upper", "both")}
    assert flags == {name: name == kind for name in flags}
    places, distances, covers = (ctx.get(getattr(part, name)) for name in ("places", "distances", "covers"))
    if kind == "perfect":
        assert places[0].row == what and ctx.get(part.alive) & 1
    elif kind != "miss":
        rows, apart, lanes = what
        for at in (0, 1):
            if kind in (("lower", "both"), ("upper", "both"))[at]:
                assert places[at].row == rows[at] and ctx.get(part.alive) >> at & 1
                assert distances[at] == apart[at] % LANES
        if kind == "both":
            assert list(covers) == [lanes[0], lanes[1] & ~lanes[0]]
    return kind


@pytest.mark.parametrize(("count", "strides", "greatest"), [(1, "any", 255), (8, "any", 255), (8, "powers", 128)])
def test_a_search_finds_what_the_definition_finds(monkeypatch, count: int, strides: str, greatest: int) -> None:
    part = AddressTable(config(table_entries=count, rows=16, strides=strides))
    numbers, seen = random.Random(count), dict.fromkeys(("perfect", "lower", "upper", "both", "miss"), 0)

    async def bench(ctx) -> None:
        table = Table(count)
        for step in range(400):
            stride = numbers.choice((2, 2, 2, 2, 2, 2, 0, greatest))
            base = 1000 + numbers.choice((0, 0, 0, 0, 0, 1000000)) + numbers.randrange(7) * max(1, stride)
            base += numbers.random() < 0.05
            mask = numbers.choice((ALL, ALL, ALL, 0b0111, 0b0010, 0b1000))
            await searched(ctx, part, base, stride, mask)
            kind = check(ctx, part, table.found(base, stride, mask))
            seen[kind] += 1
            rows = {entry.row for entry in table.entries if entry}
            row = numbers.choice([one for one in range(16) if one not in rows])
            if kind != "perfect":
                insert(ctx, part, row)
                assert ctx.get(part.evicted) == (table.entries[table.pointer] is not None)
                table.insert(Entry(base, stride, mask, row))
            await ctx.tick()
            insert(ctx, part, 0, on=False)
            if rows and step % 7 == 0:
                row = numbers.choice(sorted(rows))
                ctx.set(part.end, 1)
                ctx.set(part.end_place.row, row)
                ends = [entry if entry and entry.row != row else None for entry in table.entries]
                assert ctx.get(part.ended) == (ends != table.entries)
                table.entries = ends
                await ctx.tick()
                ctx.set(part.end, 0)
            assert ctx.get(part.used) == sum(entry is not None for entry in table.entries)
            assert ctx.get(part.pointer) == table.pointer

    run(monkeypatch, part, bench)
    reached = ("perfect", "miss") if count == 1 else tuple(seen)
    assert all(seen[name] > 2 for name in reached), seen


def test_an_entry_that_ends_after_it_was_found_is_not_alive(monkeypatch) -> None:
    part = AddressTable(config(table_entries=2, rows=16))

    async def bench(ctx) -> None:
        for stage in range(4):  # the cycle after C, that after S, that after D, E
            ctx.set(part.restart, 1)
            await ctx.tick()
            ctx.set(part.restart, 0)
            vector(ctx, part, 100, 1, ALL)
            insert(ctx, part, 5)
            await ctx.tick()
            insert(ctx, part, 0, on=False)
            vector(ctx, part, 101, 1, 0b0111)
            for at, name in enumerate(("compare", "select", "decide", None)):
                if name:
                    ctx.set(getattr(part, name), 1)
                ctx.set(part.end, at == stage)
                ctx.set(part.end_place.row, 5)
                if name is None:
                    assert ctx.get(part.lower) and ctx.get(part.alive) & 1 == (stage == 3)
                await ctx.tick()
                if name:
                    ctx.set(getattr(part, name), 0)
                ctx.set(part.end, 0)
            assert not ctx.get(part.alive) & 1

    run(monkeypatch, part, bench)


def test_a_store_ends_the_entries_that_its_range_meets(monkeypatch) -> None:
    part, numbers = AddressTable(config(table_entries=6, rows=16)), random.Random(4)

    async def bench(ctx) -> None:
        ended = 0
        for _ in range(60):
            ctx.set(part.restart, 1)
            await ctx.tick()
            ctx.set(part.restart, 0)
            entries = []
            for row in range(6):
                base, stride = 50 + numbers.randrange(40), numbers.choice((0, 1, 3, 7))
                entries.append((base, base + (LANES - 1) * stride))
                vector(ctx, part, base, stride, ALL)
                insert(ctx, part, row)
                await ctx.tick()
            insert(ctx, part, 0, on=False)
            first = 40 + numbers.randrange(60)
            last = first + numbers.choice((0, 0, 1, 5))
            ctx.set(part.base, first)
            ctx.set(part.last, last)
            ctx.set(part.delete, 1)
            ctx.set(part.ends_range, 1)
            met = [low <= last and high >= first for low, high in entries]
            assert ctx.get(part.deleted) == sum(met)
            ended += sum(met)
            await ctx.tick()
            ctx.set(part.ends_range, 0)
            ctx.set(part.delete, 0)
            assert ctx.get(part.used) == 6 - sum(met)
        assert ended > 30

    run(monkeypatch, part, bench)
