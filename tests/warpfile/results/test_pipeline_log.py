"""Beats on their way: every event that the golden model counts is seen once, in its order."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from warpfile.results.pipeline_log import LoggedBeat, Watch, observed
from warpfile.results.points import Point, Run, golden
from warpfile.schemes import SCHEMES
from warpfile.spec.beat import Beat
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.stimulus import Result, Stimulus

WHOLE = range(1_000_000)


def run(scheme: str, preset: str = "tiny", kernel: str = "collatz") -> Run:
    return Run(Point(scheme, preset, setting="launch"), kernel)


def out_of_order(pipeline_log: Sequence[LoggedBeat]) -> list[LoggedBeat]:
    """Beats that do something before what comes before it."""

    def wrong(one: LoggedBeat) -> bool:
        events = [one.decoded, one.issued, one.offered, one.dispatched, one.written]
        seen = [event for event in events if event is not None]
        early = one.issued is not None and one.issued <= one.decoded
        late = one.written is not None and one.dispatched is not None and one.written <= one.dispatched
        return seen != sorted(seen) or early or late

    return [one for one in pipeline_log if wrong(one)]


@pytest.mark.parametrize("name", SCHEMES)
def test_a_whole_run_is_seen_beat_by_beat(name: str) -> None:
    asked = run(name)
    pipeline_log, counted = observed(asked, WHOLE), golden(asked)
    assert sum(one.issued is not None for one in pipeline_log) == counted["beats"] == len(pipeline_log)
    if not asked.config.gives.absorbs:
        assert sum(one.dispatched is not None for one in pipeline_log) == counted["dispatches"] > 0
        assert all(one.ended for one in pipeline_log)
    waits = [
        one.dispatched - one.offered for one in pipeline_log if one.dispatched is not None and one.offered is not None
    ]
    assert all(wait >= 0 for wait in waits)
    assert not out_of_order(pipeline_log)
    for warp in {one.warp for one in pipeline_log}:
        issues = [one.issued for one in sorted(pipeline_log, key=lambda one: one.decoded) if one.warp == warp]
        assert issues == sorted(issues)  # type: ignore[type-var]


def test_a_beat_out_of_order_is_noticed() -> None:
    right = LoggedBeat(0, 1, 16, "", True, True, 3, 5, 7, 8, 12)
    assert not out_of_order([right])
    for wrong in ((3, 3, 7, 8, 12), (3, 5, 4, 8, 12), (3, 5, 7, 8, 8)):
        assert out_of_order([LoggedBeat(0, 1, 16, "", True, True, *wrong)])


def test_a_window_has_the_beats_that_are_under_way_in_it() -> None:
    asked = run("baseline")
    every = {one.beat: one for one in observed(asked, WHOLE)}
    window = range(1000, 1100)
    found = {one.beat: one for one in observed(asked, window)}
    ends = {beat: one.latest for beat, one in every.items()}
    assert found.keys() == {b for b, one in every.items() if one.decoded < window.stop and ends[b] >= window.start}
    for beat, one in found.items():
        whole = every[beat]
        assert one.issued == (whole.issued if whole.issued is not None and whole.issued < window.stop else None)
        assert one.written == (whole.written if whole.written is not None and whole.written < window.stop else None)
    assert any(one.written is None and one.returns for one in found.values())


def test_a_window_counts_from_the_start_on() -> None:
    """The baseline takes its first launch when `corf` takes the kernel."""
    baseline, corf = (min(one.decoded for one in observed(run(name), range(100))) for name in ("baseline", "corf"))
    assert corf == baseline + 1


def test_a_kernel_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="register_names must be at least"):
        observed(run("pilot", "kepler", "particle_boxes"), WHOLE)


def beat(payload: int) -> Beat:
    """A beat on the first port that writes R4."""
    return Beat(payload, payload, 16 * payload, 0, 0, (), 4, 1, 0, 0, 1, True, True)


def test_a_result_belongs_to_the_beat_that_left_and_not_to_one_that_was_absorbed() -> None:
    cfg = SCHEMES["baseline"].configuration("tiny")
    layout = ProbeLayout(SCHEMES["baseline"].probes(cfg))
    beats = (beat(0), beat(1))
    result = Result(6, 0, True, 4, 0, 1, -1)
    cycles = [
        (Stimulus(beat=beats[0], results=[None]), {}),
        (Stimulus(beat=beats[1], results=[None]), {"issue": 1}),
        (Stimulus(results=[None]), {"issue": 1}),
        (Stimulus(results=[None]), {"offer": 1, "dispatch": 1, "dispatch_payload0": 1}),
        (Stimulus(results=[result]), {"write_wait": 1}),
        (Stimulus(results=[result]), {"write": 1}),
    ]
    watch = Watch(layout, cfg.ports, beats, {})
    for cycle, (stimulus, fields) in enumerate(cycles):
        watch.note(cycle, stimulus, layout.pack(fields))
    absorbed, other = watch.pipeline_log[0], watch.pipeline_log[1]
    assert (absorbed.decoded, absorbed.issued, absorbed.dispatched, absorbed.written) == (0, 1, None, None)
    assert (other.decoded, other.issued, other.offered, other.dispatched, other.written) == (1, 2, 3, 3, 5)
