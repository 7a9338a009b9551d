"""Growths over kernels: intervals, what they are called, and the table of means."""

from __future__ import annotations

from typing import Any

import pytest

from warpfile.results.studies.means import GROWTHS, Growth, growth, means
from warpfile.results.studies.table import Row

COLUMN = "ipc_over_baseline"


def rows(*ratios: float, seeds: tuple[int, ...] = (0,), **more: Any) -> list[Row]:
    """A kernel per ratio, the same at every seed."""
    machine = {"study": "made", "scheme": "bow", "preset": "tiny", "changes": "", "baseline": "baseline"}
    return [
        machine | {"kernel": f"k{number}", "setting": "launch", "seed": seed, COLUMN: ratio} | more
        for seed in seeds
        for number, ratio in enumerate(ratios)
    ]


def of(*ratios: float, **more: Any) -> Growth:
    found = growth(rows(*ratios, **more), COLUMN)
    assert found
    return found


def test_kernels_that_all_gain_decide_the_sign() -> None:
    gain, loss = of(1.1, 1.2, 1.15, 1.05), of(0.9, 0.8, 0.85, 0.95)
    assert not gain.undecided and not loss.undecided
    assert gain.interval and gain.interval[0] > 0 and loss.interval and loss.interval[1] < 0
    assert "undecided" not in str(gain)


def test_kernels_that_disagree_leave_the_sign_undecided() -> None:
    found = of(1.4, 0.7, 1.1, 0.9)
    assert found.undecided and str(found).startswith("undecided: ")


def test_one_kernel_has_no_interval_and_is_not_called_undecided() -> None:
    found = of(1.0)
    assert found.interval is None and not found.undecided and str(found) == "identical"


def test_seeds_move_the_interval_over_seeds_and_not_that_over_kernels() -> None:
    quiet = of(1.1, 1.2, 1.3, seeds=(0, 2))
    found = rows(1.1, 1.2, 1.3, seeds=(0, 2))
    for row in found:
        row[COLUMN] += 0.05 if row["seed"] else -0.05
    loud = growth(found, COLUMN)
    assert loud and loud.seeds.half > quiet.seeds.half
    assert loud.interval == pytest.approx(quiet.interval)


def test_a_text_has_mean_seeds_and_kernels() -> None:
    assert str(of(1.2, 1.2)) == "+20.0% [+20.0,+20.0]"
    assert str(of(1.2, 1.2, seeds=(0, 2))) == "+20.0% ± 0.0 [+20.0,+20.0]"
    assert str(of(1.00001, 0.99999, seeds=(0, 2))) == "noise, undecided: -0.0% ± 0.0 [-0.0,+0.0]"


def test_what_has_grown_nowhere_is_identical() -> None:
    assert str(of(1.0, 1.0)) == str(of(1.0, 1.0, seeds=(0, 2))) == "identical"
    assert str(of(1.0, 1.0001)) != "identical"


def test_a_kernel_that_is_missing_at_a_seed_leaves_no_mean() -> None:
    found = rows(1.1, 1.2, seeds=(0, 2))
    assert growth(found, COLUMN)
    found[-1][COLUMN] = None
    assert growth(found, COLUMN) is None


def test_settings_of_a_kernel_are_two_of_them() -> None:
    both = [*rows(1.1), *rows(1.3, setting="large")]
    found = growth(both, COLUMN)
    assert found and found.kernels == 2 and found.interval == pytest.approx((0.1, 0.3))


def test_the_baseline_has_not_grown_over_itself() -> None:
    assert growth(rows(1.0, 1.0, scheme="baseline"), COLUMN) is None


def test_the_table_of_means_has_a_row_per_machine_and_growth() -> None:
    found = rows(1.1, 1.3, differs="collectors 8 (baseline 2)", matched="baseline collectors=8", ipc_over_matched=1.0)
    ours, matched = means(found)
    assert (ours["growth"], matched["growth"]) == ("IPC growth", "IPC over matched") and {*GROWTHS} >= {ours["growth"]}
    assert ours["differs"] == "collectors 8 (baseline 2)" and ours["matched"] == "baseline collectors=8"
    assert (ours["low_over_kernels"], ours["high_over_kernels"]) == pytest.approx((0.1, 0.3))
    assert (ours["undecided"], matched["undecided"], ours["half_over_seeds"]) == (False, True, None)
