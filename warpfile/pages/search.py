"""``docs/search-turing.md``: what ``examples/study/search.toml`` finds, and the time that it takes."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from warpfile.output.display import progress, say
from warpfile.pages.writing import DOCS, ROOT, page_parser, write_or_check
from warpfile.results.searches.plan import search_plan
from warpfile.results.searches.report import report
from warpfile.results.searches.search import searched
from warpfile.results.studies.execution import local
from warpfile.results.studies.plan import read_study

SEARCH = ROOT / "examples" / "study" / "search.toml"
PAGE = DOCS / "search-turing.md"


def main(arguments: Sequence[str]) -> int:
    """Write the page or check it: what the cache has of the search is not run again."""
    parser = page_parser("search", __doc__)
    parser.add_argument("--delays", type=Path, metavar="FILE", help="a library with delays, for critical paths")
    options = parser.parse_args(arguments)
    given = {"delays": str(options.delays.resolve())} if options.delays else {}
    asked = search_plan({**read_study(SEARCH), **given}, SEARCH.parent, str(SEARCH.relative_to(ROOT)))
    start = time.monotonic()
    with progress("search") as tell:
        found = searched(asked, partial(local, os.cpu_count() or 1), tell)
    say(f"{time.monotonic() - start:.0f} s elapsed")
    return write_or_check(options, {PAGE: report(found)})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
