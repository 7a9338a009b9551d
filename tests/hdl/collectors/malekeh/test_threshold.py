"""The wait threshold on the six issue-rate curves for which its walk was worked out by hand."""

import itertools

import pytest
from amaranth.sim import Simulator

from warpfile.hdl.collectors.malekeh.threshold import WaitThreshold
from warpfile.spec.presets import PRESETS
from warpfile.spec.schemes.malekeh import MalekehConfig


def config(**changes):
    return MalekehConfig(
        **MalekehConfig.adapted({**PRESETS["turing"].config.to_json(), **changes} | {"scheduler": "oldest"})
    )


def walk(cfg, rate, intervals):
    """State and threshold of each interval, if ``rate(number, threshold)`` beats issue in it."""
    part, seen = WaitThreshold(cfg), []

    async def bench(ctx):
        for number in range(intervals):
            seen.append((ctx.get(part.state), ctx.get(part.threshold)))
            count = rate(number, seen[-1][1])
            for issue, cycles in ((0, cfg.interval - count), (1, count - 1)):  # issues up to the last cycle count
                ctx.set(part.issue, issue)
                if cycles:
                    await ctx.tick().repeat(cycles)
            ctx.set(part.issue, count > 0)
            assert ctx.get(part.interval_end)
            await ctx.tick()
            assert not ctx.get(part.interval_end)

    simulator = Simulator(part)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    return seen


def curve(knee, base=20000, slope=900):
    """Beats of an interval by threshold: slowly rising to the knee, then falling; divided by 40 to simulate fewer."""
    return lambda threshold: (base + 10 * min(threshold, knee) - slope * max(0, threshold - knee)) // 40


def switched(first, after, second):
    """One curve for the first intervals, another from then on."""
    return lambda number, threshold: (first if number < after else second)(threshold)


def settled(threshold, *steps):
    return [*steps, *[(6, threshold)] * 3]


CURVES = {
    "knee_at_14": (
        switched(curve(14), 99, curve(14)),
        settled(12, (1, 0), (2, 4), (2, 8), (2, 12), (2, 16), (3, 20), (4, 12), (4, 8), (5, 12)),
    ),
    "then_knee_at_5": (
        switched(curve(14), 4, curve(5, 24000)),
        settled(4, (1, 0), (2, 4), (2, 8), (2, 12), (2, 16), (3, 20), (4, 12), (4, 8), (4, 4), (4, 0), (5, 4)),
    ),
    "then_knee_at_34": (
        switched(curve(14), 4, curve(34, 26000)),
        settled(
            32,
            *((1, 0), (2, 4), (2, 8), (2, 12), (2, 16), (3, 20), (2, 24), (2, 28), (2, 32), (2, 36)),
            *((3, 40), (4, 32), (4, 28), (5, 32)),
        ),
    ),
    "then_knee_at_34_one_interval_later": (
        switched(curve(14), 5, curve(34, 26000)),
        settled(16, (1, 0), (2, 4), (2, 8), (2, 12), (2, 16), (3, 20), (4, 12), (5, 16)),
    ),
    "no_knee": (
        switched(curve(63), 99, curve(63)),
        settled(63, (1, 0), *((2, threshold) for threshold in (*range(4, 61, 4), 63))),
    ),
    "knee_at_0": (
        switched(curve(0, 40000, 1200), 99, curve(0, 40000, 1200)),
        settled(0, (1, 0), (2, 4), (3, 8), (4, 0)),
    ),
}


@pytest.mark.parametrize("name", CURVES)
def test_the_threshold_walks_as_worked_out(name):
    rate, expected = CURVES[name]
    cfg = config(interval=1024 if name == "knee_at_0" else 700)
    assert walk(cfg, rate, len(expected)) == expected


def test_a_change_of_exactly_a_thirty_second_is_small():
    """From state 2 the next one tells: 320 to 330 beats is 1/32, one more is not."""

    def next_state(last):
        return walk(config(interval=400), lambda number, _: (320, last)[number % 2], 3)[2][0]

    assert [next_state(last) for last in (330, 331, 310, 309)] == [2, 3, 2, 3]


def test_a_change_of_exactly_the_bounded_share_is_small():
    """With steps of 16 the share is one part in 128: of 384 beats three."""

    def next_state(last):
        cfg = config(interval=400, wait_table="bounded", wait_step=16)
        return walk(cfg, lambda number, _: (384, last)[number % 2], 3)[2][0]

    assert [next_state(last) for last in (387, 388, 381, 380)] == [2, 3, 2, 3]


def test_after_an_idle_interval_any_beat_is_a_large_change():
    counts = itertools.chain([1, 1], itertools.repeat(3))
    seen = walk(config(interval=10), lambda *_: next(counts), 4)
    assert [state for state, _ in seen] == [1, 2, 2, 3]


@pytest.mark.parametrize("step", (1, 31))
def test_the_threshold_stays_between_0_and_63_whatever_its_step(step):
    rates = [1, 30, 1, 30, 30, 30, 1, 1, 30, 1, 30, 1] * 8
    seen = walk(config(interval=32, wait_step=step), lambda number, _: rates[number], len(rates))
    moves = [later - sooner for (_, sooner), (_, later) in itertools.pairwise(seen)]
    assert all(0 <= threshold <= 63 for _, threshold in seen)
    assert {-2 * step, step} <= set(moves)


def test_a_fixed_threshold_stays_but_its_intervals_are_counted():
    cfg = config(wait_control="fixed", wait_threshold=9, interval=20)
    assert walk(cfg, lambda number, _: 1 + number % 2 * 18, 6) == [(1, 9)] * 6
