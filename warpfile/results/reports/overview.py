"""All figures of all machines side by side: the first look."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from warpfile.results.reports.chart import Chart
from warpfile.results.reports.costs import FROM_KEPT, Cost
from warpfile.results.reports.measures import MEASURES, Value
from warpfile.results.reports.source import Machine, Study
from warpfile.results.reports.style import COLOURS, INK, dress, text, whiskers

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_AREA, _PATH = "area growth", "critical path, ns"
#: The toolbar stands above titles of two lines.
_MARGIN = {"l": 10, "r": 20, "t": 74, "b": 10}
#: A column of the chart: its title, the format of its values, values by machine, and which of them are kept figures.
Column = tuple[str, str, dict[Machine, Value], set[Machine]]


def overview(study: Study, known: Mapping[Machine, Cost]) -> Chart | None:
    """Mean of every measure with its interval, and the costs, a bar per machine; None for a study without any."""
    columns = [one for one in _columns(study, known) if one[2]]
    if not columns:
        return None
    return Chart(
        "overview",
        "At a glance",
        "Means over all kernels that a machine ran at every seed (growth of IPC: geometric, others: arithmetic). A"
        " growth is over the baseline at the same preset with the same changes; 0 is equal. Whiskers: 95 % t-interval"
        f" of the mean over seeds. {'Hatched: kept figures of the scheme, not of this study.' if _kept(known) else ''}",
        "Rows of different presets are different machines: each is compared with its own baseline, not with its"
        " neighbours.",
        _figure(study, columns),
    )


def _kept(known: Mapping[Machine, Cost]) -> set[Machine]:
    return {machine for machine, cost in known.items() if cost.origin == FROM_KEPT}


def _columns(study: Study, known: Mapping[Machine, Cost]) -> Iterator[Column]:
    for measure in MEASURES:
        values = {machine: measure.of(study.of(machine)) for machine in study.machines}
        yield measure.title, measure.form, {machine: value for machine, value in values.items() if value}, set()
    kept = _kept(known)
    area = {machine: Value(cost.total, None, 0) for machine, cost in known.items() if cost.total is not None}
    path = {machine: Value(cost.path_ns, None, 0) for machine, cost in known.items() if cost.path_ns is not None}
    yield _AREA, "+.1%", area, kept
    yield _PATH, ".2f", path, kept


def _figure(study: Study, columns: list[Column]) -> Figure:
    from plotly.subplots import make_subplots

    titles = ["<br>".join(title.rsplit(" ", 1)) for title, *_ in columns]
    figure = make_subplots(1, len(columns), shared_yaxes=True, subplot_titles=titles, horizontal_spacing=0.03)
    names = [text(study.names[machine]) for machine in study.machines]
    for number, (title, form, values, kept) in enumerate(columns, 1):
        found = [values.get(machine) for machine in study.machines]
        patterns = ["/" if machine in kept else "" for machine in study.machines]
        figure.add_bar(
            x=[one and one.mean for one in found],
            y=names,
            orientation="h",
            name=title,
            error_x=whiskers(found, color=INK),
            marker={
                "color": COLOURS[0],
                "line": {"color": COLOURS[0], "width": 1},
                "pattern": {"shape": patterns, "bgcolor": "white", "fgcolor": COLOURS[0], "size": 6, "solidity": 0.4},
            },
            hovertemplate=f"%{{y}}: %{{x:{form}}}<extra></extra>",
            row=1,
            col=number,
        )
        figure.update_xaxes(tickformat=".0%" if "%" in form else "", row=1, col=number)
    figure.update_xaxes(nticks=3, tickangle=0, tickfont_size=10)
    figure.update_annotations(font_size=13)
    figure.update_yaxes(autorange="reversed")
    return dress(figure, 144 + 24 * len(names), showlegend=False, bargap=0.3, margin=_MARGIN)
