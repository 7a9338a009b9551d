"""Means over kernels and their bootstrap intervals."""

from __future__ import annotations

import random
import statistics

import pytest

from warpfile.results.sample import ARITHMETIC, GEOMETRIC, Mean

MEANS = pytest.mark.parametrize("mean", [ARITHMETIC, GEOMETRIC], ids=["arithmetic", "geometric"])


def test_means_are_those_of_the_standard_library() -> None:
    values = [0.5, 1.25, 3.0]
    assert ARITHMETIC(values) == pytest.approx(statistics.fmean(values))
    assert GEOMETRIC(values) == pytest.approx(statistics.geometric_mean(values))


@MEANS
def test_one_kernel_has_no_interval(mean: Mean) -> None:
    assert mean.interval([1.5]) is None


@MEANS
def test_kernels_that_are_all_the_same_have_an_interval_without_width(mean: Mean) -> None:
    assert mean.interval([1.5] * 7) == pytest.approx((1.5, 1.5))


@MEANS
def test_an_interval_lies_around_the_mean_and_between_the_extremes(mean: Mean) -> None:
    rng = random.Random(0)
    values = [rng.uniform(0.5, 2.0) for _ in range(20)]
    low, high = mean.interval(values) or (0, 0)
    assert min(values) < low < mean(values) < high < max(values)
    assert mean.interval(values) == (low, high), "the draws are seeded"


def test_of_two_kernels_the_interval_goes_from_one_to_the_other() -> None:
    """Each of them is drawn twice in a quarter of the cases, which is more than 2.5 %."""
    assert ARITHMETIC.interval([0.9, 1.3]) == pytest.approx((0.9, 1.3))


def test_of_many_kernels_the_interval_is_that_of_the_normal_distribution() -> None:
    rng = random.Random(1)
    values = [rng.gauss(1.0, 0.1) for _ in range(400)]
    low, high = ARITHMETIC.interval(values) or (0, 0)
    error = statistics.pstdev(values) / len(values) ** 0.5
    normal = statistics.NormalDist(statistics.fmean(values), error)
    assert (low, high) == pytest.approx((normal.inv_cdf(0.025), normal.inv_cdf(0.975)), abs=error / 10)


def test_the_interval_holds_the_truth_in_about_95_of_100_samples() -> None:
    rng = random.Random(2)
    samples = [[rng.lognormvariate(0.05, 0.2) for _ in range(35)] for _ in range(200)]
    truth = 2.718281828459045**0.05
    found = [GEOMETRIC.interval(one) or (0, 0) for one in samples]
    held = sum(low <= truth <= high for low, high in found)
    assert 178 <= held <= 199
