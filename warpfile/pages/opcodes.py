"""docs/opcodes.md: which opcodes are parsed, executed and tested."""

from __future__ import annotations

from collections.abc import Sequence

from warpfile.emulator.coverage import TABLE, table
from warpfile.pages.writing import page_parser, write_or_check


def main(arguments: Sequence[str]) -> int:
    """Write the page."""
    options = page_parser("opcodes", __doc__).parse_args(arguments)
    return write_or_check(options, {TABLE: table()})
