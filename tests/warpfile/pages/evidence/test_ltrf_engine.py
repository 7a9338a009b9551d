"""The tables of what each piece is worth, with cycles and accesses made up by hand."""

from __future__ import annotations

from warpfile.pages.evidence import ltrf_engine as page
from warpfile.pages.evidence.study import Outcome, Study
from warpfile.results.points import Run

#: 100 cycles and ten accesses of the baseline; ``ltrf`` takes 80 cycles, ``ltrf_plus`` 50 and three accesses.
PLAIN = Outcome(100, 1, {"bank_reads": 6, "bank_writes": 4})
OURS = Outcome(80, 1, {"main_reads": 5, "main_writes": 5})
BETTER = Outcome(50, 1, {"main_reads": 2, "main_writes": 1})


def study(setting: str) -> Study:
    """Two kernels alike."""
    outcomes = {"baseline": PLAIN, "ltrf": OURS, "ltrf_plus": BETTER}
    runs = {Run(point, kernel): outcomes[point.scheme] for kernel in "ab" for point in page.wanted(setting)}
    return Study(runs, ("a", "b"), lambda _: None)  # type: ignore[arg-type, return-value]


def test_every_row_has_gains_over_the_baseline_and_accesses_of_the_better_one() -> None:
    lines = page.engine_table(study("launch"), study("large")).splitlines()[2:]
    assert len(lines) == len(page.ROWS)
    assert lines[0] == "| the preset | +25.0% | +100.0% | 30.0% | +25.0% | +100.0% | 30.0% |"


def test_the_goal_is_shown_kernel_by_kernel_and_in_all() -> None:
    best = page.PLUS.with_changes(**page.ROWS[page.BEST])
    runs = {Run(page.BASELINE, kernel): PLAIN for kernel in "ab"} | {Run(best, "a"): OURS, Run(best, "b"): BETTER}
    lines = page.goal_table(Study(runs, ("a", "b"), lambda _: None)).splitlines()[2:]  # type: ignore[arg-type, return-value]
    assert lines[0] == "| a | +25.0% | 100.0% |" and lines[1] == "| b | +100.0% | 30.0% |"
    assert lines[2] == "| all | +58.1% | 65.0% |", "the geometric mean of 1.25 and 2; the mean of 1 and 0.3"


def test_every_row_is_a_configuration() -> None:
    for point in page.wanted("launch"):
        assert isinstance(Run(point, "a").config.warps, int)
