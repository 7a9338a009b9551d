"""One measure kernel by kernel, with the mean over all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warpfile.results.reports.chart import Chart
from warpfile.results.reports.measures import Measure, Value
from warpfile.results.reports.source import Machine, Study, kernel_names
from warpfile.results.reports.style import PALE, Look, dress, text, whiskers

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

MEAN = "MEAN"
_SILENT = (
    "A kernel that a machine refuses, or that failed, has no marker there. Where markers cover each"
    " other, a click on the legend hides a machine, and a double click shows it alone."
)


def by_kernel(study: Study, measure: Measure, shown: dict[str, Look]) -> Chart | None:
    """A marker per machine and kernel; None where no machine has the measure, or the mean is that of one kernel."""
    machines = [one for one in study.machines if measure.of(study.of(one)) and not _flat(study, measure, one)]
    if not machines or len(study.kernels) < 2:
        return None
    over = measure.over and f", over {measure.over}"
    return Chart(
        measure.name,
        f"{measure.title[0].upper()}{measure.title[1:]} by kernel",
        f"One marker per machine: {measure.title}{over}. The first row is the mean over kernels."
        + (f" Whiskers: 95 % t-interval of the mean over {len(study.seeds)} seeds." if len(study.seeds) > 1 else ""),
        _SILENT,
        _figure(study, measure, machines, shown),
    )


def _flat(study: Study, measure: Measure, machine: Machine) -> bool:
    """The baseline has not grown over itself."""
    return all(row["scheme"] == row.get("baseline") for row in study.of(machine)) and bool(measure.offset)


def _figure(study: Study, measure: Measure, machines: list[Machine], shown: dict[str, Look]) -> Figure:
    from plotly.graph_objects import Figure

    figure = Figure()
    names = kernel_names(study.kernels)
    for machine in machines:
        rows, label = study.of(machine), study.names[machine]
        points: list[tuple[str, Value]] = [(MEAN, value)] if (value := measure.of(rows)) else []
        points += [(names[one], value) for one in study.kernels if (value := measure.of(rows, one))]
        figure.add_scatter(
            x=[value.mean for _, value in points],
            y=[text(name) for name, _ in points],
            name=text(label),
            mode="markers",
            error_x=whiskers([value for _, value in points], width=3),
            marker={"symbol": shown[label].symbol, "color": shown[label].colour, "size": 9, "opacity": 0.85},
            hovertemplate=f"{text(label)}, %{{y}}: %{{x:{measure.form}}}<extra></extra>",
        )
    figure.add_hrect(y0=-0.5, y1=0.5, fillcolor=PALE, opacity=0.3, line_width=0, layer="below")
    order = [MEAN, *(text(names[one]) for one in study.kernels)]
    figure.update_yaxes(categoryorder="array", categoryarray=order, range=[len(order) - 0.4, -0.6], showgrid=True)
    figure.update_xaxes(tickformat=measure.ticks, title=measure.title, side="bottom")
    return dress(figure, 120 + max(21 * len(order), 20 * len(machines)))
