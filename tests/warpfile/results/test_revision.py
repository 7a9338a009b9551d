"""Pages whose figures take hours say of which machine they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpfile.results.revision import CHANGES, MACHINE, machine_line, stated_machine, warning

DOCS = Path(__file__).resolve().parents[3] / "docs"
PAGES = [*DOCS.glob("regress-*.md"), *DOCS.glob("schemes/*-evidence.md"), DOCS / "search-turing.md"]


def test_a_page_names_its_machine_on_a_line_of_its_own() -> None:
    assert stated_machine(f"# A page\n\nWritten by a command.\n{machine_line()}\nText") == MACHINE
    assert stated_machine("# A page\n\nWritten by a command.\nText about Machine 2.") == 1


def test_a_warning_has_all_that_is_new_since() -> None:
    assert "sectors of 32 bytes" in warning(1) and "machine 1" in warning(1)
    assert "sectors of 32 bytes" not in warning(2) and "\n* A beat may wait" in warning(2)
    assert set(CHANGES) == set(range(2, MACHINE + 1))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_of_an_older_machine_says_so_first(page: Path) -> None:
    text = page.read_text()
    below_title = text.partition("\n\n")[2]
    assert below_title.startswith(f"{warning(stated_machine(text))}\n\n") == (stated_machine(text) < MACHINE)
