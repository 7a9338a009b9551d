"""An SM with two schedulers: over one operand stage, or as two domains with half of everything each.

The tables of docs/assumptions.md, "Two schedulers": golden models, large launches of the bundled kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from warpfile.output.display import progress, say
from warpfile.pages.evidence.study import Outcome, Point, Run, runs_of, studied
from warpfile.pages.writing import DOCS, page_parser, with_tables, write_or_check
from warpfile.results.markdown import table
from warpfile.results.sample import GEOMETRIC, bracketed
from warpfile.results.spread import Spread
from warpfile.spec.dual_issue import PORTS
from warpfile.workloads.inputs import bundled_kernels

#: Fields of which the SM has as much as its domains together, and those that say how seldom a domain has its turn.
SUMS = ("warps", "banks", "collectors", "cache_lines", "mshrs", "mshr_merges")
TURNS = ("double_interval", "lsu_interval", "sfu_interval", "sector_interval")
LINEAR, FERMI = Point("baseline", "fermi_linear"), Point("baseline", "fermi")
HALF = LINEAR.with_changes(rows=32)
BASELINES = {"`fermi_linear`": LINEAR, "`fermi_linear`, half file": HALF, "`fermi`": FERMI}
#: By its name a machine, and what it is compared with.
SCHEMES = {
    "`regmutex`": (replace(LINEAR, scheme="regmutex"), LINEAR),
    "`regmutex_paired`": (replace(LINEAR, scheme="regmutex_paired"), LINEAR),
    "`baseline`, half file, over the full one": (HALF, LINEAR),
    "`regmutex`, half file": (replace(HALF, scheme="regmutex"), HALF),
    "`regmutex_paired`, half file": (replace(HALF, scheme="regmutex_paired"), HALF),
    "`corf`": (replace(FERMI, scheme="corf"), FERMI),
    "`corf_plus`": (replace(FERMI, scheme="corf_plus"), FERMI),
}

#: Points that make an SM out of one of a preset: it takes as long as the longest of them.
Form = Callable[[Point], tuple[Point, ...]]


def scheduled(point: Point) -> tuple[Point, ...]:
    """The SM as one domain with two schedulers."""
    (whole,) = single(point)
    # Doubles go by the ports of arithmetic, of which each scheduler has one: both together begin them as often.
    ports = {"ports": PORTS, "write_back_ports": PORTS, "double_interval": Run(point, "").config.double_interval}
    return (replace(whole, issues="two schedulers").with_changes(**ports),)


def domains(point: Point) -> tuple[Point, ...]:
    """The SM as its domains, each by itself."""
    return tuple(point.with_changes(domain=domain) for domain in range(Run(point, "").config.domains))


def single(point: Point) -> tuple[Point, ...]:
    """The SM as one domain with one scheduler of one issue."""
    cfg = Run(point, "").config
    sums = {name: getattr(cfg, name) * cfg.domains for name in SUMS}
    return (point.with_changes(domains=1, **sums, **{name: getattr(cfg, name) // cfg.domains for name in TURNS}),)


PAGE = DOCS / "assumptions.md"
FORMS: tuple[Form, ...] = (scheduled, domains, single)


@dataclass(frozen=True)
class Measured:
    """Outcomes of all points on all kernels."""

    outcomes: Mapping[Run, Outcome]
    kernels: tuple[str, ...]

    def cycles(self, points: tuple[Point, ...], kernel: str) -> int:
        """Of an SM, 0 where it has no room for the kernel. A domain without a warp of any CTA takes no time."""
        found = [self.outcomes[Run(point, kernel)] for point in points]
        return 0 if found[0].refused else max(one.cycles for one in found)

    def ratios(self, points: tuple[Point, ...], over: tuple[Point, ...]) -> dict[str, float]:
        """Of the cycles, by kernel for which both have room."""
        both = {kernel: (self.cycles(points, kernel), self.cycles(over, kernel)) for kernel in self.kernels}
        return {kernel: ours / theirs for kernel, (ours, theirs) in both.items() if ours and theirs}


def growth(ratios: Mapping[str, float]) -> str:
    """Geometric mean over the kernels, minus one, with its interval."""
    values = list(ratios.values())
    return bracketed(Spread((GEOMETRIC(values) - 1,)), GEOMETRIC.interval(values))


def _ends(ratios: Mapping[str, float]) -> str:
    ends = (pick(ratios, key=lambda kernel: ratios[kernel]) for pick in (min, max))
    return ", ".join(f"{kernel} {ratios[kernel] - 1:+.1%}" for kernel in ends)


def machines(measured: Measured) -> Iterator[tuple[str, ...]]:
    """Rows of the baselines: cycles over those of two schedulers."""
    for name, point in BASELINES.items():
        apart, one = (measured.ratios(form(point), scheduled(point)) for form in (domains, single))
        yield name, growth(apart), _ends(apart), growth(one)


def schemes(measured: Measured) -> Iterator[tuple[str, ...]]:
    """Rows of the schemes: cycles over those of the baseline, in every form, and the last but one over the first."""
    for name, (point, over) in SCHEMES.items():
        two, apart, one = (measured.ratios(form(point), form(over)) for form in FORMS)
        between = {kernel: apart[kernel] / two[kernel] for kernel in two if kernel in apart}
        yield name, growth(two), growth(apart), growth(between), _ends(between), growth(one)


def page(measured: Measured) -> Iterator[str]:
    """Both tables."""
    ends = "least and most"
    yield table(("baseline at", "two domains", ends, "one scheduler of one issue"), machines(measured))
    columns = ("scheme", "two schedulers", "two domains", "domains over schedulers", ends, "one scheduler")
    yield table(columns, schemes(measured))


def points() -> list[Point]:
    """All machines that are run."""
    compared = (*BASELINES.values(), *(point for point, _ in SCHEMES.values()))
    return list(dict.fromkeys(one for point in compared for form in FORMS for one in form(point)))


def main(arguments: Sequence[str]) -> int:
    """Write the tables."""
    options = page_parser("schedulers", __doc__).parse_args(arguments)
    with progress("schedulers") as report:
        study = studied(runs_of(points(), (0,), bundled_kernels()), report)
    tables = tuple(page(Measured(study.outcomes, tuple(study.kernels))))
    say(f"{len(study.outcomes):,} runs; from nothing they take {study.seconds:,.0f} s of processor time.")
    return write_or_check(options, {PAGE: with_tables(PAGE.read_text(), tables)}, tables)
