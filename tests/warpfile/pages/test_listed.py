"""Pages say which kernels they are of."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from warpfile.pages.listed import VERSIONS, listed
from warpfile.workloads.inputs import bundled_kernels

DOCS = Path(__file__).resolve().parents[3] / "docs"
REGRESSIONS = sorted(DOCS.glob("regress-*.md"))


def test_kernels_of_a_version_are_still_bundled() -> None:
    assert all(names <= set(bundled_kernels()) for names in VERSIONS.values())
    assert len(VERSIONS["0.2.0"]) == 36


def test_a_list_is_named_by_its_version_only_if_it_is_the_whole_of_it() -> None:
    names = sorted(VERSIONS["0.2.0"])
    assert listed(names) == "the 36 kernels of version 0.2.0"
    assert listed(names[1:]) == "35 bundled kernels"
    assert listed([*names, "other"]) == "37 bundled kernels"


@pytest.mark.parametrize("page", REGRESSIONS, ids=lambda page: page.stem)
def test_a_regression_has_rows_of_the_kernels_that_it_names(page: Path) -> None:
    text = page.read_text()
    rows = set(re.findall(r"^\| \S+[^|]*\| \d+ \| (\w+) \(\w+\) \|", text, re.MULTILINE))
    said = re.search(r"of (?:the )?(\d+) (?:bundled )?kernels(?: of version ([\d.]+))?, with those refused", text)
    assert said and rows <= set(bundled_kernels()) and 0 < len(rows) <= int(said[1])
    if said[2]:
        assert rows <= VERSIONS[said[2]] and len(VERSIONS[said[2]]) == int(said[1])
