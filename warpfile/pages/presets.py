"""docs/presets.md: every value of every preset with its source."""

from __future__ import annotations

from collections.abc import Sequence

from warpfile.pages.writing import DOCS, page_parser, settle
from warpfile.spec.presets import markdown


def main(arguments: Sequence[str]) -> int:
    """Write the page."""
    options = page_parser("presets", __doc__).parse_args(arguments)
    return settle(options, {DOCS / "presets.md": markdown()})
