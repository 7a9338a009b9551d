"""The measure of effort: a ratio of two times, and it leaves the garbage collector as it was."""

from __future__ import annotations

import gc

import pytest

from tests.effort import effort


def test_it_is_the_time_of_the_work_over_that_of_the_slower_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter([0.0, 1.0, 1.0, 9.0, 9.0, 11.0])  # a loop of 1 s, work of 8 s, a loop of 2 s
    monkeypatch.setattr("tests.effort.time.process_time", lambda: next(moments))
    assert effort(lambda: None) == 4


def test_the_collector_is_off_while_it_is_measured_and_on_behind_it() -> None:
    seen = []

    def fails() -> None:
        seen.append(gc.isenabled())
        raise KeyError

    with pytest.raises(KeyError):
        effort(fails)
    assert (seen, gc.isenabled()) == ([False], True)
