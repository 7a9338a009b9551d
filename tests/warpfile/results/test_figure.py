"""Figures with an interval over seeds and one over kernels."""

from __future__ import annotations

import pytest

from warpfile.results.figure import Figure
from warpfile.results.sample import ARITHMETIC, GEOMETRIC

STILL = {"one": (1.1, 1.1, 1.1), "other": (0.9, 0.9, 0.9), "third": (1.3, 1.3, 1.3)}


def test_a_growth_is_a_mean_of_ratios_minus_one() -> None:
    found = Figure(STILL, "growth")
    assert found.mean == pytest.approx(0.1) and found.by_kernel == pytest.approx(
        {"one": 0.1, "other": -0.1, "third": 0.3}
    )
    assert Figure(STILL, "geometric growth").mean == pytest.approx(GEOMETRIC([1.1, 0.9, 1.3]) - 1)
    assert Figure({"one": (0.25, 0.75)}, "share").mean == pytest.approx(0.5)


def test_the_range_holds_both_intervals() -> None:
    low, high = ARITHMETIC.interval([1.1, 0.9, 1.3])  # type: ignore[misc]
    assert Figure(STILL, "growth").range == pytest.approx((low - 1, high - 1))
    shaken = Figure(dict.fromkeys(STILL, (0.5, 1.0, 1.5)), "growth")
    assert shaken.kernels == pytest.approx((0.0, 0.0))
    assert shaken.range == pytest.approx((-shaken.seeds.half, shaken.seeds.half)) and shaken.seeds.half > 1


def test_one_kernel_has_the_range_of_its_seeds() -> None:
    one = Figure({"one": (1.0, 1.1, 1.2)}, "growth")
    assert one.kernels is None and one.range == pytest.approx((0.1 - one.seeds.half, 0.1 + one.seeds.half))


def test_a_difference_is_taken_kernel_by_kernel() -> None:
    """Kernels that differ much, all of them a little slower: the difference is sure, though the figures are not."""
    slower = Figure({name: [value + 0.02 for value in values] for name, values in STILL.items()}, "growth")
    assert slower.moved(Figure(STILL, "growth")) == pytest.approx((0.02, 0.02))
    assert slower.range[0] < 0 < slower.range[1]
    turned = Figure({**STILL, "one": (1.2, 1.2, 1.2), "other": (0.8, 0.8, 0.8)}, "growth").moved(
        Figure(STILL, "growth")
    )
    assert turned[0] < 0 < turned[1]


def test_one_seed_is_refused() -> None:
    with pytest.raises(ValueError, match="at least two seeds, not 1"):
        _ = Figure({"one": (1.0,)}, "growth").range


def test_a_growth_over_another_machine_is_the_ratio_of_both() -> None:
    """Twice as fast on every kernel: sure, though both figures are not."""
    double = Figure({name: [2 * value for value in values] for name, values in STILL.items()}, "geometric growth")
    found = double.over(Figure(STILL, "geometric growth"))
    assert found.mean == pytest.approx(1) and found.range == pytest.approx((1, 1))
