"""The prose linter of the pages: proselint with the words of ``words.toml``.

``python -m tests.docs.words`` lints README and pages, except those that ``words.toml`` exempts. It prints a line per
finding and ends with 1 if there is one. With names of pages behind it, it lints these, exempt or not.
"""

from __future__ import annotations

import sys
import tomllib
from bisect import bisect_right
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt
from proselint.checks import __register__ as GENERAL
from proselint.config import DEFAULT
from proselint.registry.checks import Check, types

from tests.docs.pages import pages

ROOT = Path(__file__).resolve().parents[2]
LIST = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())
#: Checks of proselint that do not fit these pages, with the reason.
LEFT_OUT = {
    "typography": "the pages are ASCII: x for a product, straight quotes",
    "lexical_illusions": "two names in code side by side look like a repeated word",
    "dates_times": "am and pm occur in names",
    "misc.phrasal_adjectives": "finds hyphens in 'read-only' and in numbers with units",
}
#: Between paragraphs, so that no phrase goes from one to the next.
_BREAK = "\n|\n"


class Finding(NamedTuple):
    """A word to change: its line (1 is the first), and the message."""

    line: int
    message: str


@cache
def checks() -> tuple[Check, ...]:
    """The checks that proselint enables by default and that are not left out, and the words of the list."""
    enabled = [name for name, is_on in DEFAULT["checks"].items() if is_on]
    general = (
        check
        for check in GENERAL
        if any(map(check.matches_partial, enabled)) and not any(map(check.matches_partial, LEFT_OUT))
    )
    own = {idiom.replace(" ", r"\s+"): plain for idiom, plain in LIST["words"].items()}
    words = Check(check_type=types.PreferredForms(own), path="warpfile.words", message="'{1}': write {0}")
    return (*general, words)


def texts(page: str) -> Iterator[tuple[int, str]]:
    """Paragraphs, headings, items and cells of a page, each with its first line; code in them is ``X``."""
    line = 0
    for token in MarkdownIt().enable("table").parse(page):
        line = token.map[0] + 1 if token.map else line
        if token.type == "inline":
            kinds = {"code_inline": "X", "softbreak": "\n", "html_inline": ""}
            yield line, "".join(kinds.get(child.type, child.content) for child in token.children or ())


def findings(page: str) -> list[Finding]:
    """Words to change in the Markdown text of a page, by line."""
    text, starts, lines = _BREAK, [], []
    for line, paragraph in texts(page):
        starts.append(len(text))
        lines.append(line)
        text += paragraph + _BREAK
    found = []
    for one in (one for check in checks() for one in check.check_with_flags(text)):
        at = bisect_right(starts, one.span[1] - 1) - 1
        found.append(Finding(lines[at] + text.count("\n", starts[at], max(one.span[0], starts[at])), one.message))
    return sorted(found)


def is_exempt(page: str) -> bool:
    """Whether the list names a page, by its path from the root of the repository."""
    return any(fnmatch(page, pattern) for patterns in LIST["exempt"].values() for pattern in patterns)


def main(named: list[str]) -> int:
    """Print a line per finding; returns 1 if there is one."""
    names = named or [name for path in pages(ROOT) if not is_exempt(name := str(path.relative_to(ROOT)))]
    found = [(name, one) for name in names for one in findings((ROOT / name).read_text())]
    for name, one in found:
        print(f"{name}:{one.line}: {' '.join(one.message.split())}")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
