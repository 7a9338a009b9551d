"""Distances between accesses, next to a walk over the trace that keeps the last access of every register."""

from __future__ import annotations

import random

import pytest

from tests.warpfile.pages.evidence.made_up import straight
from warpfile.pages.evidence.reuse import Reuse
from warpfile.spec.trace import Kind, Trace
from warpfile.workloads.inputs import obtain_trace


def walked(trace: Trace, window: int, with_registers: bool, flushed: bool) -> float:
    """The same share, warp by warp and instruction by instruction."""
    near = reads = 0
    for start, end in zip(trace.warp_start[:-1], trace.warp_start[1:], strict=True):
        last: dict[int, int] = {}
        step = 0
        for record in range(start, end):
            static = trace.program[trace.instruction[record]]
            step += bool(static.sources or static.dests) if with_registers else 1
            if trace.execute[record]:
                for register in set(static.sources):
                    reads += 1
                    near += register in last and step - last[register] < window
                last |= dict.fromkeys((*static.sources, *static.dests), step)
            following = trace.instruction[record + 1] if record + 1 < end else -1
            if flushed and static.kind == Kind.BRANCH and following != trace.instruction[record] + 1:
                last = {}
    return near / max(1, reads)


def test_reads_of_a_short_program_are_counted_by_hand() -> None:
    """R1 is read at once and two later, R2 never before; the second read of R3 is three behind the first access."""
    reuse = Reuse(straight(((), (1,)), ((1, 2), (3,)), ((), ()), ((1, 1), ()), ((3,), ())))
    assert reuse.near(2) == 1 / 4
    assert reuse.near(3) == 2 / 4
    assert reuse.near(4) == 3 / 4
    assert reuse.near(3, with_registers=True) == 3 / 4
    assert reuse.wide(2) == 1 / 5


def test_the_registers_that_are_accessed_most_are_those_of_all_warps() -> None:
    """R1 three times, R3 twice, R2 once; a register that is named twice is accessed once."""
    accesses = (((), (1,)), ((1, 2), (3,)), ((), ()), ((1, 1), ()), ((3,), ()))
    for warps in (1, 3):
        reuse = Reuse(straight(*accesses, warps=warps))
        assert [reuse.top(count) for count in (1, 2, 3, 4)] == [3 / 6, 5 / 6, 1, 1]
    assert Reuse(straight(((1,), ()), execute=0)).top(4) == 0


def test_a_taken_branch_makes_a_window_forget() -> None:
    loop = straight(((1,), ()), ((), ()), branches=(1,), order=(0, 1, 0, 1))
    assert Reuse(loop).near(3) == 1 / 2
    assert Reuse(loop).near(3, flushed=True) == 0
    through = straight(((1,), ()), ((), ()), ((1,), ()), branches=(1,))
    assert Reuse(through).near(3) == Reuse(through).near(3, flushed=True) == 1 / 2


def test_what_no_lane_executes_reads_nothing_but_counts() -> None:
    assert Reuse(straight(((1,), ()), ((1,), ()), execute=0)).near(7) == 0


@pytest.mark.parametrize("seed", range(20))
def test_random_traces_agree_with_the_walk(seed: int) -> None:
    rng = random.Random(seed)

    def some(most: int) -> tuple[int, ...]:
        return tuple(rng.randrange(5) for _ in range(rng.randrange(most)))

    accesses = [(some(4), some(2)) for _ in range(8)]
    branches = tuple(rng.sample(range(8), 3))
    trace = straight(*accesses, warps=3, branches=branches, order=tuple(rng.randrange(8) for _ in range(40)))
    for window in (2, 3, 7):
        for named in (False, True):
            for flushed in (False, True):
                found = Reuse(trace).near(window, with_registers=named, flushed=flushed)
                assert found == pytest.approx(walked(trace, window, named, flushed))


def test_a_kernel_agrees_with_the_walk() -> None:
    trace = obtain_trace("collatz", "launch", None, lambda *_: None)
    for window, named, flushed in ((3, False, False), (3, True, False), (7, False, True)):
        found = Reuse(trace).near(window, with_registers=named, flushed=flushed)
        assert found == pytest.approx(walked(trace, window, named, flushed))
