"""Figures of the page of ``modern``."""

from __future__ import annotations

import pytest

from warpfile.pages.evidence import modern as page
from warpfile.pages.evidence.samples import Sample
from warpfile.results.points import Outcome, Run, trace_of


def test_what_the_cache_serves_is_a_share_of_the_sources_of_fixed_beats() -> None:
    assert page.served(Outcome(10, 4, {"rfc_hits": 3, "fixed_sources": 30})) == pytest.approx(0.1)


def test_marks_are_counted_by_instructions_other_than_nops() -> None:
    found = page.MARKS.of(*(2 * [Sample(Run(page.MODERN, page.PRODUCT), Outcome(1, 1, {}))]))
    code = [one.text for one in trace_of(page.PRODUCT, "large").program if one.opcode != "NOP"]
    assert 0 < found == sum(".reuse" in text for text in code) / len(code) < 1


def test_units_of_a_whole_warp_are_on_both_sides() -> None:
    for point in (page.WHOLE.of(page.OFF), page.WHOLE.of_other(page.MODERN)):
        assert dict(point.changes)["unit_interval"] == 1
