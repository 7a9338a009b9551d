"""Entries of a caching unit: the order of replacement, the order of use, the LFSR."""

from __future__ import annotations

import random

import pytest

from tests.golden.collectors.malekeh.scenario import malekeh_config
from tests.golden.collectors.malekeh.view import UnitView
from warpfile.golden.collectors.malekeh.entries import Entries, shifted

CFG = malekeh_config(source_slots=3, unit_entries=4)


def filled(near: int, lfsr: int = 1, registers: int = 4) -> Entries:
    """Entry i has register 10 + i, for the first ``registers`` entries; used in this order; these are near."""
    entries = Entries(CFG, lfsr)
    for entry in range(registers):
        entries.replace(entry, 10 + entry)
        entries.mark(entry, near >> entry & 1)
    return entries


def test_at_reset_nothing_is_kept() -> None:
    entries = Entries(CFG, 3)
    assert (entries.used, entries.near, entries.locked, entries.order, entries.lfsr) == (0, 0, 0, [0, 1, 2, 3], 3)
    assert entries.tags == (1 << 32) - 1
    assert entries.replaceable() == [0, 1, 2, 3]


def test_empty_entries_are_replaced_by_index_before_any_other() -> None:
    entries = filled(near=0b0000)
    entries.drop(2)
    entries.drop(1)
    assert entries.replaceable()[:2] == [1, 2]


@pytest.mark.parametrize(
    ("lfsr", "order"), [(0b100, [0, 1, 2, 3]), (0b101, [1, 2, 3, 0]), (0b110, [2, 3, 0, 1]), (0b111, [3, 0, 1, 2])]
)
def test_far_entries_are_replaced_from_the_lfsr_upwards_cyclically(lfsr: int, order: list[int]) -> None:
    assert filled(near=0b0000, lfsr=lfsr).replaceable() == order


def test_the_lfsr_starts_between_far_entries_too() -> None:
    assert filled(near=0b0100, lfsr=2).replaceable() == [3, 0, 1, 2]


def test_near_entries_are_replaced_last_the_least_recently_used_first() -> None:
    entries = filled(near=0b1111)
    entries.mark(1, 1)
    assert entries.replaceable() == [0, 2, 3, 1]
    entries.mark(0, 0)
    assert entries.replaceable() == [0, 2, 3, 1]
    entries.mark(3, 0)
    assert entries.replaceable() == [3, 0, 2, 1]


def test_locked_entries_are_not_replaceable() -> None:
    entries = filled(near=0b0011)
    entries.locked = 0b1001
    assert entries.replaceable() == [2, 1]
    entries.locked = 0b1111
    assert entries.replaceable() == []


def test_an_emptied_entry_is_far_and_keeps_its_place_in_the_order_of_use() -> None:
    entries = filled(near=0b1111)
    entries.drop(0)
    assert (entries.used, entries.near, entries.order) == (0b1110, 0b1110, [0, 1, 2, 3])
    assert 10 not in entries.where
    entries.clear()
    assert (entries.used, entries.near, entries.order, entries.where) == (0, 0, [0, 1, 2, 3], {})


def test_the_lfsr_steps_only_in_cycles_in_which_a_far_register_is_replaced() -> None:
    entries = filled(near=0b0001, lfsr=1)
    entries.edge()
    assert entries.lfsr == 1  # empty entries were filled
    entries.replace(0, 20)  # near
    entries.edge()
    assert entries.lfsr == 1
    entries.replace(1, 21)
    entries.replace(2, 22)
    assert entries.lfsr == 1
    entries.edge()
    assert entries.lfsr == 0xB8  # 1 shifted out, once
    entries.clear()
    entries.edge()
    assert entries.lfsr == 0xB8


def test_the_lfsr_visits_all_states_but_zero() -> None:
    # x^8 + x^6 + x^5 + x^4 + 1 is primitive.
    assert [shifted(0b10), shifted(0b11), shifted(0x80)] == [0b1, 0xB9, 0x40]
    state, seen = 1, set()
    while state not in seen:
        seen.add(state)
        state = shifted(state)
    assert len(seen) == 255 and state == 1


def test_a_locked_entry_is_neither_replaced_nor_dropped() -> None:
    entries = filled(near=0)
    entries.locked = 1
    with pytest.raises(AssertionError, match="replaced while it is locked"):
        entries.replace(0, 30)
    with pytest.raises(AssertionError, match="dropped while it is locked"):
        entries.drop(0)


@pytest.mark.parametrize("seed", range(50))
def test_the_order_of_replacement_is_one_sort(seed: int) -> None:
    rng = random.Random(seed)
    count = rng.choice((2, 4, 8, 16))
    entries = Entries(malekeh_config(source_slots=2, unit_entries=count), rng.randint(1, 255))
    for entry in rng.sample(range(count), rng.randint(0, count)):
        entries.replace(entry, 100 + entry)
        entries.mark(entry, rng.getrandbits(1))
    entries.locked = entries.used & rng.getrandbits(count)
    view = UnitView(
        owner=0,
        busy=False,
        registers=[100 + e if entries.used >> e & 1 else -1 for e in range(count)],
        near=[bool(entries.near >> e & 1) for e in range(count)],
        locked=[bool(entries.locked >> e & 1) for e in range(count)],
        rank=[entries.order.index(e) for e in range(count)],
        ready=0,
        lfsr=entries.lfsr,
    )
    assert entries.replaceable() == view.replaceable()
