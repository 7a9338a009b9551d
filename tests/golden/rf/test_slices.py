"""Free slices, against the same said naively; and the table's ports."""

from __future__ import annotations

import random

import pytest

from tests.golden.rf.packed.reading import Place, Rows
from warpfile.golden.rf.renaming import UNMAPPED, Mapped, RenamingTable
from warpfile.golden.rf.slices import FreeSlices


@pytest.mark.parametrize("seed", range(6))
def test_searches_find_what_a_walk_over_all_rows_finds(seed: int) -> None:
    """One step per cycle: a register of a random size comes, grows or goes."""
    rng = random.Random(seed)
    banks, rows = rng.choice(((1, 8), (2, 4), (4, 4)))
    free, plain = FreeSlices(banks, rows, 4), Rows(banks, rows)
    where: dict[int, Mapped] = {}
    for _ in range(400):
        name, home, size = rng.randrange(banks * rows), rng.randrange(banks), rng.randint(1, 4)
        own = where.pop(name, UNMAPPED)
        partner = rng.choice([*where.values(), Mapped(rng.randrange(banks), rng.randrange(rows), 1)])
        mine = _place(own)
        assert _place(free.in_row(partner.bank, partner.row, size, own)) == plain.beside(_place(partner), size, mine)
        assert _place(free.empty_row(home, size, own)) == plain.alone(home, size, mine)
        assert _place(free.lowest_row(home, (1 << size) - 1, own)) == plain.at_side(home, size, mine, False)
        assert _place(free.lowest_row(home, (1 << size) - 1 << 4 - size, own)) == plain.at_side(home, size, mine, True)
        assert _place(free.first_fit(home, 1, size, own)) == plain.first_fit(home, size, mine, True)
        found = free.first_fit(home, banks, size, own)
        assert _place(found) == plain.first_fit(home, size, mine)
        _step(rng, free, plain, name, own, found)
        if rng.random() < 0.7 and found.mask:
            where[name] = found
        else:
            _leave(free, plain, found)
        assert free.used_rows == plain.used() and free.reserved_rows == len(plain.reserved)


def _place(mapped: Mapped) -> Place:
    return mapped.bank, mapped.row, mapped.mask


def _step(rng: random.Random, free: FreeSlices, plain: Rows, name: int, own: Mapped, found: Mapped) -> None:
    reserves = rng.random() < 0.3 and bool(found.mask)
    opened = rng.choice(sorted(plain.reserved)) if plain.reserved and rng.random() < 0.2 and not reserves else None
    free.release(own)
    if found.mask:
        free.take(found)
    if reserves:
        free.reserve(found)
    if opened:
        free.unreserve(Mapped(*opened, 0))
    free.edge()
    there = _place(found)
    plain.change(
        [_place(own)],
        [(name, there)] if found.mask else [],
        there if reserves else None,
        (*opened, 0) if opened else None,
    )


def _leave(free: FreeSlices, plain: Rows, found: Mapped) -> None:
    free.release(found)
    free.edge()
    plain.change([_place(found)], [])


@pytest.mark.parametrize("seed", range(4))
def test_as_many_registers_as_rows_always_find_slices(seed: int) -> None:
    """Whatever their sizes and reservations, and in one bank as well as in several."""
    rng = random.Random(seed)
    banks, rows = ((1, 8), (1, 16), (2, 8), (4, 4))[seed]
    free = FreeSlices(banks, rows, 4)
    where = [UNMAPPED] * (banks * rows)
    for _ in range(3000):
        name, size = rng.randrange(len(where)), rng.choice((1, 1, 2, 3, 4))
        own, home = where[name], name % banks
        found = free.empty_row(home, size, own) if rng.random() < 0.5 else free.first_fit(home, banks, size, own)
        assert found.mask, "some row has no owner"
        free.release(own)
        free.take(found)
        if rng.random() < 0.5 and free.is_free(Mapped(found.bank, found.row, 15)):
            free.reserve(found)
        where[name] = found
        free.edge()
        if rng.random() < 0.1:
            name = rng.randrange(len(where))
            free.release(where[name])
            where[name] = UNMAPPED
            free.edge()


def test_slices_that_are_taken_or_freed_twice_are_found_out() -> None:
    free = FreeSlices(1, 2, 4)
    free.take(Mapped(0, 1, 0b0110))
    free.edge()
    free.take(Mapped(0, 1, 0b1100))
    with pytest.raises(AssertionError, match="slice 2 of row 1 in bank 0 is taken twice"):
        free.edge()
    other = FreeSlices(1, 2, 4)
    other.release(Mapped(0, 0, 0b0001))
    with pytest.raises(AssertionError, match="slice 0 of row 0 in bank 0 is free already"):
        other.edge()


def test_a_memory_has_two_ports_and_serves_all_reads_of_somebody_or_none() -> None:
    table = RenamingTable(2, 4, 8)
    assert table.memory(1, 3) == 0 and table.memory(3, 2) == 1
    table.write(0, 1, Mapped(1, 5, 3))
    assert table.read_both(0, 3, 5) is None, "two of memory 1, which has one port left"
    assert table.read_both(0, 3, 2) == (UNMAPPED, UNMAPPED)
    assert table.read(1, 2) is None and table.read(1, 3) == UNMAPPED and table.read(1, 5) is None
    assert table.reads == 2 | 1 << 2
    assert table.entry(0, 1) == UNMAPPED and table.writes == 1 << 2
    table.edge()
    assert table.entry(0, 1) == Mapped(1, 5, 3) and table.reads == table.writes == 0
    assert table.read(0, 1) == Mapped(1, 5, 3) and table.read_both(0, 3, 5) is None


def test_a_register_is_unmapped_at_the_edge_and_without_a_port() -> None:
    table = RenamingTable(2, 4, 8)
    for register in (1, 6):
        table.write(3, register, Mapped(1, 5, 3))
        table.edge()
    assert table.mapped(3) == 1 << 1 | 1 << 6 and not table.mapped(2)
    table.unmap(3, 1)
    assert table.mapped(3) == 1 << 1 | 1 << 6 and not table.writes
    table.edge()
    assert table.mapped(3) == 1 << 6 and table.entry(3, 1) == UNMAPPED
