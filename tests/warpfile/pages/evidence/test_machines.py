"""The section of an evidence page on what else than the scheme differs."""

from __future__ import annotations

import pytest

from tests.warpfile.pages.evidence.made_up import answering
from warpfile.pages.evidence.command import pages
from warpfile.pages.evidence.machines import designs, machines, points
from warpfile.pages.evidence.study import FEW, runs_of
from warpfile.schemes import SCHEMES

NAMES = tuple(pages())


def test_every_scheme_is_on_one_page() -> None:
    shown = [one.scheme.name for name, page in pages().items() for one in designs(name, page.BASELINE)]
    assert sorted((*shown, "baseline")) == sorted(SCHEMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_section_reads_the_runs_that_it_asks_for(name: str) -> None:
    base = pages()[name].BASELINE
    study, asked = answering()
    text = machines(study, name, base)
    assert asked == set(runs_of(points(name, base), FEW, study.kernels))
    assert text.endswith("\n") and all(f"* `{one.scheme.name}`: " in text for one in designs(name, base))


def test_a_machine_that_differs_in_nothing_costs_no_run() -> None:
    base = pages()["bow"].BASELINE
    assert points("bow", base) == [] and "* `bow`: nothing" in machines(answering()[0], "bow", base)


def test_a_machine_that_differs_stands_beside_both_baselines() -> None:
    base = pages()["ltrf"].BASELINE
    names = [(one.scheme, dict(one.changes).get("scheduler")) for one in points("ltrf", base)]
    assert names == [("ltrf", None), ("baseline", None), ("baseline", "two_level"), ("ltrf_plus", None)]
    last = machines(answering()[0], "ltrf", base).splitlines()[-1].split("|")
    assert last[1].strip() == "ltrf_plus" and all("[" in cell and "±" in cell for cell in last[2:4])
