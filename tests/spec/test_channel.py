"""The channel: one sector per interval, each in the first gap."""

from __future__ import annotations

import random

from warpfile.spec.channel import Channel


def entered(*timed: tuple[int, int], interval: int = 4) -> list[int]:
    """Cycles in which sectors enter that could do so in the first cycle, named in the second one."""
    channel = Channel(interval)
    return [channel.enter(cycle, now) for cycle, now in timed]


def test_sectors_that_come_together_enter_one_interval_apart() -> None:
    assert entered((10, 10), (10, 10), (11, 11), (30, 30)) == [10, 14, 18, 30]


def test_one_that_comes_before_another_that_was_named_first_enters_before_it() -> None:
    assert entered((100, 0), (0, 0), (50, 50), (100, 60)) == [100, 0, 50, 104]


def test_a_gap_is_at_least_an_interval_on_both_sides() -> None:
    # Between 0 and 9 only 4 and 5 leave four cycles to both; between 0 and 7 nothing does.
    assert entered((0, 0), (9, 0), (1, 1), (1, 1)) == [0, 9, 4, 13]
    assert entered((0, 0), (9, 0), (5, 5), (5, 5)) == [0, 9, 5, 13]
    assert entered((0, 0), (7, 0), (1, 1)) == [0, 7, 11]


def test_a_sector_parts_a_gap() -> None:
    assert entered((0, 0), (30, 0), (12, 1), (1, 1), (1, 1), (1, 1), (1, 1), (1, 1), (1, 1)) == [
        0, 30, 12, 4, 8, 16, 20, 24, 34,
    ]  # fmt: skip


def test_the_channel_is_free_an_interval_after_the_last_one() -> None:
    channel = Channel(4)
    assert channel.free == 0
    assert [(channel.enter(cycle, 0), channel.free) for cycle in (50, 3)] == [(50, 54), (3, 54)]


def test_every_sector_takes_the_first_cycle_that_is_an_interval_from_all_others() -> None:
    rng = random.Random(7)
    for interval in (1, 3, 8):
        channel, taken, now = Channel(interval), list[int](), 0
        for _ in range(400):
            now += rng.choice((0, 0, 1, 5))
            cycle = now + rng.choice((0, 0, 0, 3, 40, 200))
            start = channel.enter(cycle, now)
            assert start == next(
                free for free in range(cycle, 1 << 20) if all(abs(free - other) >= interval for other in taken)
            )
            taken.append(start)
