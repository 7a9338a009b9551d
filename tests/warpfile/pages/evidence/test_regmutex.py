"""Sizes of an extended set that do not fit every kernel."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.warpfile.pages.evidence.made_up import straight
from warpfile.output.display import silent
from warpfile.pages.evidence import regmutex as page
from warpfile.pages.evidence.reuse import Reuse
from warpfile.pages.evidence.study import FEW, Outcome, Run, Study, studied

CYCLES = {"one": 1000, "other": 3000}  #: of the baseline; everything else takes a tenth more, or as many as its size


def measured(*refused: tuple[int, str]) -> Study:
    """Two kernels at all sizes, but for these."""
    outcomes = {
        Run(point, kernel, seed): Outcome(
            cycles, 1, Counter(resident_cycles=2 * cycles, acq_try=4, acq_ok=3, acq_fail=1)
        )
        for kernel, base in CYCLES.items()
        for point in (page.BASELINE, page.POOL, *map(page.sized, page.SIZES))
        for seed in FEW
        for cycles in [base if point == page.BASELINE else base + base // 10]
    }
    for size, kernel in refused:
        for seed in FEW:
            outcomes[Run(page.sized(size), kernel, seed)] = Outcome(0, 0, {}, refused="es_override must be another")
    return Study(outcomes, tuple(CYCLES), lambda _: Reuse(straight()))


def lines(study: Study) -> list[str]:
    """What the page says of sizes."""
    return "\n".join(page._sizes(study)).splitlines()


def test_a_kernel_that_some_size_does_not_fit_is_in_no_mean() -> None:
    whole, partly = lines(measured()), lines(measured((6, "other")))
    assert whole[1] == "one, other." and partly[1] == "one."
    means = f"| cycles |{' +10.0% ± 0.0 |' * 7}"
    assert means in whole and means in partly
    cell = " +10.0%, 2.0, 75.0% |"
    assert f"| other |{cell * 7}" in whole
    assert f"| other |{cell * 3} does not fit |{cell * 3}" in partly and f"| one |{cell * 7}" in partly


def test_without_a_kernel_that_all_sizes_fit_there_are_no_means() -> None:
    none = lines(measured((6, "other"), (2, "one")))
    assert none[1] == "none." and not any(line.startswith("| cycles |") for line in none)


def test_a_size_that_does_not_fit_is_no_run_and_has_no_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warpfile.results.result_cache.KEPT", tmp_path)
    fitting, large = page.sized(4).small, page.sized(12).small
    for _ in range(2):  # run, then kept
        study = studied([Run(fitting, "scan"), Run(large, "scan")], silent)
        assert study.fits(fitting, "scan") and not study.fits(large, "scan")
        with pytest.raises(ValueError, match="es_override must be below the 12 registers of the kernel, not 12"):
            study.of(large, "scan")
        assert study.of(fitting, "scan").cycles
