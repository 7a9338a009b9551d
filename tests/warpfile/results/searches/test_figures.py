"""Who is at the front, and who beats whom."""

from __future__ import annotations

import random
from dataclasses import replace
from statistics import fmean

import pytest

from warpfile.results.searches.figures import (
    ENERGY,
    IPC,
    Figures,
    beats,
    best,
    front,
    growth_of_energy,
    growth_of_ipc,
    verdict,
)
from warpfile.results.searches.space import COMBINATION, PUBLISHED

BASE = Figures("baseline", PUBLISHED, 0.0, True, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


def machine(name: str, area: float, ipc: float, energy: float, kind: str = COMBINATION) -> Figures:
    """A machine that chance does nothing to."""
    return Figures(name, kind, area, True, (ipc,) * 3, (energy,) * 3)


def test_growths_are_means_over_kernels() -> None:
    assert growth_of_ipc([2.0, 0.5], [1.0, 1.0]) == pytest.approx(0)
    assert growth_of_energy([2.0, 0.5], [1.0, 1.0]) == pytest.approx(0.25)


def test_a_dominated_machine_is_not_at_the_front() -> None:
    good, worse = machine("good", 0.1, 0.2, -0.2), machine("worse", 0.11, 0.19, -0.19)
    assert front([BASE, good, worse]) == ["baseline", "good"]
    assert front([BASE, good, replace(worse, energy=(-0.3,) * 3)]) == ["baseline", "good", "worse"]


def test_the_front_has_the_machines_that_none_dominates() -> None:
    rng = random.Random(5)
    every = [machine(str(number), *(rng.randrange(9) / 10 for _ in range(3))) for number in range(60)]
    found = set(front(every))

    def dominated(one: Figures, value: str) -> bool:
        sign = 1 if value == IPC else -1
        return any(
            other.area <= one.area
            and sign * fmean(other.growths(value)) >= sign * fmean(one.growths(value))
            and (other.area, fmean(other.growths(value))) != (one.area, fmean(one.growths(value)))
            for other in every
        )

    assert found == {one.name for one in every if not (dominated(one, IPC) and dominated(one, ENERGY))}


def test_a_machine_of_which_the_area_is_estimated_gets_the_benefit_of_the_doubt() -> None:
    good, guessed = machine("good", 0.1, 0.2, -0.2), replace(machine("guessed", 0.15, 0.2, -0.2), measured=False)
    assert front([good, guessed]) == ["good"]
    assert front([good, guessed], error=0.1) == ["guessed"]


def test_better_is_more_than_chance() -> None:
    surely, perhaps = replace(BASE, ipc=(0.02, 0.021, 0.019)), replace(BASE, ipc=(0.09, -0.03, 0.0))
    assert surely.better(BASE, IPC) and not perhaps.better(BASE, IPC) and not BASE.better(surely, IPC)
    assert not BASE.better(replace(BASE, energy=()), ENERGY)


def test_to_beat_takes_no_more_area() -> None:
    one = machine("one", 0.1, 0.2, 0.5)
    assert beats(one, machine("same area", 0.1, 0.1, 0.1)) and not beats(one, machine("smaller", 0.09, 0.1, 0.1))
    assert not beats(one, machine("better in both", 0.1, 0.3, 0.4))


def test_the_best_is_no_larger_than_asked_for() -> None:
    some = [machine("small", 0.1, 0.1, 0.0), machine("large", 0.9, 0.8, -0.5)]
    assert best(some, 0.5, IPC) == some[0] and best(some, 0.9, IPC) == some[1] and best(some, 0.05, IPC) is None


def test_a_verdict_names_those_that_beat_all_and_those_that_beat_the_best() -> None:
    small, fast = machine("small", 0.1, 0.1, 0.1, PUBLISHED), machine("fast", 0.5, 0.5, 0.2, PUBLISHED)
    quick, thrifty, large = machine("quick", 0.4, 0.6, 0.3), machine("thrifty", 0.1, 0.0, 0.0), machine("big", 2, 9, -9)
    found = verdict([BASE, small, fast, quick, thrifty, large], "baseline")
    assert found.everywhere == ("thrifty",)
    assert found.holders == {IPC: "fast", ENERGY: "small"}
    assert found.records == {IPC: ("quick",), ENERGY: ("thrifty",)}
    without_winner = verdict([BASE, small, fast, large], "baseline")
    assert without_winner.everywhere == () and without_winner.records == {IPC: (), ENERGY: ()}


def test_a_machine_with_an_estimated_area_beats_no_other() -> None:
    small, guessed = machine("small", 0.1, 0.1, 0.1, PUBLISHED), machine("guessed", 0.0, 1.0, -1.0)
    assert verdict([BASE, small, guessed], "baseline").everywhere == ("guessed",)
    assert verdict([BASE, small, replace(guessed, measured=False)], "baseline").everywhere == ()
