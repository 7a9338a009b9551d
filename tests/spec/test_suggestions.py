"""Suggestions for wrong names."""

from __future__ import annotations

from warpfile.spec.suggestions import suggestion


def test_the_nearest_name_is_suggested() -> None:
    assert suggestion("saxpyy", ["spmv", "saxpy", "scan"]) == "; did you mean 'saxpy'?"


def test_a_name_that_is_near_to_none_gets_no_suggestion() -> None:
    assert suggestion("none", ["spmv", "saxpy"]) == ""
    assert suggestion("saxpy", []) == ""
