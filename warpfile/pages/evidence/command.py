"""docs/schemes/SCHEME-evidence.md: every scheme beside its paper."""

from __future__ import annotations

import importlib
import itertools
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from warpfile.compiled import form
from warpfile.output.display import Report, progress, say
from warpfile.pages.evidence import converted
from warpfile.pages.evidence.machines import machines, points
from warpfile.pages.evidence.study import FEW, SEEDS, Run, Study, asked, reuse, runs_of, studied
from warpfile.pages.writing import page_parser, settle
from warpfile.results.revision import head
from warpfile.schemes import SCHEMES
from warpfile.workloads.inputs import bundled_kernels

DOCS = Path(__file__).resolve().parents[3] / "docs" / "schemes"
ALL = "all"
#: What every page says of its figures.
HEAD = f"""\
Golden model, all kernels: large launches, small ones in sweeps unless said otherwise. A mean is that of {len(SEEDS)}
runs of every kernel ({len(FEW)} in sweeps) whose misses take {-SEEDS[0]} cycles less to {SEEDS[-1]} more, ± half of its
95 % t-interval; a difference whose interval holds zero is called noise. Rows of single kernels are one run. Beside a
claim stands the same figure with a cause removed, and by how many points it moves; what nobody has removed is called a
guess.
"""


def pages(named: Iterable[str] = ()) -> dict[str, ModuleType]:
    """Modules of the pages by their scheme's name; all have ``page`` and ``kernel_row``.

    ``named``: names that are known and need not be listed.
    """
    schemes = dict(SCHEMES) | {name: SCHEMES[name] for name in named if name in SCHEMES}
    return {name: importlib.import_module(scheme.study) for name, scheme in schemes.items() if scheme.study}


def runs(page: ModuleType) -> Iterable[Run]:
    """All that a page asks for: its points at every seed, its sweeps at few; where it names none, what it reads."""
    kernels = tuple(bundled_kernels())
    if not hasattr(page, "headline"):
        return asked(page.page, kernels, reuse)
    return itertools.chain(runs_of(page.headline(), SEEDS, kernels), runs_of(page.sweep(), FEW, kernels))


def _all(name: str, page: ModuleType) -> Iterable[Run]:
    """The runs of a page, and those of its section on what else differs."""
    return itertools.chain(runs(page), runs_of(points(name, page.BASELINE), FEW, bundled_kernels()))


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
    chosen = pages(names)
    new = {name: chosen[name] for name in names if converted.is_converted(chosen[name])}
    if options.text:
        with progress("evidence") as report:
            found = {name: converted.kept(DOCS, name) for name in new if converted.has_data(DOCS, name)}
            return settle(options, _declared(new, found, report))
    print(f"golden models: {form()}", file=sys.stderr)
    with progress("evidence") as report:
        found = {name: converted.measured(name, page, report, fresh=options.fresh) for name, page in new.items()}
        made = _declared(new, found, report)
        older = {name: chosen[name] for name in names if name not in new}
        study = studied(itertools.chain(*(_all(*one) for one in older.items())), report, fresh=options.fresh)
    for name, page in older.items():
        made[DOCS / f"{name}-evidence.md"] = _undeclared(name, page, study)
    count = len(study.outcomes) + sum(one["runs"] for one in found.values())
    seconds = study.seconds + sum(one["seconds"] for one in found.values())
    say(f"{count:,} runs; from nothing they take {seconds:,.0f} s of processor time.")
    return settle(options, made)


def _declared(chosen: Mapping[str, ModuleType], found: Mapping[str, dict[str, Any]], report: Report) -> dict[Path, str]:
    """Files of pages of declared claims, and the summary."""
    made = converted.drawn(DOCS, found.values(), report)
    for name, one in found.items():
        made |= converted.files(DOCS, chosen[name], one)
    return made | converted.summary(DOCS, pages(), found) if chosen else {}


def _undeclared(name: str, page: ModuleType, study: Study) -> str:
    """A page of the older form."""
    text = f"# `{name}` on the bundled kernels\n\nWritten by `python -m warpfile.pages evidence {name}`.\n"
    return f"{text}{head()}\n{HEAD}\n{machines(study, name, page.BASELINE)}\n{page.page(study)}"
