"""Sizes of values (docs/schemes/corf.md, sections 3 and 13)."""

from __future__ import annotations

import random

import pytest

from tests.golden.rf.packed.reading import bytes_of
from tests.golden.rf.packed.scenario import make
from warpfile.golden.rf.packed.widths import Widths

WORKED = {
    0x7F: 1, 0x80: 2, 0xFF: 2, 0xFFFFFFFF: 1, 0xFFFFFF80: 1, 0xFFFFFF7F: 2, 0x7FFF: 2, 0x8000: 3, 0xFFFF8000: 2,
    0xFFFF7FFF: 3, 0x7FFFFF: 3, 0x800000: 4, 0xFF800000: 3, 0xFF7FFFFF: 4, 0x80000000: 4, 0x3F800000: 4,
}  # fmt: skip


def row(*lanes: int) -> int:
    """Lanes side by side."""
    return sum((value & 0xFFFFFFFF) << 32 * lane for lane, value in enumerate(lanes))


@pytest.mark.parametrize(("value", "size"), WORKED.items(), ids=[f"{value:#x}" for value in WORKED])
def test_the_worked_examples_hold_in_every_lane(value: int, size: int) -> None:
    widths = Widths(make(lanes=4))
    for lane in range(4):
        assert widths.size(value << 32 * lane, 0b1111) == size
        assert widths.size(value << 32 * lane, 1 << lane) == size
        assert widths.size(value << 32 * lane, 0b1111 ^ 1 << lane) == 1
        assert bytes_of(value << 32 * lane, 0b1111, 4) == size


def test_lanes_of_both_signs_share_a_size() -> None:
    assert Widths(make(lanes=4)).size(row(5, -3, 200, 0), 0b111) == 2


def test_lanes_that_are_not_built_need_nothing() -> None:
    assert Widths(make(lanes=2)).size(row(1, 2), 0xFFFFFFFC) == 1


@pytest.mark.parametrize("lanes", [1, 4, 32])
def test_a_size_is_the_least_of_which_every_lane_is_the_extension(lanes: int) -> None:
    rng, widths = random.Random(lanes), Widths(make(lanes=lanes))
    found = set()
    for _ in range(2000):
        bits = rng.randrange(1, 33)
        data = row(*[rng.choice((1, -1)) * rng.getrandbits(bits) for _ in range(lanes)])
        mask = rng.choice((0xFFFFFFFF, rng.getrandbits(32), 1 << rng.randrange(lanes)))
        found.add(widths.size(data, mask))
        assert widths.size(data, mask) == bytes_of(data, mask, lanes)
    assert found == {1, 2, 3, 4}


def test_more_lanes_never_need_less() -> None:
    rng, widths = random.Random(1), Widths(make(lanes=4))
    for _ in range(500):
        data, mask = rng.getrandbits(rng.randrange(8, 129)), rng.getrandbits(4)
        assert widths.size(data, mask) <= widths.size(data, 15)
