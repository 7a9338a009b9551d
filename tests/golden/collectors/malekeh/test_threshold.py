"""The wait threshold walks along curves of issued beats over the threshold."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.golden.collectors.malekeh.scenario import malekeh_config
from warpfile.golden.collectors.malekeh.threshold import WaitThreshold, decide, is_large

Curve = Callable[[int], int]


def knee(at: int, base: int = 20000, slope: int = 900) -> Curve:
    """Rises by 10 per step up to the knee and falls by ``slope`` behind it."""
    return lambda x: base + 10 * min(x, at) - slope * max(0, x - at)


def walk(curves: list[Curve], **changes: object) -> list[tuple[int, int, int]]:
    """State, threshold and the next threshold after one interval on each of the curves."""
    machine = WaitThreshold(malekeh_config(**changes))
    steps = []
    for curve in curves:
        state, threshold = machine.state, machine.value
        machine.finish(curve(threshold))
        steps.append((state, threshold, machine.value))
    return steps


FIRST_FOUR = [(1, 0, 4), (2, 4, 8), (2, 8, 12), (2, 12, 16)]
OVER_THE_KNEE = [*FIRST_FOUR, (2, 16, 20), (3, 20, 12)]


def test_it_settles_before_the_knee() -> None:
    expected = [*OVER_THE_KNEE, (4, 12, 8), (4, 8, 12), (5, 12, 12), (6, 12, 12), (6, 12, 12)]
    assert walk([knee(14)] * len(expected)) == expected


def test_it_follows_to_a_narrower_flat_region() -> None:
    expected = [*OVER_THE_KNEE, (4, 12, 8), (4, 8, 4), (4, 4, 0), (4, 0, 4), (5, 4, 4), (6, 4, 4), (6, 4, 4)]
    assert walk([knee(14)] * 4 + [knee(5, 24000)] * (len(expected) - 4)) == expected


def test_it_follows_to_a_wider_flat_region() -> None:
    climb = [(3, 20, 24), (2, 24, 28), (2, 28, 32), (2, 32, 36), (2, 36, 40)]
    descend = [(3, 40, 32), (4, 32, 28), (4, 28, 32), (5, 32, 32), (6, 32, 32)]
    expected = [*FIRST_FOUR, (2, 16, 20), *climb, *descend]
    assert walk([knee(14)] * 4 + [knee(34, 26000)] * (len(expected) - 4)) == expected


def test_a_phase_that_changes_one_interval_later_settles_earlier() -> None:
    steps = walk([knee(14)] * 5 + [knee(34, 26000)] * 10)
    assert steps[4:6] == [(2, 16, 20), (3, 20, 12)]
    assert steps[-1] == (6, 16, 16)


def test_without_a_knee_it_climbs_to_the_end() -> None:
    steps = walk([knee(1000)] * 20)
    assert steps[:16] == [(1 if x == 0 else 2, x, min(63, x + 4)) for x in range(0, 64, 4)]
    assert steps[16:] == [(2, 63, 63), (6, 63, 63), (6, 63, 63), (6, 63, 63)]


def test_a_knee_at_once_leaves_the_threshold_at_zero() -> None:
    expected = [(1, 0, 4), (2, 4, 8), (3, 8, 0), (4, 0, 0), (6, 0, 0), (6, 0, 0)]
    assert walk([knee(0, 40000, 1200)] * 5 + [lambda x: 40000]) == expected


#: The table of section 4: state, change in steps and next state after a small, then after a large difference.
TABLE = [
    (1, (1, 2), (1, 2)),
    (2, (1, 2), (1, 3)),
    (3, (1, 2), (-2, 4)),
    (4, (1, 5), (-1, 4)),
    (5, (0, 6), (-1, 4)),
    (6, (0, 6), (1, 3)),
]


@pytest.mark.parametrize(("state", "small", "large"), TABLE)
@pytest.mark.parametrize("step", [1, 4, 31])
def test_every_transition_of_the_table(state: int, small: tuple[int, int], large: tuple[int, int], step: int) -> None:
    for threshold in range(64):
        for is_big, (change, following) in ((False, small), (True, large)):
            if (state, is_big, threshold) in ((2, False, 63), (4, True, 0)):
                following = 6
            expected = following, sorted((0, threshold + change * step, 63))[1]
            assert decide(state, threshold, is_big, step) == expected


@pytest.mark.parametrize(
    ("beats", "before", "large"),
    [(0, 0, False), (1, 0, True), (31, 32, False), (33, 32, False), (30, 32, True), (34, 32, True), (0, 1, True)],
)
def test_a_difference_is_large_above_one_part_in_32(beats: int, before: int, large: bool) -> None:
    assert is_large(beats, before, 32) == large


@pytest.mark.parametrize(("step", "share"), [(1, 2048), (4, 512), (8, 256), (16, 128), (31, 128)])
def test_all_changes_that_a_bounded_climb_overlooks_are_below_four_percent(step: int, share: int) -> None:
    """63, 16, 8, 4 and 3 steps lead from 0 to 63; each may lose one part in ``share``."""
    steps = {1: 63, 4: 16, 8: 8, 16: 4, 31: 3}[step]
    assert steps / share <= 0.04 < steps / (share // 2), "the smallest power of two"
    cfg = malekeh_config(wait_table="bounded", wait_step=step)
    assert 1 << cfg.large_bits == share
    assert 1 << malekeh_config(wait_step=step).large_bits == 32


def gentle(loss: float) -> Curve:
    """Falls by the same small part of the rate for each of the threshold's units."""
    return lambda x: round(1_000_000 * (1 - loss) ** x)


@pytest.mark.parametrize("step", [4, 8, 16, 31])
@pytest.mark.parametrize("loss", [0.0001, 0.0004, 0.0007, 0.002, 0.004, 0.007])
def test_where_a_bounded_search_rests_less_than_four_percent_are_lost(step: int, loss: float) -> None:
    """The paper: the rate falls behind the knee, the search converges, and no loss of more than 4 % is left."""
    state, threshold, _ = walk([gentle(loss)] * 60, wait_table="bounded", wait_step=step)[-1]
    assert state == 6
    assert gentle(loss)(threshold) > 0.96 * gentle(loss)(0)


def test_the_reconstructed_search_follows_a_gentle_fall_to_the_end() -> None:
    """0.7 % for each unit, 2.8 % for a step of 4: small every time, and more than a third in the end."""
    steps = walk([gentle(0.007)] * 60)
    assert steps[-1] == (6, 63, 63) and gentle(0.007)(63) < 0.65 * gentle(0.007)(0)


def test_a_bounded_search_keeps_the_papers_statements() -> None:
    """From state 1 over four small changes, a speculative step after the first large one, down to the knee, at rest."""
    bounded = {"wait_table": "bounded", "wait_step": 4}
    flat: Curve = lambda x: 100_000 - 1000 * max(0, x - 14)  # noqa: E731
    steps = walk([flat] * 12, **bounded)
    assert steps[:6] == [(1, 0, 4), (2, 4, 8), (2, 8, 12), (2, 12, 16), (2, 16, 20), (3, 20, 12)]
    assert [threshold for _, threshold, _ in steps[-3:]] == [12, 12, 12] and steps[-1][0] == 6
    wider: Curve = lambda x: 120_000 - 1000 * max(0, x - 34)  # noqa: E731
    again = walk([flat] * 12 + [wider] * 12, **bounded)
    assert again[12][:2] == (6, 12) and again[13][:2] == (3, 16), "a large change in state 6: up, and state 3"
    assert again[-1] == (6, 32, 32)


def test_intervals_count_beats_up_to_and_with_their_last_cycle() -> None:
    machine = WaitThreshold(malekeh_config(interval=4))
    ends = [machine.edge(issued) for issued in (True, False, True, True, False, False, False, True, False)]
    assert ends == [False, False, False, True, False, False, False, True, False]
    assert [beats for beats, _, _ in machine.intervals] == [3, 1]
    assert machine.intervals == [(3, 1, 0), (1, 2, 4)]


def test_a_fixed_threshold_stays_and_intervals_are_counted() -> None:
    steps = walk([knee(14)] * 3, wait_control="fixed", wait_threshold=9)
    assert steps == [(1, 9, 9)] * 3
    machine = WaitThreshold(malekeh_config(wait_control="fixed", wait_threshold=9, interval=2))
    assert [machine.edge(True) for _ in range(4)] == [False, True] * 2
    assert machine.intervals == [(2, 1, 9)] * 2
