"""Shares of loads and rows, with counts made up by hand."""

from __future__ import annotations

import pytest

from warpfile.pages.evidence import larf as page
from warpfile.pages.evidence.samples import Sample
from warpfile.results.points import Outcome, Run, trace_of
from warpfile.schemes import find

COUNTS = {
    **{"hits_perfect": 5, "hits_single": 2, "hits_double": 1, "misses": 4, "lost_hits": 3},
    **{"untracked_partial": 1, "untracked_irregular": 2, "untracked_stride": 0, "untracked_upper": 1},
    **{"used_row_cycles": 600, "resident_cycles": 100},
}


def test_loads_that_may_be_shared_are_hits_misses_and_untracked_ones() -> None:
    run = Outcome(1, 1, COUNTS)
    assert page.searching(run) == 16  # a lost hit is one of the misses
    assert page.absorbed(run) == 8 / 16
    assert page.absorbed(Outcome(1, 1, dict.fromkeys(COUNTS, 0))) == 0


def test_rows_are_over_the_registers_of_resident_warps() -> None:
    one = Sample(Run(page.LARF, "conv2d"), Outcome(1, 1, COUNTS))
    assert page.rows(one) == pytest.approx(6 / trace_of("conv2d", "large").registers)


def test_results_are_a_cycle_earlier_than_at_the_page_s_own_preset() -> None:
    baseline = find("baseline").configuration(page.PRESET)
    changed = dict(page.EARLIER.of(page.LARF).changes)
    assert changed == {name: getattr(baseline, name) - 1 for name in changed} and "miss_latency" in changed
    assert page.EARLIER.of_other(page.BASELINE) == page.BASELINE


def test_its_scheduler_is_put_before_it_with_the_same_file() -> None:
    assert page.LAS.of(page.LARF) == page.AHEAD
