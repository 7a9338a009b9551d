"""In what else than their scheme the machines of a page differ from its baseline, and what is left without that."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from warpfile.pages.evidence.study import FEW, Point, Study
from warpfile.results.designs import Design, design
from warpfile.results.markdown import table
from warpfile.results.sample import GEOMETRIC, bracketed
from warpfile.schemes import SCHEMES, find


def designs(name: str, baseline: Point) -> list[Design]:
    """The schemes of a page at the preset of its baseline, with the changes that this has."""
    changes = [f"{field}={value}" for field, value in baseline.changes]
    schemes = (one for one in SCHEMES if one == name or one.startswith(f"{name}_"))
    return [design(find(one), baseline.preset, changes) for one in schemes]


def points(name: str, baseline: Point) -> list[Point]:
    """What :func:`machines` compares: of machines that differ they, their baselines and matched baselines."""
    differing = (one for one in designs(name, baseline) if one.matching.differs)
    trios = (_points(one, baseline) for one in differing)
    return list(dict.fromkeys(itertools.chain.from_iterable(trios)))


def machines(study: Study, name: str, baseline: Point) -> str:
    """The section of a page."""
    return "\n".join(_sections(study, name, baseline))


def _sections(study: Study, name: str, baseline: Point) -> Iterator[str]:
    yield "## Beside the scheme\n"
    yield f"Fields of the baseline at `{baseline.preset}` in which the machines differ from it. The matched"
    yield "baseline has the same values, but for those of the scheme (docs/study.md). In brackets: 95 % interval"
    yield "over kernels, in percent.\n"
    found = designs(name, baseline)
    for one in found:
        yield f"* `{one.scheme.name}`: {str(one.matching) or 'nothing'}"
    rows = [_row(study, one, baseline) for one in found if one.matching.differs]
    if rows:
        yield ""
        yield table(("scheme", "IPC over the baseline", "IPC over the matched baseline"), rows)
    else:
        yield ""


def _row(study: Study, one: Design, baseline: Point) -> tuple[str, str, str]:
    ours, *besides = _points(one, baseline)
    base, matched = (_growth(study, ours, beside) for beside in besides)
    return one.scheme.name, base, matched


def _points(one: Design, baseline: Point) -> tuple[Point, Point, Point]:
    return tuple(  # type: ignore[return-value]
        Point(it.scheme.name, it.preset, tuple(sorted(it.changes.items())), setting=baseline.setting)
        for it in (one, one.baseline, one.matched)
    )


def _growth(study: Study, point: Point, over: Point) -> str:
    spread = study.spread(lambda one: one.speedup(point, over), FEW)
    by_kernel = (
        study.spread(lambda one, kernel=kernel: one.gain(kernel, point, over), FEW) for kernel in study.kernels
    )
    return bracketed(spread, GEOMETRIC.interval([1 + one.mean for one in by_kernel]))
