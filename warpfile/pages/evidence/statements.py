"""Claims as a page declares them, and what runs give: docs/evidence.md, "A claim"."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from warpfile.pages.evidence.factors import PLAIN, Factor, Input
from warpfile.pages.evidence.samples import Metric, Sample
from warpfile.pages.evidence.verdict import Step, verdict
from warpfile.results.figure import Figure, Range
from warpfile.results.points import Outcome, Point, Run
from warpfile.results.revision import MACHINE
from warpfile.workloads.inputs import contents

SEEDS = (-4, 0, 4)


@dataclass(frozen=True)
class Pair:
    """A machine and the one beside it, and how their traces are made."""

    point: Point
    over: Point
    input: Input = PLAIN

    def with_factor(self, factor: Factor) -> Pair:
        """The same with one factor more."""
        return Pair(factor.of(self.point), factor.of_other(self.over), self.input.with_factor(factor))

    def runs(self, kernel: str, seed: int) -> tuple[Run, Run]:
        """Their runs on a kernel."""
        return self._run(self.point, kernel, seed), self._run(self.over, kernel, seed)

    def _run(self, point: Point, kernel: str, seed: int) -> Run:
        if not self.input.parts:
            return Run(point, kernel, seed)
        place = self.input.trace(kernel, point.setting)
        return Run(point, place, seed, _contents(place))


@dataclass(frozen=True)
class Statement:
    """A claim: see the page. ``kernels`` gives the names that it is about."""

    key: str
    where: str
    metric: Metric
    paper: Range
    point: Point
    over: Point
    kernels: Callable[[], Sequence[str]]
    factors: Sequence[Factor]

    @property
    def pairs(self) -> list[Pair]:
        """The machines of all steps."""
        found = [Pair(self.point, self.over)]
        for factor in self.factors:
            found.append(found[-1].with_factor(factor))
        return found

    @property
    def metrics(self) -> list[Metric]:
        """What is computed of the runs of all steps."""
        found = [self.metric]
        for factor in self.factors:
            found.append(factor.counted or found[-1])
        return found

    def runs(self) -> Iterator[Run]:
        """All that it needs."""
        for pair in self.pairs:
            for kernel in self.kernels():
                for seed in SEEDS:
                    yield from pair.runs(kernel, seed)


@cache
def _contents(place: str) -> str:
    return contents(place, "large")


def facts(statement: Statement, outcomes: Mapping[Run, Outcome]) -> dict[str, Any]:
    """What a page says of a claim, as JSON has it. Raises ``ValueError`` for a run that was refused."""
    figures = [_figure(statement, *step, outcomes) for step in zip(statement.pairs, statement.metrics, strict=True)]
    names = ("", *(factor.what for factor in statement.factors))
    assumed = ("", *(factor.assumed for factor in statement.factors))
    steps = [
        Step(name, bool(where), figure.mean, figure.range, figure.moved(figures[place - 1]) if place else None)
        for place, (name, where, figure) in enumerate(zip(names, assumed, figures, strict=True))
    ]
    found = verdict(steps, statement.paper, statement.metric.neutral)
    return {
        "key": statement.key,
        "where": statement.where,
        "metric": _over(statement.metric, statement.over),
        "kind": statement.metric.kind,
        "machines": [named(statement.point), named(statement.over)],
        "paper": list(statement.paper),
        "verdict": found.word,
        "about": found.about,
        "steps": [_step(step, where, figure) for step, where, figure in zip(steps, assumed, figures, strict=True)],
    }


def _over(metric: Metric, over: Point) -> str:
    return f"{metric.name}, over `{over.scheme}`" if metric.kind != "share" and metric.beside else metric.name


def _step(step: Step, assumed: str, figure: Figure) -> dict[str, Any]:
    return {
        "factor": step.factor,
        "assumed": assumed,
        "mean": _rounded(figure.mean),
        "half": _rounded(figure.seeds.half),
        "kernels": figure.kernels and [_rounded(one) for one in figure.kernels],
        "moved": step.moved and [_rounded(one) for one in step.moved],
        "by_kernel": {kernel: _rounded(value) for kernel, value in figure.by_kernel.items()},
    }


def _rounded(value: float) -> float:
    return round(float(value), 5)


def _figure(statement: Statement, pair: Pair, metric: Metric, outcomes: Mapping[Run, Outcome]) -> Figure:
    values = {}
    for kernel in statement.kernels():
        both = [tuple(Sample(run, outcomes[run]) for run in pair.runs(kernel, seed)) for seed in SEEDS]
        for one in (one.outcome for two in both for one in two if one.outcome.refused):
            raise ValueError(f"{statement.key} on {kernel}: {one.refused}")
        values[kernel] = [metric.of(*two) for two in both]
    return Figure(values, metric.kind)


def spot_points(statements: Iterable[Statement]) -> list[Point]:
    """All points of a page on bundled traces, the machines of the first claim first."""
    pairs = [pair for one in statements for pair in one.pairs if not pair.input.parts]
    return list(dict.fromkeys(point for pair in pairs for point in (pair.point, pair.over)))


def spot_check(statements: Sequence[Statement], kernel: str, outcomes: Mapping[Run, Outcome]) -> dict[str, Any]:
    """The row that tests recompute: cycles of every point on one kernel at seed 0, under a name of the point."""
    rows = {named(point): outcomes[Run(point, kernel)].cycles for point in spot_points(statements)}
    return {"kernel": kernel, "cycles": rows}


def named(point: Point) -> str:
    """A point in a line."""
    changes = " ".join(f"{name}={value}" for name, value in point.changes)
    exact = "exact distances" if point.oracle else ""
    rest = " ".join(one for one in (exact, point.setting, point.issues, point.file) if one)
    return " ".join(one for one in (point.scheme, point.preset, changes, rest) if one)


def declared(statements: Iterable[Statement]) -> str:
    """A hash of what is declared, without figures: data of other declarations are stale."""
    text = "\n".join(
        repr((one.key, one.where, one.metric.name, one.metric.kind, one.paper, *map(_said, one.pairs), one.factors))
        for one in statements
    )
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _said(pair: Pair) -> tuple[str, str, str]:
    return named(pair.point), named(pair.over), " ".join(pair.input.parts)


def data(name: str, statements: Sequence[Statement], kernel: str, outcomes: Mapping[Run, Outcome]) -> dict[str, Any]:
    """The data of a page."""
    return {
        "scheme": name,
        "machine": MACHINE,
        "declared": declared(statements),
        "seeds": list(SEEDS),
        "runs": len(outcomes),
        "seconds": round(sum(one.seconds for one in outcomes.values())),
        "spot": spot_check(statements, kernel, outcomes),
        "claims": [facts(one, outcomes) for one in statements],
    }
