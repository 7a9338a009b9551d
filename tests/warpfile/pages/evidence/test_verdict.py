"""Verdicts follow from ranges alone, as docs/evidence.md says."""

from __future__ import annotations

import pytest

from warpfile.pages.evidence.verdict import NO_CAUSE, Step, Verdict, state, verdict, zone

LOSS = (-0.13, -0.128)  #: of a paper that claims an effect


def steps(*ranges: tuple[float, float], assumed: bool = False, moved: bool = True) -> list[Step]:
    """A first figure, and one more with each of ``one``, ``two``, ..."""
    names = ("", "one", "two", "three")
    shift = (0.01, 0.02) if moved else (-0.01, 0.02)
    return [
        Step(name, assumed, sum(found) / 2, found, shift if name else None)
        for name, found in zip(names, ranges, strict=False)
    ]


@pytest.mark.parametrize(
    ("paper", "neutral", "expected"),
    [
        (LOSS, 0.0, (-0.16, -0.098)),
        ((-0.02, -0.02), 0.0, (-0.03, -0.01)),
        ((0.02, 0.04), 0.0, (0.01, 0.05)),
        ((0.0, 0.0), 0.0, (-0.03, 0.03)),
        ((0.62, 0.62), None, (0.59, 0.65)),
        ((0.01, 0.01), None, (-0.02, 0.04)),
    ],
)
def test_a_zone_keeps_away_from_the_neutral_value(
    paper: tuple[float, float], neutral: float | None, expected: tuple[float, float]
) -> None:
    assert zone(paper, neutral) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("found", "paper", "neutral", "expected"),
    [
        ((-0.20, -0.05), LOSS, 0.0, "agrees"),
        ((-0.20, 0.01), LOSS, 0.0, "open"),
        ((-0.09, 0.01), LOSS, 0.0, "differs"),
        ((0.05, 0.09), LOSS, 0.0, "differs"),
        ((-0.30, -0.17), LOSS, 0.0, "differs"),
        ((0.002, 0.008), (-0.02, -0.02), 0.0, "differs"),  # near the paper, on the other side of nothing
        ((-0.01, 0.01), (0.0, 0.0), 0.0, "agrees"),
        ((-0.06, 0.01), (0.0, 0.0), 0.0, "open"),
        ((0.04, 0.05), (0.0, 0.0), 0.0, "differs"),
        ((0.60, 0.65), (0.62, 0.62), None, "agrees"),
        ((0.50, 0.75), (0.62, 0.62), None, "open"),
        ((0.30, 0.45), (0.62, 0.62), None, "differs"),
    ],
)
def test_the_state_of_a_range(
    found: tuple[float, float], paper: tuple[float, float], neutral: float | None, expected: str
) -> None:
    assert state(sum(found) / 2, found, paper, neutral) == expected


def test_a_mean_outside_of_the_zone_is_never_in_agreement() -> None:
    """A wide range alone, which a few kernels give, does not make two figures the same."""
    assert state(-0.12, (-0.20, -0.05), LOSS, 0.0) == "agrees"
    assert state(-0.06, (-0.20, -0.05), LOSS, 0.0) == "open" == state(-0.19, (-0.20, -0.05), LOSS, 0.0)
    assert state(0.66, (0.62, 0.66), (0.62, 0.62), None) == "open"


NEAR, FAR, FARTHER, OPEN = (-0.14, -0.12), (0.05, 0.07), (0.09, 0.11), (-0.2, 0.1)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (steps(NEAR, FAR), "reproduced"),
        (steps(OPEN, NEAR), "undecided"),
        (steps(FAR, NEAR, assumed=True), "reproduced under one"),
        (steps(FARTHER, FAR, NEAR, FAR, assumed=True), "reproduced under one, two"),
        (steps(FAR, NEAR), "not reproduced: one"),
        (steps(FARTHER, FAR), "not reproduced: one, in part"),
        (steps(FARTHER, FAR, OPEN), "not reproduced: two, in part"),
        (steps(FAR, FARTHER), f"not reproduced: {NO_CAUSE}"),
        (steps(FARTHER, FAR, moved=False), f"not reproduced: {NO_CAUSE}"),
        (steps(FAR), f"not reproduced: {NO_CAUSE}"),
    ],
)
def test_the_verdict_of_a_claim(found: list[Step], expected: str) -> None:
    assert str(verdict(found, LOSS, 0.0)) == expected


def test_a_factor_that_the_paper_does_not_have_is_no_assumption() -> None:
    both = [*steps(FAR, FARTHER, assumed=True), *steps(FAR, NEAR)[1:]]
    assert verdict(both, LOSS, 0.0) == Verdict("not reproduced", "one")
