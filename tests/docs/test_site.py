"""The site of the pages builds without a warning: every page is in its tree, and every link leads somewhere."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.waves import diagrams

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.check


def built(source: Path, target: Path) -> subprocess.CompletedProcess[str]:
    """What `make docs` runs."""
    pytest.importorskip("furo", reason="the site's packages are not installed: pip install -e '.[docs]'")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", source, target]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    done = built(ROOT / "docs", tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    commands = (tmp_path / "reference" / "commands.html").read_text()
    assert "warpfile cosim" in commands and "--power-up" in commands
    drawn = sum(len(diagrams(page.read_text())) for page in (ROOT / "docs").rglob("*.md"))
    assert len(list((tmp_path / "_images").glob("wavedrom-*.svg"))) == drawn > 0
    assert not [page for page in tmp_path.rglob("*.html") if 'src="http' in page.read_text()], "no script of others"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("# A\n\n[page](nowhere.md)\n", "nowhere.md"),
        ("# A\n\n[place](other.md#nowhere)\n", "nowhere"),
        ("# A\n", "toctree"),
    ],
)
def test_a_link_that_leads_nowhere_and_a_page_that_nothing_lists_stop_it(text: str, words: str, tmp_path: Path) -> None:
    source = tmp_path / "docs"
    source.mkdir()
    shutil.copy(ROOT / "docs" / "conf.py", source)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)  # the site has its version
    (source / "a.md").write_text(text)
    (source / "other.md").write_text("# Other\n")
    listed = "" if words == "toctree" else "a\n"
    (source / "index.md").write_text(f"# Index\n\n```{{toctree}}\n{listed}other\n```\n")
    done = built(source, tmp_path / "site")
    assert done.returncode != 0 and words in done.stderr
