"""What a stored copy is worth, lane by lane."""

from __future__ import annotations

import random

import pytest

from warpfile.golden.copies import ALL_LANES, POISON, merged, passed_by, row_in_lanes

LOW, HIGH = 0x0000FFFF, 0xFFFF0000


def test_a_copy_holds_its_row_for_all_lanes() -> None:
    assert row_in_lanes(7, ALL_LANES) == 7
    assert row_in_lanes(-1, ALL_LANES) == -1


def test_poison_holds_nothing() -> None:
    assert POISON < -1
    assert row_in_lanes(POISON, 1) == row_in_lanes(POISON, ALL_LANES) == POISON


def test_a_copy_that_a_result_passes_by_is_right_in_the_other_lanes() -> None:
    copy = passed_by(7, 7, 8, LOW)
    assert row_in_lanes(copy, HIGH) == 8
    assert row_in_lanes(copy, LOW) == row_in_lanes(copy, ALL_LANES) == row_in_lanes(copy, 1) == POISON


def test_a_result_makes_its_own_lanes_right_and_no_others() -> None:
    assert merged(7, 7, 8, LOW) == 8
    assert row_in_lanes(merged(POISON, 7, 8, LOW), LOW) == 8
    assert row_in_lanes(merged(POISON, 7, 8, LOW), HIGH) == POISON
    assert merged(passed_by(7, 7, 8, LOW), 8, 9, LOW) == 9


def test_a_copy_of_another_value_is_right_nowhere() -> None:
    copy = merged(5, 7, 8, LOW)
    assert (row_in_lanes(copy, LOW), row_in_lanes(copy, HIGH)) == (8, POISON)


def test_a_register_that_was_never_written_may_hold_anything() -> None:
    assert merged(123, -1, 8, LOW) == 8
    assert row_in_lanes(passed_by(123, -1, 8, LOW), HIGH) == 8


@pytest.mark.parametrize("seed", range(20))
def test_copies_agree_with_lanes_that_are_kept_one_by_one(seed: int) -> None:
    rng = random.Random(seed)
    value, latest, copies = 0, [0] * 32, [(0, [0] * 32), (0, [0] * 32)]
    for row in range(1, 30):
        mask = rng.choice((ALL_LANES, LOW, HIGH, rng.getrandbits(32) | 1))
        latest = [row if mask >> lane & 1 else old for lane, old in enumerate(latest)]
        for number, (copy, lanes) in enumerate(copies):
            if rng.random() < 0.5:
                lanes = [row if mask >> lane & 1 else old for lane, old in enumerate(lanes)]
                copies[number] = merged(copy, value, row, mask), lanes
            else:
                copies[number] = passed_by(copy, value, row, mask), lanes
        value = row
        for copy, lanes in copies:
            reader = rng.getrandbits(32) | 1
            right = all(lanes[lane] == latest[lane] for lane in range(32) if reader >> lane & 1)
            assert row_in_lanes(copy, reader) == (row if right else POISON)
