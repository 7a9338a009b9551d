"""Figures of the page of ``rfc``."""

from __future__ import annotations

from collections import Counter

import pytest

from warpfile.pages.evidence import rfc as page
from warpfile.pages.evidence.samples import Sample
from warpfile.results.points import Outcome, Run

COUNTS = {"bank_reads": 20, "bank_writes": 10, "cache_hits": 30, "cache_misses": 20, "cache_writes": 8}
COUNTS |= {"bypasses_partial": 2, "evictions": 0, "flushes": 0}
ALL_ACTIVE = page.RESIDENT.of(page.BOTH)


def of(one: page.Point, **counts: int) -> Sample:
    """A run with these counts."""
    return Sample(Run(one, page.SPOT), Outcome(1, 1, Counter(COUNTS | counts)))


def test_points_are_of_sources_and_results() -> None:
    """Of 60 accesses without a cache, 36 remain instead of 30."""
    growth = page.POINTS.counted
    assert growth is not None
    assert growth.of(of(page.BOTH, bank_reads=26), of(page.LIVE)) == pytest.approx(1.1)


def test_a_cache_without_a_price_is_not_free() -> None:
    with pytest.raises(ValueError, match="rfc must have a price of cache_read, cache_write there"):
        of(ALL_ACTIVE).picojoules("rfc")
    cfg = Run(page.BOTH, page.SPOT).config
    assert of(ALL_ACTIVE).picojoules("rfc", cfg=cfg) == of(page.BOTH).picojoules("rfc") > 0


def test_energies_without_suspensions_are_at_the_prices_of_eight_active_warps() -> None:
    (claim,) = (one for one in page.STATEMENTS if one.key == "energy")
    first, second = (metric.of(of(page.BOTH), of(page.BASELINE)) for metric in claim.metrics[:2])
    assert claim.metrics[1].of(of(ALL_ACTIVE), of(page.BASELINE)) == second == first
