"""Whose list is kept, and the tables of the page, with accesses and cycles made up by hand."""

from __future__ import annotations

import pytest

from tests.warpfile.pages.evidence.made_up import answering, straight
from warpfile.pages.evidence import pilot_banks as page
from warpfile.pages.evidence.study import Outcome, Run, Study
from warpfile.results.points import Point
from warpfile.schemes import SCHEMES
from warpfile.spec.config import Config

READ = tuple(((register,), ()) for register in range(8))  #: instructions that read R0, R1, ...


def config(fast: int = 1) -> Config:
    return SCHEMES["pilot"].configuration("kepler", fast_registers=fast)


def walks(*orders: tuple[int, ...]):  # type: ignore[no-untyped-def]
    """A trace whose warps execute these instructions of ``READ``."""
    trace = straight(*READ, warps=len(orders), order=orders[0])
    assert len({len(order) for order in orders}) == 1
    trace.instruction[:] = [number for order in orders for number in order]
    return trace


def test_of_every_warp_the_gain_and_whether_it_has_missed_the_list() -> None:
    """The code names every register once, so that R0 is the list. R0 has 2 accesses of all, R3 has 5, R5 has 1."""
    found = list(page.judged(config(), walks((0, 0, 3, 3), (3, 3, 3, 5))))
    assert found == [(0, False), (3 / 8, True)]


def test_a_warp_that_names_too_few_has_the_lowest_registers_too() -> None:
    """The list is R0 and R1; the first warp gives R4 and, by number, R0."""
    found = list(page.judged(config(2), walks((4, 4, 4, 4), (1, 1, 1, 0))))
    assert found == [(pytest.approx((4 + 1) / 8 - 4 / 8), True), (0, False)]


def test_kernels_count_alike_whatever_warps_they_have() -> None:
    """One kernel of two warps, of which one is better and has missed the list, and one of one that is alike."""
    table = page.pilots_table({"all": [(config(), walks((0, 0, 3, 3), (3, 3, 3, 5))), (config(), walks((0, 0)))]})
    assert table.splitlines() == [
        "| the pilot's map | warps, all | list kept |",
        "| --- | ---: | ---: |",
        "| worse | 0.0% | 0.0% |",
        "| alike | 75.0% | 0.0% |",
        "| better | 25.0% | 25.0% |",
    ]


def test_the_rows_beside_the_paper() -> None:
    cycles = {page.BASELINE: 100}
    for occupancy, factor in (("length", 2), ("one", 1)):
        cycles |= {page.slow(occupancy): 100 + 25 * factor, page.split(occupancy): 100 + 10 * factor}
        cycles |= {page.split(occupancy, 4): 220, page.split(occupancy, 5): 240}
    study = Study({Run(point, "k"): Outcome(count, 1, {}) for point, count in cycles.items()}, ("k",), lambda _: None)  # type: ignore[arg-type, return-value]
    first, second = page.banks_table(study).splitlines()[3:]
    assert first.split(" | ")[1:] == ["-33.3%", "-16.7%", "-45.5%", "-50.0% |"]
    assert second.split(" | ")[1:] == ["-20.0%", "-9.1%", "-50.0%", "-54.2% |"]


def test_every_run_of_the_tables_is_run() -> None:
    study, asked = answering()
    page.banks_table(study)
    page.kept_table(study)
    assert {run.point for run in asked} <= set(page.wanted())
    assert all(isinstance(point, Point) for point in page.wanted())
