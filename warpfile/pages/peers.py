"""docs/schemes/baseline.md: the operand stage beside a published one, by OpenSTA with the cells of osu018."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from warpfile import tools
from warpfile.pages.writing import DOCS, page_parser, write_or_check
from warpfile.synth.liberty import read_liberty
from warpfile.synth.peers import table
from warpfile.synth.timing import TimingError

PAGE = DOCS / "schemes" / "baseline.md"
BEGIN, END = "<!-- Written by `python -m warpfile.pages peers`. -->\n", "<!-- End of what it wrote. -->\n"


def main(arguments: Sequence[str]) -> int:
    """Write the table; 2 if something that it needs is missing."""
    parser = page_parser("peers", __doc__)
    parser.add_argument("--liberty", type=Path, default=tools.OSU018, help="osu018's cell library")
    options = parser.parse_args(arguments)
    if tools.find("sta") is None:
        print(f"peers: {tools.missing('sta')}", file=sys.stderr)
        return 2
    try:
        made = "".join(f"{line}\n" for line in table(read_liberty(options.liberty)))
    except (ValueError, TimingError, OSError) as error:
        print(f"peers: {error} (library osu018: {tools.TOOLS['osu018'].install})", file=sys.stderr)
        return 2
    return write_or_check(options, {PAGE: written(PAGE.read_text(), made)}, (made,))


def written(text: str, made: str) -> str:
    """The page with what was made between its marks. Raises ``ValueError`` where it lacks them."""
    before, begin, rest = text.partition(BEGIN)
    _, end, behind = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"docs/schemes/baseline.md must have the lines {BEGIN.strip()!r} and {END.strip()!r}")
    return before + begin + made + end + behind
