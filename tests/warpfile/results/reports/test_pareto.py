"""The Pareto front against its definition."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpfile.results.reports.pareto import pareto

BETTER = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
few = st.integers(0, 6).map(float)  # so that figures are often equal
points = st.dictionaries(st.integers(0, 99), st.tuples(few, few), max_size=12)


def undominated(points: Mapping[int, tuple[float, float]], better: tuple[int, int]) -> set[int]:
    """Straight from the definition: no other point is as good in both and better in one."""

    def beats(one: tuple[float, float], other: tuple[float, float]) -> bool:
        gains = [(a - b) * sign for a, b, sign in zip(one, other, better, strict=True)]
        return min(gains) >= 0 and max(gains) > 0

    return {name for name, point in points.items() if not any(beats(other, point) for other in points.values())}


@given(points, st.sampled_from(BETTER))
def test_the_front_is_what_no_other_point_dominates(
    points: Mapping[int, tuple[float, float]], better: tuple[int, int]
) -> None:
    found = pareto(points, better)
    assert set(found) == undominated(points, better) and len(found) == len(set(found))
    firsts = [points[name][0] * better[0] for name in found]
    assert firsts == sorted(firsts)


def test_the_definition_tells_a_wrong_front() -> None:
    made = {1: (0.0, 0.0), 2: (1.0, 1.0), 3: (2.0, 0.0)}
    assert undominated(made, (1, 1)) == {2, 3} != undominated(made, (-1, -1)) == {1}


@pytest.mark.parametrize("better", BETTER)
def test_equal_points_stay_together(better: tuple[int, int]) -> None:
    assert set(pareto({"a": (1.0, 2.0), "b": (1.0, 2.0)}, better)) == {"a", "b"}
    assert pareto({}, better) == []
