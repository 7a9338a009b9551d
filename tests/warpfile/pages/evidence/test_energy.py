"""Shares and energies of the evidence pages, on a study of made-up counts."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.warpfile.pages.evidence.made_up import counted
from warpfile.pages.evidence.energy import energy_over, energy_together, unpriced
from warpfile.pages.evidence.rfc_causes import paper_accesses, replaced
from warpfile.pages.evidence.rfc_points import (
    BASELINE,
    BOTH,
    PRICES,
    WARPS,
    accesses_left,
    cache,
    cache_accesses,
    headline,
    sized,
    sweep,
    writes_avoided,
)
from warpfile.pages.evidence.study import Study
from warpfile.schemes import SCHEMES

#: Two kernels: one whose operands all come from the banks, one whose operands all come from the cache.
COUNTS = {
    (BASELINE, "banks"): Counter(bank_reads=18, bank_writes=10),
    (BOTH, "banks"): Counter(bank_reads=18, bank_writes=10, long_results=10),
    (BASELINE, "lines"): Counter(bank_reads=1800, bank_writes=1000),
    (BOTH, "lines"): Counter(cache_hits=1800, cache_writes=1000),
}


@pytest.fixture
def study() -> Study:
    return counted(COUNTS)


def test_every_kernel_counts_alike_whatever_its_length(study: Study) -> None:
    # 1 where the banks serve everything, 0.42 (the paper's bound) where the cache does.
    assert energy_over(study, BOTH, BASELINE, PRICES) == pytest.approx((1 + 0.4197) / 2, abs=1e-4)
    assert energy_over(study, BASELINE, BASELINE, PRICES) == 1.0
    # Together the longer kernel decides: 25.4 x 10 pJ of the one, 25.4 x 1000 of the other.
    assert energy_together(study, BOTH, BASELINE, PRICES) == pytest.approx((254 + 10660) / (254 + 25400))
    assert writes_avoided(study, BOTH) == accesses_left(study, BOTH) == 0.5
    assert cache_accesses(study, BOTH) == 0.5


def test_wires_add_to_both_sides(study: Study) -> None:
    # Per result of 1.8 reads and 128 bits: banks 25.4, cache 10.66, 2.8 accesses of 7.6 pJ per mm.
    expected = (1 + (10.66 + 2.8 * 7.6 * 0.2) / (25.4 + 2.8 * 7.6)) / 2
    assert energy_over(study, BOTH, BASELINE, PRICES, {"bank": 1.0, "cache": 0.2}) == pytest.approx(expected)


def test_what_has_no_price_is_named_once(study: Study) -> None:
    assert unpriced(study, BASELINE, PRICES) == "crossbar, collector write, collector read"


def test_the_papers_accesses_follow_from_its_table() -> None:
    # 8 x 1.8 + 11 = 25.4, with 1 mm 46.68, and 21.28 per mm; Tab. 5: (1, 0), (0, 0) and (1, 1).
    compute, shaders = paper_accesses(0), paper_accesses(1)
    assert compute == pytest.approx(((0.63 * 46.68 - 0.76 * 25.4) / 21.28, (0.87 - 0.63) * 46.68 / 21.28))
    assert shaders == pytest.approx(((0.60 * 46.68 - 0.74 * 25.4) / 21.28, (0.86 - 0.60) * 46.68 / 21.28))


def test_replaced_counts_give_the_energy_of_what_they_stand_for() -> None:
    """A cache that serves half of 1.8 reads per result and takes all results."""
    counts = {
        (BASELINE, "one"): Counter(bank_reads=1800, bank_writes=1000),
        (BOTH, "one"): Counter(bank_reads=900, bank_writes=500, cache_hits=900, cache_misses=900, cache_writes=1000),
    }
    one = counted(counts)
    assert replaced(one, 0.5, None) == pytest.approx(energy_over(one, BOTH, BASELINE, PRICES))
    assert replaced(one, 0.5, 1900 / 2800) == pytest.approx(energy_over(one, BOTH, BASELINE, PRICES))
    assert replaced(one, 0.25, None) == pytest.approx(energy_over(one, BOTH, BASELINE, PRICES) - 0.25)


def test_with_all_warps_active_none_is_suspended() -> None:
    for point in (*headline(), *sweep()):
        cfg = SCHEMES[point.scheme].configuration(point.preset, **dict(point.changes))
        if cfg.scheduler == "two_level":
            assert (cfg.suspend == "never") == (cfg.active_warps == WARPS), point


def test_one_configuration_has_one_name() -> None:
    assert cache(active_warps=8, cache_entries=6, suspend="pending") == BOTH
    assert sized(8, 6) == BOTH.small != BOTH
