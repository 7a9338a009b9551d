"""docs/architecture.md says of built schemes what the code has, and lists the interfaces without a user."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from warpfile.schemes import PARTS

_NAME = re.compile(r"`([a-z_]+)(?:\[w\])?`")
_SECTIONS = re.compile(r"^###? (\d(?:\.\d)?)\.? (.*?)\n(.*?)(?=^###? |\Z)", re.MULTILINE | re.DOTALL)


def sections(page: str) -> dict[str, tuple[str, str]]:
    """Number to title and text of every section."""
    return {number: (title, text) for number, title, text in _SECTIONS.findall(page)}


def table_names(text: str) -> set[str]:
    """Names in code font in the rows of tables."""
    rows = (line for line in text.splitlines() if line.startswith("|"))
    return {name for row in rows for name in _NAME.findall(row)}


def claimed(page: str) -> set[str]:
    """Names that the tables of built schemes use."""
    found = sections(page)
    built = [text for title, text in found.values() if title.split(":")[0].split(",")[0] in PARTS]
    assert len(built) == 6
    return {name for text in built for name in table_names(text)}


def unknown(page: str, sources: str) -> list[str]:
    """Of those, the names that no source has."""
    words = set(re.findall(r"\w+", sources))
    return sorted(name for name in claimed(page) if name not in words)


@pytest.fixture(scope="module")
def page(root: Path) -> str:
    return (root / "docs" / "architecture.md").read_text()


@pytest.fixture(scope="module")
def sources(root: Path) -> str:
    folders = ("spec", "golden", "hdl")
    return "".join(path.read_text() for folder in folders for path in sorted((root / folder).rglob("*.py")))


def test_built_schemes_use_what_is_there(page: str, sources: str) -> None:
    assert not unknown(page, sources)


def test_interfaces_without_a_user_are_not_said_of_built_schemes(page: str) -> None:
    (paper,) = (text for title, text in sections(page).values() if title == "Interfaces without a user")
    rows = (line.split("|")[1] for line in paper.splitlines() if line.startswith("| `"))
    names = {name for row in rows for name in _NAME.findall(row)}
    assert "branch_extra" in names
    assert not names & claimed(page)


def test_a_name_that_no_file_has_is_found(page: str, sources: str) -> None:
    planted = page.replace("| Launch | a launched", "| Launch | `branch_extra`; a launched", 1)
    assert planted != page
    assert unknown(planted, sources) == ["branch_extra"]
    assert "branch_extra" in claimed(planted)
