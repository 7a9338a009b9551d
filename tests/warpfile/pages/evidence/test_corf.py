"""Figures of the page of ``corf``, and what is taken away for its causes."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from tests.golden.rf.packed.scenario import get, put, valued
from tests.warpfile.pages.evidence.made_up import answering
from warpfile.pages.evidence import corf as page
from warpfile.pages.evidence.reuse import Reuse
from warpfile.pages.evidence.study import FEW, Outcome, Run, Study
from warpfile.schemes import find
from warpfile.schemes.part import found

POINTS = (page.PLAIN, page.SIDES, *(page.without(page.SIDES, cause) for cause in page.CAUSES))


def measured(cycles: dict[str, int]) -> Study:
    """Kernels that take a thousand cycles, and on ``corf_plus`` so many."""
    outcomes = {
        Run(point, kernel, seed): Outcome(count if point == page.SIDES else 1000, 1, {})
        for kernel, count in cycles.items()
        for point in POINTS
        for seed in FEW
    }
    return Study(outcomes, tuple(cycles), lambda _: pytest.fail("no trace is needed"))


def test_kernels_that_lose_have_a_row_with_every_cause_removed() -> None:
    text = "".join(page._losing(measured({"even": 1000, "slower": 1100, "slowest": 2000})))
    rows = [line for line in text.splitlines() if "| s" in line]
    same = " noise: +0.0% ± 0.0 |" * len(page.CAUSES)
    assert rows == [f"| slowest | -50.0% ± 0.0 |{same}", f"| slower | -9.1% ± 0.0 |{same}"]


def test_a_cause_is_a_class_for_the_file_or_a_cycle_of_every_latency() -> None:
    plain = find("corf").configuration(page.PRESET)
    for cause, (file, early) in page.CAUSES.items():
        point = page.without(page.CORF, cause)
        cfg = find("corf").configuration(page.PRESET, **dict(point.changes))
        assert {getattr(plain, f"{one}_latency") - getattr(cfg, f"{one}_latency") for one in page.LATENCIES} == {early}
        assert not file or found(file).__name__ == file.rpartition(":")[2]
    assert found(page.NARROW) is not found(page.CAUSES[page.SWEEP][0])


def test_accesses_count_merges_where_there_are_any() -> None:
    run = Outcome(1, 1, {"bank_reads": 5, "bank_writes": 3, "merges": 2})
    assert page.accesses(run) == 10 and page.accesses(run, merges=False) == 8


def test_narrow_results_are_a_share_of_those_with_a_size() -> None:
    run = Outcome(1, 1, {"size_1": 3, "size_2": 2, "size_3": 1, "size_4": 4})
    assert page.narrow(run) == 0.6 and page.narrow(run, 1) == 0.3


def test_rows_are_those_of_the_registers_of_resident_warps() -> None:
    trace = replace(valued([put(1, 5), get(1)]), registers=10)
    counts = Counter(used_row_cycles=300, resident_cycles=40)
    study = Study(
        {Run(page.PLUS, "one", seed): Outcome(1, 1, counts) for seed in FEW}, ("one",), lambda _: Reuse(trace)
    )
    assert page._used(study, page.PLUS).mean == pytest.approx(300 / 400 - 1)


def test_the_page_has_less_than_2300_runs_of_32_kernels() -> None:
    study, asked = answering()
    page.page(study)
    assert len(asked) <= 70 * len(study.kernels) and {run.seed for run in asked} == set(FEW)
