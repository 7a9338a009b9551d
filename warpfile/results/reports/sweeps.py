"""Measures over the values of one configuration field, all else equal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from math import isclose
from typing import TYPE_CHECKING

from warpfile.results.reports.chart import Chart
from warpfile.results.reports.measures import ABSOLUTE, IPC, MEASURES, Measure, Value
from warpfile.results.reports.source import Machine, Row, Study
from warpfile.results.reports.style import COLOURS, DASHES, GREY, SYMBOLS, dress, text, whiskers

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_COLUMNS = 3  #: charts side by side
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
                f"A curve per machine that was run with several values of {field}, all else equal: means over kernels."
                " A growth is over the baseline at the same preset with the same changes. What the baseline itself"
                " gains is in the chart of IPC, in grey. Whiskers: 95 % t-interval over seeds.",
                "Between the values that were run nothing is known; lines only lead the eye.",
                _figure(study, field, curves, measures),
            )


def _curves(study: Study, field: str) -> dict[str, dict[str, Machine]]:
    """Machines that differ in the field alone, by what they have in common, by its value in ascending order.

    Among them is the one that has its default, where the study has that machine.
    """
    found: dict[str, dict[str, Machine]] = {}
    swept = [one for one in study.machines if field in one.fields]
    presets = {(one.scheme, one.preset) for one in swept}
    several = {scheme for scheme, _ in presets if sum(scheme == other for other, _ in presets) > 1}
    known = {_rest(one, field, several) for one in swept}
    for one in study.machines:
        value = one.fields.get(field) or _default(study, one, field)
        label = _rest(one, field, several)
        if value is not None and (one.scheme, one.preset) in presets and label in known:
            found.setdefault(label, {})[value] = one
    return {label: dict(sorted(some.items(), key=lambda pair: _order(pair[0]))) for label, some in found.items()}


def _rest(machine: Machine, field: str, several: Set[str]) -> str:
    changes = (f"{name}={value}" for name, value in machine.fields.items() if name != field)
    return " ".join((machine.scheme, *((machine.preset,) if machine.scheme in several else ()), *changes))


def _default(study: Study, machine: Machine, field: str) -> str | None:
    value = next((row[name] for row in study.of(machine) for name in [f"config_{field}"] if name in row), None)
    return None if value is None else str(value)


def _baselines(study: Study, curves: list[Curve]) -> Iterator[tuple[str, dict[str, Value]]]:
    """IPC of the baselines over the values of the field, each once, unless a curve is the baseline's own."""
    own = [_points(study, ABSOLUTE, some) for _, some in curves]
    found: list[tuple[dict[str, Value], list[str]]] = []
    for label, some in curves:
        beside = {value: ABSOLUTE.of(map(_of_baseline, study.of(machine))) for value, machine in some.items()}
        points = {value: one for value, one in beside.items() if one}
        if points and not any(_same(points, other) for other in own):
            same = next((labels for other, labels in found if _same(points, other)), None)
            if same is None:
                found.append((points, [label]))
            else:
                same.append(label)
    for points, labels in found:
        yield "baseline" if len(found) == 1 else f"baseline of {', '.join(labels)}", points


def _of_baseline(row: Row) -> Row:
    """The row with the baseline's IPC instead of the machine's."""
    ours, over = row.get(ABSOLUTE.column), row.get(IPC.column)
    return {**row, ABSOLUTE.column: ours / over if ours and over else None}


def _same(ours: Mapping[str, Value], other: Mapping[str, Value]) -> bool:
    return ours.keys() == other.keys() and all(isclose(ours[one].mean, other[one].mean) for one in ours)


def _points(study: Study, measure: Measure, some: Mapping[str, Machine]) -> dict[str, Value]:
    return {value: found for value, machine in some.items() if (found := measure.of(study.of(machine)))}


def _order(value: str) -> tuple[int, float, str]:
    try:
        return 0, float(value), value
    except ValueError:
        return 1, 0.0, value


def _figure(study: Study, field: str, curves: list[Curve], measures: list[Measure]) -> Figure:
    from plotly.subplots import make_subplots

    titles = [one.title for one in measures]
    lines = -(-len(measures) // _COLUMNS)
    figure = make_subplots(
        lines,
        min(len(measures), _COLUMNS),
        subplot_titles=titles,
        horizontal_spacing=0.06,
        vertical_spacing=0.34 / lines,
    )
    named: set[str] = set()  # that the legend has
    for number, measure in enumerate(measures):
        row, column = number // _COLUMNS + 1, number % _COLUMNS + 1
        for look, (label, some) in enumerate(curves):
            trace = _trace(label, _points(study, measure, some), COLOURS[look % len(COLOURS)], look)
            figure.add_scatter(**trace, showlegend=label not in named, row=row, col=column)
            named.add(label)
        if measure is ABSOLUTE:
            for look, (label, points) in enumerate(_baselines(study, curves)):
                figure.add_scatter(**_trace(label, points, GREY, look), row=row, col=column)
        values = sorted({value for _, some in curves for value in some}, key=_order)
        order = {"type": "category", "categoryorder": "array", "categoryarray": values}
        figure.update_xaxes({"title": {"text": field}, **order}, row=row, col=column)
        figure.update_yaxes(tickformat=measure.form, row=row, col=column)
    legend = {"orientation": "h", "y": 0, "yref": "container", "yanchor": "bottom"}
    return dress(figure, 120 + 280 * lines, legend=legend, margin={"l": 10, "r": 20, "t": 64, "b": 90})


def _trace(label: str, points: Mapping[str, Value], colour: str, look: int) -> dict[str, object]:
    return {
        "x": list(points),
        "y": [found.mean for found in points.values()],
        "error_y": whiskers(list(points.values())),
        "mode": "lines+markers",
        "line": {"color": colour, "dash": DASHES[look % len(DASHES)]},
        "marker": {"symbol": SYMBOLS[look % len(SYMBOLS)], "size": 9},
        "name": text(label),
        "legendgroup": label,
    }
