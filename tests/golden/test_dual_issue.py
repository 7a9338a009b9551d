"""Two issues of one warp per cycle: what follows at once, and what has to wait."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.golden.machines import layout_of
from tests.golden.scenario import BAR, BRA, FULL, NOP, Step, hand_trace, op
from warpfile.golden.dual_issue import DualMachine
from warpfile.golden.run import observations
from warpfile.output.display import silent
from warpfile.pages.evidence.study import Point, Run, studied
from warpfile.schemes import find
from warpfile.schemes.part import load_object
from warpfile.spec.config import Config
from warpfile.spec.dual_issue import DualEnvironment
from warpfile.spec.workload import prepare

CFG = Config(banks=4, collect="all", collectors=2, buffer_depth=4, ports=3)


def issues(*warps: Sequence[Step], cfg: Config = CFG) -> list[int]:
    """Beats that issue in every cycle, from the first one with an issue on."""
    scheme, layout = find("baseline"), layout_of("baseline", cfg)
    model = DualMachine(cfg, layout, *(load_object(part.golden) for part in scheme.parts(cfg)))
    environment = DualEnvironment(cfg, prepare(cfg, hand_trace(*warps)), layout)
    counts = []
    for word in observations(model, environment, 1_000):
        first = layout.unpack(word & (1 << layout.width) - 1)["issue"]
        assert first or not word >> layout.width, "a second beat issues without a first"
        counts.append(first + (word >> layout.width & 1))
    return counts[next(cycle for cycle, count in enumerate(counts) if count) :]


def until_last(counts: list[int]) -> list[int]:
    """Without the cycles behind the last issue."""
    while counts and not counts[-1]:
        counts.pop()
    return counts


def test_independent_beats_issue_two_by_two() -> None:
    # Two arrive per cycle, so two can go on; the seventh, the EXIT, is alone.
    assert until_last(issues([NOP] * 6)) == [2, 2, 2, 1]


def test_a_beat_that_was_just_decoded_waits_a_cycle() -> None:
    # Two warps share two arrivals: each has one beat when it issues, and the other comes in that cycle.
    assert max(issues([NOP] * 2, [NOP] * 2, cfg=CFG.replace(buffer_depth=1))) == 1


@pytest.mark.parametrize(
    "second",
    [op((2,), 5), op((6,), 2), op((6,), 3), op((6,), 5, token_reads=1)],
    ids=["reads the result", "writes it again", "writes a source", "reads the predicate"],
)
def test_a_beat_that_depends_on_the_first_waits(second: Step) -> None:
    first = op((3,), 2, token_writes=1)
    assert issues([first, second])[:2] == [1, 0]
    assert issues([first, op((6,), 5)])[0] == 2


def test_nothing_follows_a_barrier_or_a_branch_and_a_drained_exit_may_follow() -> None:
    assert issues([BAR, NOP])[0] == 1
    assert issues([BRA, NOP])[0] == 1
    assert issues([NOP])[0] == 2


def test_a_beat_for_which_there_is_no_unit_waits() -> None:
    assert issues([op((1,), 4), op((2,), 5)], cfg=CFG.replace(collectors=1))[0] == 1
    assert issues([op((1,), 4), op((2,), 5)])[0] == 2


@pytest.mark.parametrize(("retake", "last"), [("same", 2), ("next", 1)])
def test_the_second_beat_may_take_a_unit_that_dispatches(retake: str, last: int) -> None:
    # The first addition leaves its unit in cycle 3, in which the next two issue: one takes the other unit, one that.
    beats = [op((0,), 4), *[NOP] * 5, op((1,), 5), op((2,), 6)]
    assert issues(beats, cfg=CFG.replace(retake=retake))[:4] == [2, 2, 2, last]


def test_a_beat_whose_lanes_are_all_off_reserves_nothing() -> None:
    assert issues([(op((3,), 2), 0), op((2,), 5)])[0] == 2
    assert issues([(op((3,), 2), FULL), op((2,), 5)])[0] == 1


@pytest.mark.parametrize("scheme", ["baseline", "bow_wr"])
def test_a_kernel_executes_the_same_in_fewer_cycles(scheme: str) -> None:
    plain = Point(scheme, "pascal", setting="launch")
    dual = Point(scheme, "pascal", setting="launch", issues="one warp")
    study = studied([Run(point, "chacha") for point in (plain, dual)], silent, fresh=True)
    assert study.of(plain, "chacha").instructions == study.of(dual, "chacha").instructions
    # While it runs, every operand is compared with the trace.
    assert study.of(dual, "chacha").cycles < study.of(plain, "chacha").cycles
