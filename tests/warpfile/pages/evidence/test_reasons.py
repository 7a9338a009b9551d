"""No page says why a number differs unless a run shows it: causes are factors."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

#: Words that give a reason.
REASON = re.compile(
    r"\b(because|since|due to|owing to|therefore|hence|why|reason|caused|explains?|thanks to|comes? from|so that"
    r"|leaves? (few|less|more)|as in the paper|which makes?)\b",
    re.IGNORECASE,
)


def reasons(source: str) -> Iterator[str]:
    """Texts of a module, docstrings apart, that give a reason."""
    tree = ast.parse(source)
    quiet: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            quiet.add(id(node.value))
    for node in ast.walk(tree):
        said = isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in quiet
        if said and REASON.search(node.value):
            yield node.value


def test_no_text_of_a_page_gives_a_reason(root: Path) -> None:
    files = sorted((root / "warpfile" / "pages" / "evidence").glob("*.py"))
    assert len(files) > 5
    assert not {path.name: found for path in files if (found := list(reasons(path.read_text())))}


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('yield "IPC", "+9%", ours, "ports leave few conflicts to save"', True),
        ('yield f"{share} because loads pass the cache by"', True),
        ('Factor("late since results wait", own={})', True),
        ('"""Why kernels differ."""', False),
        ('yield "IPC, both, 8 active", "about equal"', False),
    ],
)
def test_a_planted_reason_is_found(line: str, found: bool) -> None:
    assert bool(list(reasons(line))) == found
