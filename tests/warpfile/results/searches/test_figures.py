"""Who is at the front, and who beats whom."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from warpfile.results.figure import Figure
from warpfile.results.searches.figures import ENERGY, IPC, Figures, Record, beats, best, front, verdict
from warpfile.results.searches.space import COMBINATION, PUBLISHED, RESIZED


def speeds(*by_kernel: Sequence[float]) -> Figure:
    """IPC over the baseline's, minus one, of kernels at their seeds."""
    return Figure(
        {str(number): [1 + one for one in values] for number, values in enumerate(by_kernel)}, "geometric growth"
    )


def energies(*by_kernel: Sequence[float]) -> Figure:
    """The same of energy."""
    return replace(speeds(*by_kernel), kind="growth")


def machine(name: str, area: float, ipc: float, energy: float, kind: str = COMBINATION) -> Figures:
    """A machine to which neither seeds nor kernels do anything."""
    return Figures(name, kind, area, True, speeds((ipc,) * 3, (ipc,) * 3), energies((energy,) * 3, (energy,) * 3))


BASE = machine("baseline", 0.0, 0.0, 0.0, PUBLISHED)


def test_a_dominated_machine_is_not_at_the_front() -> None:
    good, worse = machine("good", 0.1, 0.2, -0.2), machine("worse", 0.11, 0.19, -0.19)
    assert front([BASE, good, worse]) == ["baseline", "good"]
    assert front([BASE, good, replace(worse, energy=energies((-0.3,) * 3))]) == ["baseline", "good", "worse"]


def test_the_front_has_the_machines_that_none_dominates() -> None:
    rng = random.Random(5)
    every = [machine(str(number), *(rng.randrange(9) / 10 for _ in range(3))) for number in range(60)]
    found = set(front(every))

    def mean(one: Figures, value: str) -> float:
        growth = one.growth(value)
        assert growth
        return round(growth.mean, 9)

    def dominated(one: Figures, value: str) -> bool:
        sign = 1 if value == IPC else -1
        return any(
            other.area <= one.area
            and sign * mean(other, value) >= sign * mean(one, value)
            and (other.area, mean(other, value)) != (one.area, mean(one, value))
            for other in every
        )

    assert found == {one.name for one in every if not (dominated(one, IPC) and dominated(one, ENERGY))}


def test_a_machine_of_which_the_area_is_estimated_gets_the_benefit_of_the_doubt() -> None:
    good, guessed = machine("good", 0.1, 0.2, -0.2), replace(machine("guessed", 0.15, 0.2, -0.2), measured=False)
    assert front([good, guessed]) == ["good"]
    assert front([good, guessed], error=0.1) == ["guessed"]


def test_better_is_more_than_chance_over_seeds() -> None:
    surely, perhaps = (replace(BASE, ipc=speeds(one, one)) for one in ((0.02, 0.021, 0.019), (0.09, -0.03, 0.0)))
    assert surely.better(BASE, IPC) and not perhaps.better(BASE, IPC) and not BASE.better(surely, IPC)
    assert not BASE.better(replace(BASE, energy=None), ENERGY)


def test_better_is_more_than_chance_over_kernels() -> None:
    """Two of three kernels gain: which of them are run decides."""
    some = replace(BASE, ipc=speeds(*((one,) * 3 for one in (0.3, 0.2, -0.1))))
    other = replace(BASE, ipc=speeds(*((one,) * 3 for one in (0.31, 0.21, -0.09))))
    still = replace(BASE, ipc=speeds(*((0.0,) * 3,) * 3))
    assert some.ipc.mean > 0.1 and not some.better(still, IPC)
    assert other.better(some, IPC), "a hundredth more on every kernel"


def test_with_one_seed_kernels_decide() -> None:
    one, other = (replace(BASE, ipc=speeds((gain,), (gain + 0.01,))) for gain in (0.2, 0.1))
    assert one.better(other, IPC) and not other.better(one, IPC)


def test_to_beat_takes_no_more_area() -> None:
    one = machine("one", 0.1, 0.2, 0.5)
    assert beats(one, machine("same area", 0.1, 0.1, 0.1)) and not beats(one, machine("smaller", 0.09, 0.1, 0.1))
    assert not beats(one, machine("better in both", 0.1, 0.3, 0.4))


def test_the_best_is_no_larger_than_asked_for() -> None:
    some = [machine("small", 0.1, 0.1, 0.0), machine("large", 0.9, 0.8, -0.5)]
    assert best(some, 0.5, IPC) == some[0] and best(some, 0.9, IPC) == some[1] and best(some, 0.05, IPC) is None


def test_a_verdict_names_those_that_beat_all_and_those_that_beat_the_best() -> None:
    small, fast = machine("small", 0.1, 0.1, 0.1, PUBLISHED), machine("fast", 0.5, 0.5, 0.2, PUBLISHED)
    quick, thrifty, large = (
        machine("quick", 0.4, 0.6, 0.3),
        machine("thrifty", 0.1, 0.0, 0.0),
        machine("big", 2, 9, -0.9),
    )
    found = verdict([BASE, small, fast, quick, thrifty, large], "baseline")
    assert found.everywhere == ("thrifty",)
    assert found.combinations == {IPC: Record("fast", ("quick",)), ENERGY: Record("small", ("thrifty",))}
    without_winner = verdict([BASE, small, fast, large], "baseline")
    assert without_winner.everywhere == ()
    assert without_winner.combinations == {IPC: Record("fast", ()), ENERGY: Record("small", ())}


def test_a_scheme_in_another_size_stands_between_a_combination_and_its_record() -> None:
    published, quick = machine("published", 0.5, 0.5, 0.2, PUBLISHED), machine("quick", 0.4, 0.6, 0.3)
    resized = machine("baseline collectors=4", 0.3, 0.7, 0.3, RESIZED)
    assert verdict([BASE, published, quick], "baseline").combinations[IPC] == Record("published", ("quick",))
    found = verdict([BASE, published, quick, resized], "baseline")
    assert found.combinations[IPC] == Record("baseline collectors=4", ())
    assert found.resized[IPC] == Record("published", ("baseline collectors=4",))


def test_a_machine_with_a_long_path_is_not_named() -> None:
    published, quick = machine("published", 0.5, 0.5, 0.2, PUBLISHED), machine("quick", 0.4, 0.6, 0.3)
    for path, names in ((1.3, ("quick",)), (1.31, ())):
        found = verdict([BASE, published, replace(quick, path=path)], "baseline")
        assert found.combinations[IPC].names == names and found.everywhere == names


def test_a_machine_with_an_estimated_area_beats_no_other() -> None:
    small, guessed = machine("small", 0.1, 0.1, 0.1, PUBLISHED), machine("guessed", 0.0, 1.0, -0.9)
    assert verdict([BASE, small, guessed], "baseline").everywhere == ("guessed",)
    assert verdict([BASE, small, replace(guessed, measured=False)], "baseline").everywhere == ()
