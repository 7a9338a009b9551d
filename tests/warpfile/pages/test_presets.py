"""The page of presets is what its command prints."""

from __future__ import annotations

from warpfile.pages.presets import PAGE, markdown


def test_page_is_what_the_table_prints() -> None:
    assert PAGE.read_text() == markdown(), "run: python -m warpfile.pages presets"
