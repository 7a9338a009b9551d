"""Figures of the page of ``corf``, and what is taken away by its factors."""

from __future__ import annotations

import pytest

from warpfile.pages.evidence import corf as page
from warpfile.pages.evidence.samples import Sample
from warpfile.pages.evidence.widths import pairs_of
from warpfile.results.points import Outcome, Run, trace_of
from warpfile.schemes.part import load_object


def test_a_factor_of_the_file_is_a_class_that_there_is() -> None:
    for factor in (page.FREE, page.ONE_BYTE):
        assert load_object(factor.file).__name__ == factor.file.rpartition(":")[2]


def test_accesses_count_merges_where_there_are_any() -> None:
    run = Outcome(1, 1, {"bank_reads": 5, "bank_writes": 3, "merges": 2})
    assert page.accesses(run) == 10 and page.accesses(run, merges=False) == 8


def test_narrow_results_are_a_share_of_those_with_a_size() -> None:
    run = Outcome(1, 1, {"size_1": 3, "size_2": 2, "size_3": 1, "size_4": 4})
    assert page.narrow(3)(run) == 0.6 and page.narrow(1)(run) == 0.3


def test_reads_are_counted_without_the_writes_where_the_paper_does() -> None:
    run = Run(page.CORF, "divide")
    ours = Sample(run, Outcome(1, 1, {"bank_reads": 5, "bank_writes": 4, "merges": 2}))
    other = Sample(run, Outcome(1, 1, {"bank_reads": 10, "bank_writes": 4, "merges": 0}))
    assert page.ACCESSES.of(ours, other) == pytest.approx(11 / 14)
    assert page.READS.counted and page.READS.counted.of(ours, other) == 0.5


def test_rows_are_those_of_the_registers_of_resident_warps() -> None:
    counts = {"used_row_cycles": 300, "resident_cycles": 40}
    one = Sample(Run(page.PLUS, "divide"), Outcome(1, 1, counts))
    assert page.ROWS.of(one, one) == pytest.approx(300 / (40 * trace_of("divide", "large").registers))


def test_rows_of_written_registers_are_those_of_a_file_that_packs_nothing() -> None:
    ours, other = (
        Sample(Run(point, "divide"), Outcome(1, 1, {"used_row_cycles": rows, "resident_cycles": 40}))
        for point, rows in ((page.PACKING, 300), (page.UNPACKED, 400))
    )
    assert page.WRITTEN.counted and page.WRITTEN.counted.of(ours, other) == pytest.approx(0.75)
    assert Run(page.UNPACKED, "divide").config.packing == 0


def test_pairs_are_counted_in_the_trace_of_a_run() -> None:
    one = Sample(Run(page.CORF, "divide"), Outcome(1, 1, {}))
    pairs = pairs_of(trace_of("divide", "large"))
    assert 0 < page.ALLOCATED.of(one, one) == pairs.fitting / pairs.allocations < 1
