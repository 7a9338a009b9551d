"""Figures of the page of ``shrf``."""

from __future__ import annotations

from collections import Counter

import pytest

from warpfile.pages.evidence import rfc
from warpfile.pages.evidence import shrf as page
from warpfile.pages.evidence.samples import Sample
from warpfile.results.points import Outcome, Run

COUNTS = {"bank_reads": 50, "bank_writes": 10, "orf_reads": 20, "lrf_reads": 10, "orf_writes": 8, "brings": 2}


def of(one: page.Point, **counts: int) -> Sample:
    """A run with these counts."""
    return Sample(Run(one, page.SPOT), Outcome(1, 1, Counter(COUNTS | counts)))


def test_operands_are_read_from_both_kinds_of_entries() -> None:
    assert page.read_near(of(page.SHRF).outcome) == pytest.approx(30 / 80)
    assert page.read_near(of(page.SHRF, orf_reads=0, lrf_reads=0, bank_reads=0).outcome) == 0


@pytest.mark.parametrize(("key", "point"), [("energy", page.SHRF), ("energy-hardware", page.RFC)])
def test_wires_count_and_stay_at_the_prices_of_eight_active_warps(key: str, point: page.Point) -> None:
    (claim,) = (one for one in page.STATEMENTS if one.key == key)
    counts = {"cache_hits": 9, "cache_misses": 9, "cache_writes": 4}
    ours, other = of(point, **counts), of(rfc.BASELINE, bank_reads=80)
    plain, wires, free = (metric.of(ours, other) for metric in claim.metrics[:3])
    assert plain != wires == free > 0
    everybody = of(claim.pairs[2].point, **counts)
    assert claim.metrics[2].of(everybody, other) == free
