"""How long the sentences of a page are.

``python -m tests.docs.prose PAGE...`` prints words per sentence: mean, 95 of 100, and the longest one.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from markdown_it import MarkdownIt

_END = re.compile(r"(?<=[.!?:;])[)\"']*\s+(?=[A-Z`*(\d\[])")
_WORD = re.compile(r"[A-Za-z][\w'-]*")


def sentences(text: str) -> Iterator[str]:
    """Sentences of paragraphs and items of a page; tables, headings, code and names in code are left out.

    A colon or semicolon before a capital letter or a number ends one, as it does in lists.
    """
    tokens = MarkdownIt().enable("table").parse(text)
    inside = ""
    for token in tokens:
        if token.type.endswith("_open") and token.type in ("heading_open", "th_open", "td_open", "paragraph_open"):
            inside = token.type
        elif token.type == "inline" and inside == "paragraph_open":
            said = "".join(
                "X" if child.type == "code_inline" else " " if child.type == "softbreak" else child.content
                for child in token.children or ()
            )
            yield from (one for one in _END.split(said) if _WORD.search(one))


def lengths(text: str) -> list[int]:
    """Words of every sentence, the shortest first."""
    return sorted(len(_WORD.findall(one)) for one in sentences(text))


def main(pages: list[str]) -> None:
    """Print a table row per page."""
    print("| page | sentences | mean words | 95 % | longest |\n|---|---:|---:|---:|---:|")
    for page in pages:
        found = lengths(Path(page).read_text())
        row = (len(found), f"{sum(found) / len(found):.1f}", found[len(found) * 95 // 100], found[-1])
        print(f"| {page} | {' | '.join(map(str, row))} |")


if __name__ == "__main__":
    main(sys.argv[1:])
