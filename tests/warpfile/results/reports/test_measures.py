"""Means and intervals, computed once more from the table with the standard library alone."""

from __future__ import annotations

import math
import statistics

import pytest

from tests.warpfile.results.reports.made_up import random_study, row, study
from warpfile.results.reports.measures import ACCESSES, IPC, MATCHED, MEASURES, Measure, priced, prices
from warpfile.results.reports.source import Machine

#: Two-sided 95 % quantile of Student's distribution with four degrees of freedom, from tables.
T_OF_FIVE = 2.776


@pytest.mark.parametrize("measure", MEASURES, ids=lambda one: one.column)
@pytest.mark.parametrize("seed", range(3))
def test_a_mean_is_taken_seed_by_seed_and_has_the_interval_of_its_seeds(measure: Measure, seed: int) -> None:
    made = random_study(seed)
    rows = [one for one in made.rows if one["scheme"] == "rfc"]
    by_seed = []
    for number in sorted({one["seed"] for one in rows}):
        values = [one[measure.column] for one in rows if one["seed"] == number]
        product = math.prod(values) ** (1 / len(values))
        by_seed.append((product if measure in (IPC, MATCHED) else sum(values) / len(values)) - measure.offset)
    found = measure.of(made.of(Machine("rfc", "tiny", "")))
    assert found and found.kernels == 3
    assert found.mean == pytest.approx(statistics.mean(by_seed))
    assert found.half == pytest.approx(T_OF_FIVE * statistics.stdev(by_seed) / math.sqrt(5))


def test_another_value_at_one_seed_changes_mean_and_interval() -> None:
    rows = [row(seed=seed, bank_accesses_over_baseline=0.5) for seed in (0, 2, 4)]
    same = ACCESSES.of(study(*rows).of(Machine("bow", "tiny", "")))
    rows[1]["bank_accesses_over_baseline"] = 0.8
    other = ACCESSES.of(study(*rows).of(Machine("bow", "tiny", "")))
    assert same and other and (same.mean, same.half) == (-0.5, 0) != (other.mean, other.half)
    assert other.mean == pytest.approx(-0.4)


def test_one_seed_has_a_mean_and_no_interval() -> None:
    found = ACCESSES.of([row(kernel=name, bank_accesses_over_baseline=x) for name, x in (("a", 0.5), ("b", 1.0))])
    assert found and (found.mean, found.half, found.kernels) == (-0.25, None, 2)


def test_a_kernel_that_did_not_run_at_every_seed_is_in_no_mean() -> None:
    rows = [row(kernel="a", seed=seed, bank_accesses_over_baseline=0.5) for seed in (0, 2)]
    rows.append(row(kernel="b", seed=0, bank_accesses_over_baseline=0.1))
    found = ACCESSES.of(rows)
    assert found and (found.mean, found.kernels) == (-0.5, 1)
    assert ACCESSES.of(rows, ("b", "launch")) and not ACCESSES.of(rows, ("c", "launch"))


def test_the_interval_over_kernels_is_of_their_means_over_seeds() -> None:
    rows = [
        row(kernel=kernel, seed=seed, bank_accesses_over_baseline=x + seed / 100)
        for kernel, x in (("a", 0.5), ("b", 0.9))
        for seed in (-2, 2)
    ]
    found = ACCESSES.of(rows)
    assert found and (found.low, found.high) == pytest.approx((-0.5, -0.1)) and not found.undecided
    assert (ACCESSES.of(rows, ("a", "launch")) or found).low is None
    rows += [row(kernel="c", seed=seed, bank_accesses_over_baseline=1.9) for seed in (-2, 2)]
    assert (ACCESSES.of(rows) or found).undecided


def test_a_measure_without_values_has_no_mean() -> None:
    assert ACCESSES.of([row()]) is None and ACCESSES.of([]) is None


def test_all_rows_have_one_set_of_prices() -> None:
    rows = [row(energy_prices="pilot", energy_priced=0.2), row(energy_prices="pilot", energy_priced=0.4)]
    assert prices(rows) == "pilot" and priced(rows) == pytest.approx(0.3)
    assert prices([row()]) == "" and priced([row()]) is None


def test_what_grew_on_no_kernel_is_identical() -> None:
    same = [row(kernel=kernel, seed=seed, bank_accesses_over_baseline=1.0) for kernel in "ab" for seed in (-2, 2)]
    found = ACCESSES.of(same)
    assert found and found.identical
    same[0] |= {"bank_accesses_over_baseline": 1.001}
    found = ACCESSES.of(same)
    assert found and not found.identical
