"""Cost against benefit, with the designs that no other one beats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from warpfile.results.reports.chart import Chart
from warpfile.results.reports.costs import Cost
from warpfile.results.reports.measures import ENERGY, IPC, Value
from warpfile.results.reports.pareto import pareto
from warpfile.results.reports.source import Machine, Study
from warpfile.results.reports.style import INK, Look, dress, text, whiskers

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_AREA = "area growth"
#: Two figures by their title, each with 1 where more is better, -1 where less is.
Pair = tuple[tuple[str, int], tuple[str, int]]
#: What is set against each other.
_PAIRS: tuple[Pair, ...] = (
    ((_AREA, -1), (IPC.title, 1)),
    ((_AREA, -1), (ENERGY.title, -1)),
    ((ENERGY.title, -1), (IPC.title, 1)),
)


def tradeoff(study: Study, known: Mapping[Machine, Cost], shown: dict[str, Look]) -> Chart | None:
    """Pairs of figures of which at least two machines have both; None where there is no such pair."""
    figures = _figures(study, known)
    pairs = [pair for pair in _PAIRS if sum(all(n in one for n, _ in pair) for one in figures.values()) > 1]
    if not pairs:
        return None
    return Chart(
        "tradeoff",
        "Cost against benefit",
        "Every machine over the baseline at its preset. Machines on the line are the Pareto front: no other one is"
        " better in one figure and no worse in the other. Those that are beaten are pale. Whiskers: 95 % t-interval"
        " over seeds. Area: logic and memory bits together.",
        "The front goes by means: where intervals overlap, another seed may put another machine on it. It compares"
        " growths over different baselines where presets differ.",
        _figure(study, figures, pairs, shown),
    )


def fronts(study: Study, known: Mapping[Machine, Cost]) -> dict[str, list[str]]:
    """Names of the machines on each front, by what is set against each other."""
    figures = _figures(study, known)
    titles = {f"{pair[0][0]} against {pair[1][0]}": pair for pair in _PAIRS}
    return {title: [study.names[one] for one in _best(figures, pair)] for title, pair in titles.items()}


def _best(figures: Mapping[Machine, Mapping[str, Value]], pair: Pair) -> list[Machine]:
    (x, more_x), (y, more_y) = pair
    points = {one: (of[x].mean, of[y].mean) for one, of in figures.items() if x in of and y in of}
    return pareto(points, (more_x, more_y))


def _figures(study: Study, known: Mapping[Machine, Cost]) -> dict[Machine, dict[str, Value]]:
    found: dict[Machine, dict[str, Value]] = {}
    for machine in study.machines:
        values = {measure.title: measure.of(study.of(machine)) for measure in (IPC, ENERGY)}
        cost = known.get(machine)
        values[_AREA] = Value(cost.total, None, 0) if cost and cost.total is not None else None
        found[machine] = {title: value for title, value in values.items() if value}
    return found


def _figure(study: Study, figures: dict[Machine, dict[str, Value]], pairs: list, shown: dict[str, Look]) -> Figure:
    from plotly.subplots import make_subplots

    figure = make_subplots(1, len(pairs), horizontal_spacing=0.09)
    named: set[Machine] = set()  # that the legend has: the first chart lacks those without an area
    for number, ((x, more_x), (y, more_y)) in enumerate(pairs, 1):
        points = {one: (of[x], of[y]) for one, of in figures.items() if x in of and y in of}
        best = _best(figures, ((x, more_x), (y, more_y)))
        figure.add_scatter(
            x=[points[one][0].mean for one in best],
            y=[points[one][1].mean for one in best],
            mode="lines",
            line={"color": INK, "width": 1.5, "dash": "dot"},
            name="Pareto front",
            legendgroup="front",
            showlegend=number == 1,
            hoverinfo="skip",
            row=1,
            col=number,
        )
        for one, (a, b) in points.items():
            figure.add_trace(_marker(study.names[one], a, b, shown, one in best, one not in named), row=1, col=number)
            named.add(one)
        figure.update_xaxes(title=_axis(x, more_x), tickformat=".0%", row=1, col=number)
        figure.update_yaxes(title=_axis(y, more_y), tickformat=".0%", title_standoff=4, row=1, col=number)
    legend = {"orientation": "h", "y": -0.2, "yanchor": "top", "itemsizing": "constant"}
    return dress(figure, 520, legend=legend)


def _axis(title: str, better: int) -> str:
    return f"{title} ({'more' if better > 0 else 'less'} is better)"


def _marker(label: str, a: Value, b: Value, shown: dict[str, Look], best: bool, first: bool):  # type: ignore[no-untyped-def]
    from plotly.graph_objects import Scatter

    look = shown[label]
    return Scatter(
        x=[a.mean],
        y=[b.mean],
        error_x=whiskers([a], color=look.colour),
        error_y=whiskers([b], color=look.colour),
        mode="markers",
        marker={
            "symbol": look.symbol if best else f"{look.symbol}-open",
            "color": look.colour,
            "size": 13,
            "line": {"color": INK if best else look.colour, "width": 1.5},
            "opacity": 1 if best else 0.75,
        },
        name=text(label),
        legendgroup=label,
        showlegend=first,
        hovertemplate=f"{text(label)}{', on the front' if best else ''}: %{{x:+.1%}}, %{{y:+.1%}}<extra></extra>",
    )
