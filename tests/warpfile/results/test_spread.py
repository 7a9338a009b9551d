"""Intervals of figures over seeds, and how they are written."""

from __future__ import annotations

import math

import numpy as np
import pytest

from warpfile.pages.evidence.study import FEW, SEEDS
from warpfile.results.markdown import percent, points, signed, table
from warpfile.results.spread import STUDENT, Spread


@pytest.mark.parametrize("degrees", STUDENT)
def test_quantiles_leave_a_fortieth_beyond_each_side(degrees: int) -> None:
    """Student's density, integrated from zero to the quantile."""
    scale = math.gamma((degrees + 1) / 2) / (math.sqrt(degrees * math.pi) * math.gamma(degrees / 2))
    step = STUDENT[degrees] / 100_000
    at = step * (np.arange(100_000) + 0.5)
    inside = float((scale * (1 + at**2 / degrees) ** (-(degrees + 1) / 2)).sum() * step)
    assert inside == pytest.approx(0.475, abs=2e-5)


def test_every_number_of_seeds_has_a_quantile() -> None:
    assert {len(SEEDS) - 1, len(FEW) - 1} <= STUDENT.keys() and set(FEW) <= set(SEEDS) and 0 in FEW


def test_an_interval_is_that_of_the_mean() -> None:
    spread = Spread((0.01, 0.02, 0.03, 0.04, 0.05))
    assert spread.mean == pytest.approx(0.03)
    assert spread.half == pytest.approx(2.776 * math.sqrt(0.00025) / math.sqrt(5))
    assert not spread.noise
    assert (percent(spread), signed(spread), points(spread)) == ("3.0% ± 2.0", "+3.0% ± 2.0", "+3.0 ± 2.0 points")


def test_what_holds_zero_is_called_noise() -> None:
    assert signed(Spread((-0.01, 0.02, 0.0))) == "noise: +0.3% ± 3.8"
    assert points(Spread((0.0, 0.0, 0.0))) == "noise: +0.0 ± 0.0 points"
    assert signed(Spread((0.001, 0.001, 0.001))) == "+0.1% ± 0.0"


def test_a_difference_is_taken_seed_by_seed() -> None:
    """Two figures that move together differ by nothing but their distance."""
    one, other = Spread((0.1, 0.3, 0.2)), Spread((0.0, 0.2, 0.1))
    assert (one - other).values == pytest.approx((0.1, 0.1, 0.1))
    with pytest.raises(ValueError, match="shorter"):
        _ = one - Spread((0.1, 0.2))


@pytest.mark.parametrize(
    ("cell", "right"),
    [("+1.0% ± 0.2", True), ("noise: +0.1% ± 0.4", True), ("1,234", True), ("-", True), ("few", False)],
)
def test_columns_of_figures_are_aligned(cell: str, right: bool) -> None:
    assert table(("name", "figure"), [("x", cell)]).splitlines()[1] == f"| --- | {'---:' if right else '---'} |"
