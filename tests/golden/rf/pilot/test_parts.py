"""Swapping table, sorter and epochs by themselves: worked examples, and their rules on random input."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpfile.golden.rf.pilot.epochs import Epochs
from warpfile.golden.rf.pilot.sorter import Sorter
from warpfile.golden.rf.pilot.swap import SwapTable


def table(members: list[int], hot: int = 4) -> SwapTable:
    found = SwapTable(hot)
    for step in range(len(members)):
        found.install(members, step)
    return found


@pytest.mark.parametrize(
    ("members", "pairs", "homes"),
    [
        ([], [], {0: 0, 4: 4, 8: 8, 5: 5}),
        ([4, 5, 6, 7], [(0, 4), (1, 5), (2, 6), (3, 7)], {0: 4, 4: 0, 8: 8, 5: 1}),
        ([8, 9, 10, 11], [(0, 8), (1, 9), (2, 10), (3, 11)], {0: 8, 4: 4, 8: 0, 5: 5}),
        ([2, 0, 8, 5], [(1, 8), (3, 5)], {0: 0, 4: 4, 8: 1, 5: 3}),
        ([1, 2, 9, 0], [(3, 9)], {9: 3, 3: 9, 0: 0}),
        ([-1, 62, -1, 0], [(1, 62)], {62: 1, 1: 62, 0: 0}),
        ([-1, -1, -1, -1], [], {0: 0}),
    ],
)
def test_table(members: list[int], pairs: list[tuple[int, int]], homes: dict[int, int]) -> None:
    found = table(members)
    assert found.pairs == pairs
    assert {register: found.home(register) for register in homes} == homes
    assert found.entries == [entry for low, high in pairs for entry in ((low, high), (high, low))]


def test_a_cleared_table_swaps_nothing() -> None:
    found = table([4, 5, 6, 7])
    found.clear()
    assert (found.entries, found.home(4), found.hits(4)) == ([], 4, False)


HOT_LISTS = st.integers(1, 6).flatmap(
    lambda hot: st.tuples(
        st.just(hot), st.lists(st.integers(0, 20), min_size=hot, max_size=hot, unique=True), st.integers(0, hot)
    )
)


@given(HOT_LISTS)
def test_the_map_is_its_own_inverse_and_brings_the_hot_registers_to_the_front(case: tuple[int, list[int], int]) -> None:
    hot, members, missing = case
    members = members[: hot - missing] + [-1] * missing
    found = table(members, hot)
    homes = [found.home(register) for register in range(21)]
    assert sorted(homes) == list(range(21))
    assert [homes[home] for home in homes] == list(range(21))
    assert all(found.home(member) < hot for member in members if member >= 0)
    assert len(found.entries) <= 2 * hot
    assert all(found.hits(register) == (found.home(register) != register) for register in range(21))


def top(counts: list[int], size: int = 4) -> list[int]:
    sorter = Sorter(size)
    for register, count in enumerate(counts):
        sorter.take(register, count)
    return sorter.members


def test_equal_counts_keep_the_order_of_the_registers() -> None:
    assert top([40, 0, 50, 0, 0, 7, 0, 0, 40]) == [2, 0, 8, 5]


def test_registers_without_a_count_fill_up() -> None:
    assert top([0] * 12) == [0, 1, 2, 3]
    assert top([0, 0, 0, 9, 0]) == [3, 0, 1, 2]


def test_a_kernel_of_few_registers_leaves_slots_empty() -> None:
    assert top([1, 2]) == [1, 0, -1, -1]


@given(st.lists(st.integers(0, 5), max_size=30), st.integers(1, 6))
def test_the_sorter_is_a_stable_sort(counts: list[int], size: int) -> None:
    order = sorted(range(len(counts)), key=lambda register: (-counts[register], register))
    assert top(counts, size) == (order + [-1] * size)[:size]


def modes(issued: list[int], length: int = 50, threshold: int = 10) -> list[bool]:
    """Mode of every epoch; ``issued`` per epoch, as early as possible."""
    epochs, found = Epochs(length, threshold), []
    for count in issued:
        found.append(epochs.high)
        for cycle in range(length):
            assert (epochs.cycle, epochs.high) == (cycle, found[-1])
            epochs.edge(cycle < count)
    return [*found, epochs.high]


def test_the_mode_of_an_epoch_follows_from_the_one_before() -> None:
    assert modes([10, 9, 0, 50]) == [True, True, False, False, True]


def test_the_last_cycle_of_an_epoch_counts() -> None:
    epochs = Epochs(8, 1)
    for cycle in range(8):
        epochs.edge(cycle == 7)
    assert epochs.high
    assert (epochs.issued, epochs.cycle) == (0, 0)


def test_the_threshold_is_met_exactly() -> None:
    rng = random.Random(4)
    for _ in range(20):
        threshold = rng.randrange(1, 49)
        assert modes([threshold - 1, threshold, threshold + 1], threshold=threshold) == [True, False, True, True]
