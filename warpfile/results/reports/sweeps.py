"""Measures over the values of one configuration field, all else equal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from warpfile.results.reports.chart import Chart
from warpfile.results.reports.measures import MEASURES, Measure
from warpfile.results.reports.source import Machine, Study
from warpfile.results.reports.style import COLOURS, DASHES, SYMBOLS, dress, text, whiskers

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: A curve: what its machines have in common, and the machine at each value of the field.
Curve = tuple[str, dict[str, Machine]]


def sweeps(study: Study) -> Iterator[Chart]:
    """A chart per field that was given several values."""
    fields = dict.fromkeys(name for machine in study.machines for name in machine.fields)
    for field in fields:
        curves = [(label, some) for label, some in _curves(study, field).items() if len(some) > 1]
        measures = [one for one in MEASURES if any(one.of(study.of(m)) for _, some in curves for m in some.values())]
        if curves and measures:
            yield Chart(
                f"sweep-{field}",
                f"Over {field}",
                f"A curve per machine that was run with several values of {field}, all else equal: means over kernels,"
                " over the baseline at the same preset with the same changes. Whiskers: 95 % t-interval over seeds.",
                "Between the values that were run nothing is known; lines only lead the eye.",
                _figure(study, field, curves, measures),
            )


def _curves(study: Study, field: str) -> dict[str, dict[str, Machine]]:
    """Machines that differ in the field alone, by what they have in common, by its value in ascending order."""
    found: dict[str, dict[str, Machine]] = {}
    presets = {(one.scheme, one.preset) for one in study.machines if field in one.fields}
    several = {scheme for scheme, _ in presets if sum(scheme == other for other, _ in presets) > 1}
    for one in study.machines:
        if field in one.fields:
            rest = " ".join(f"{name}={value}" for name, value in one.fields.items() if name != field)
            label = " ".join(filter(None, (one.scheme, one.preset if one.scheme in several else "", rest)))
            found.setdefault(label, {})[one.fields[field]] = one
    return {label: dict(sorted(some.items(), key=lambda pair: _order(pair[0]))) for label, some in found.items()}


def _order(value: str) -> tuple[int, float, str]:
    try:
        return 0, float(value), value
    except ValueError:
        return 1, 0.0, value


def _figure(study: Study, field: str, curves: list[Curve], measures: list[Measure]) -> Figure:
    from plotly.subplots import make_subplots

    titles = [one.title for one in measures]
    figure = make_subplots(1, len(measures), subplot_titles=titles, horizontal_spacing=0.06)
    for column, measure in enumerate(measures, 1):
        for number, (label, some) in enumerate(curves):
            points = [(v, found) for v, m in some.items() if (found := measure.of(study.of(m))) is not None]
            colour = COLOURS[number % len(COLOURS)]
            figure.add_scatter(
                x=[value for value, _ in points],
                y=[found.mean for _, found in points],
                error_y=whiskers([found for _, found in points]),
                mode="lines+markers",
                line={"color": colour, "dash": DASHES[number % len(DASHES)]},
                marker={"symbol": SYMBOLS[number % len(SYMBOLS)], "size": 9},
                name=text(label),
                legendgroup=label,
                showlegend=column == 1,
                row=1,
                col=column,
            )
        values = sorted({value for _, some in curves for value in some}, key=_order)
        order = {"type": "category", "categoryorder": "array", "categoryarray": values}
        figure.update_xaxes(title=field, **order, row=1, col=column)
        figure.update_yaxes(tickformat=".1%", row=1, col=column)
    legend = {"orientation": "h", "y": -0.22, "yanchor": "top"}
    return dress(figure, 430, legend=legend)
