"""docs/schemes/SCHEME-evidence.md: every scheme beside its paper."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from warpfile.compiled import form
from warpfile.output.display import Report, progress, say
from warpfile.pages.evidence import stored
from warpfile.pages.writing import page_parser, write_or_check
from warpfile.schemes import SCHEMES

DOCS = Path(__file__).resolve().parents[3] / "docs" / "schemes"
ALL = "all"


def pages(named: Iterable[str] = ()) -> dict[str, ModuleType]:
    """Modules of the pages by their scheme's name; docs/evidence.md, "A page", has what is in them.

    ``named``: names that are known and need not be listed.
    """
    schemes = dict(SCHEMES) | {name: SCHEMES[name] for name in named if name in SCHEMES}
    return {name: importlib.import_module(scheme.study) for name, scheme in schemes.items() if scheme.study}


def main(arguments: Sequence[str]) -> int:
    """Run what the pages compare, and write them."""
    parser = page_parser("evidence", __doc__)
    known = pages()
    parser.add_argument("pages", nargs="*", metavar="SCHEME", help=f"of {', '.join(known)}; default: {ALL}")
    parser.add_argument("--fresh", action="store_true", help="run everything anew, whatever build/evidence has")
    parser.add_argument(
        "--text", action="store_true", help="of pages with data: write them from these, and run nothing"
    )
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.pages if name not in (*pages(options.pages), ALL)]:
        parser.error(f"SCHEME must be one of {', '.join(known)}, {ALL}, not {unknown[0]!r}")
    names = list(known) if ALL in options.pages or not options.pages else options.pages
    chosen = {name: page for name, page in pages(names).items() if name in names}
    with progress("evidence") as report:
        if options.text:
            found = {name: stored.read(DOCS, name) for name in chosen if stored.has_data(DOCS, name)}
            return write_or_check(options, _made(chosen, found, report))
        print(f"golden models: {form()}", file=sys.stderr)
        found = {name: stored.measured(name, page, report, fresh=options.fresh) for name, page in chosen.items()}
        made = _made(chosen, found, report)
    count, seconds = (sum(one[key] for one in found.values()) for key in ("runs", "seconds"))
    say(f"{count:,} runs; from nothing they take {seconds:,} s of processor time.")
    return write_or_check(options, made)


def _made(chosen: Mapping[str, ModuleType], found: Mapping[str, dict[str, Any]], report: Report) -> dict[Path, str]:
    """Files of pages with data, and the summary."""
    made = stored.charts(DOCS, found.values(), report)
    for name, one in found.items():
        made |= stored.files(DOCS, chosen[name], one)
    return made | stored.summary(DOCS, pages(), found)
