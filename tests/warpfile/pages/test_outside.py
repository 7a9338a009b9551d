"""Cycles of whole kernels beside Accel-Sim's, and the page that has them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from warpfile.output.display import silent
from warpfile.pages.listed import VERSIONS, listed
from warpfile.pages.outside import ITS_LSU, Row, main, mean_error, recorded, rows, text
from warpfile.workloads.inputs import obtain_trace

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "outside.md").read_text()
LINE = re.compile(
    r"^\| `(\w+)` \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \| \S+ \| ([\d,]+) \| \S+ \| ([\d,]+) \| \S+ \|$", re.MULTILINE
)
SHORT = ("fdtd", "divide", "half2")


def of_page() -> list[Row]:
    return [Row(found[1], *(int(found[n].replace(",", "")) for n in (2, 3, 4, 5, 6))) for found in LINE.finditer(PAGE)]


def test_the_page_has_the_kernels_that_it_names_and_the_means_of_its_rows() -> None:
    found = of_page()
    assert {row.kernel for row in found} == set(recorded()) == VERSIONS["0.2.0"]
    assert listed(recorded()) in PAGE
    assert text(found) in PAGE


def test_with_the_same_lsu_the_mean_error_is_at_most_a_quarter() -> None:
    assert mean_error([(row.alike, row.theirs) for row in of_page()]) <= 0.25
    assert mean_error([(3 * row.alike, row.theirs) for row in of_page()]) > 0.25, "a machine three times as slow is not"


@pytest.mark.parametrize("kernel", SHORT)
def test_rows_of_short_kernels_are_those_of_today(kernel: str) -> None:
    (row,) = rows([kernel])
    assert row in of_page()
    assert row.alike < row.ours and set(ITS_LSU) == {"lsu_interval"}


@pytest.mark.check
def test_all_rows_are_those_of_today() -> None:
    assert list(rows(list(recorded()))) == of_page()


def test_both_ran_the_same_instructions() -> None:
    for kernel in SHORT:
        trace = obtain_trace(kernel, "large", None, silent)
        assert recorded()[kernel][0] == trace.instructions


def test_an_unknown_kernel_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["fdtx"])
    assert "KERNEL must be one of bfs_step, bitonic_sort" in capsys.readouterr().err


def test_some_kernels_are_printed_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert not main(["fdtd"])
    assert "| sum of 1, mean error |" in capsys.readouterr().out
