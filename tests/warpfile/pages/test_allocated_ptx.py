"""The tables of allocated PTX beside machine code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.compiler.passes.ltrf.harness import kernel
from tests.compiler.ptx.test_listing import REFUSED
from warpfile.kernels.reference import names
from warpfile.pages import allocated_ptx as page
from warpfile.pages.evidence import factors
from warpfile.pages.lengths import measured
from warpfile.pages.writing import DOCS

TEXT = (DOCS / "ptx.md").read_text()
ONE, OTHER = page.Facts(40, 10, 300, (2, 1)), page.Facts(30, 12, 200, (3, 2))


def table(columns: tuple[str, ...]) -> list[list[str]]:
    """Rows of the page's table that has these columns."""
    _, found, rest = TEXT.partition(f"| {' | '.join(columns)} |\n")
    assert found
    lines = re.match(r"(?:\|.*\n)+", rest)
    assert lines
    return [line.strip("| ").split(" | ") for line in lines[0].splitlines()[1:]]


def test_rows_are_of_both_codes_and_the_last_ones_of_all() -> None:
    found = list(page.rows({"a": (ONE, OTHER), "b": (OTHER, ONE)}))
    assert {len(row) for row in found} == {len(page.COLUMNS)}
    assert found[0] == ("a", "40", "30", "10", "12", "300", "200", "20.0", "10.0", "40.0", "15.0")
    assert found[2] == ("mean", *["-"] * 6, "15.0", "15.0", "27.5", "27.5")
    assert found[3] == ("all code together", "70", "70", "-", "-", "500", "500", "14.0", "14.0", "23.3", "23.3")


def test_facts_of_machine_code_are_those_that_other_pages_have() -> None:
    trace = kernel("spmv")
    found, known = page.facts(trace), measured(trace)
    assert (found.code, found.executed) == (known.growth.instructions, trace.records)
    assert found.intervals[0] == known.growth.prefetches
    assert found.intervals[1] == measured(trace, 32).growth.prefetches


def test_the_page_names_the_kernels_that_are_refused_and_has_a_row_of_all_others() -> None:
    assert dict(table(page.REFUSED)) == REFUSED
    kernels = [row[0] for row in table(page.COLUMNS)]
    assert kernels == [*(name for name in names() if name not in REFUSED), "mean", "all code together"]


@pytest.mark.needs("nvcc")
def test_a_row_of_the_page_is_what_its_command_measures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(factors, "TRACES", tmp_path)
    found, refused = page.measured(["scan", "calls"])
    row = list(next(iter(page.rows(found))))
    assert row in table(page.COLUMNS) and refused == {"calls": REFUSED["calls"]}
