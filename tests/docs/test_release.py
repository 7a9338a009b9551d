"""Version and date of a release are the same wherever they stand."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_changes_and_citation_are_of_the_version_that_is_built() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    citation = (ROOT / "CITATION.cff").read_text()
    (date,) = re.findall(r"^date-released: (\S+)$", citation, re.MULTILINE)
    releases = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert f"\nversion: {version}\n" in citation
    assert releases[:2] == ["Unreleased", f"{version} ({date})"]
