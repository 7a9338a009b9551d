"""Values whose lanes hold one word (docs/schemes/scalar.md, section 6)."""

from __future__ import annotations

import random

from tests.golden.rf.scalar.scenario import make
from warpfile.golden.rf.scalar.alike import Alike


def row(*lanes: int) -> int:
    """Lanes side by side."""
    return sum(value << 32 * lane for lane, value in enumerate(lanes))


def test_every_bit_of_every_lane_counts() -> None:
    alike = Alike(make(lanes=4))
    for word in (0, 1, 0x80000000, 0xFFFFFFFF):
        same = row(word, word, word, word)
        assert alike.holds(same, 0b1111)
        assert not any(alike.holds(same ^ 1 << bit, 0b1111) for bit in range(128))


def test_lanes_outside_the_mask_do_not_count() -> None:
    alike = Alike(make(lanes=4))
    assert alike.holds(row(1, 7, 2, 7), 0b1010) and not alike.holds(row(1, 7, 2, 7), 0b1011)
    assert alike.holds(row(1, 2, 3, 4), 0b0100)


def test_lanes_that_are_not_built_do_not_count_and_some_must_be() -> None:
    alike = Alike(make(lanes=2))
    assert alike.holds(row(5, 5), 0xFFFFFFFF) and not alike.holds(row(5, 6), 0xFFFFFFFF)
    assert not alike.holds(row(5, 5), 0xFFFFFFFC) and not alike.holds(row(5, 5), 0)


def test_random_values_are_alike_where_a_set_of_words_has_one() -> None:
    rng, alike, met = random.Random(0), Alike(make(lanes=4)), set()
    for _ in range(300):
        lanes, mask = [rng.choice((3, 3, 3, 4)) for _ in range(4)], rng.randrange(16)
        expected = len({word for lane, word in enumerate(lanes) if mask >> lane & 1}) == 1
        assert alike.holds(row(*lanes), mask) == expected
        met.add(expected)
    assert met == {True, False}
