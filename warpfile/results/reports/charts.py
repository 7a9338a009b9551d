"""All charts of a page, in their order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from warpfile.results.reports.chart import Chart
from warpfile.results.reports.facts import Facts
from warpfile.results.reports.kernels import by_kernel
from warpfile.results.reports.measures import MEASURES
from warpfile.results.reports.overview import overview
from warpfile.results.reports.pipeline import pipelines
from warpfile.results.reports.source import Machine, Study
from warpfile.results.reports.stall_reasons import reasons
from warpfile.results.reports.style import looks
from warpfile.results.reports.sweeps import sweeps
from warpfile.results.reports.tradeoff import tradeoff
from warpfile.results.reports.treemap import treemap


def charts(study: Study, facts: Mapping[Machine, Facts]) -> list[Chart]:
    """Every chart for which the study has data."""
    known = {machine: one.cost for machine, one in facts.items() if one.cost}
    shown = looks([study.names[machine] for machine in study.machines])

    def every() -> Iterator[Chart | None]:
        yield overview(study, known)
        yield tradeoff(study, known, shown)
        yield from sweeps(study)
        yield from (by_kernel(study, measure, shown) for measure in MEASURES)
        yield reasons(study)
        yield treemap(study, known, shown)
        yield from pipelines(study)

    return [chart for chart in every() if chart]
