"""The chart of a page: from what the paper says, factor by factor, to what we measure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from warpfile.pages.evidence.rendering import value, verdict_text
from warpfile.results.reports.chart import Chart
from warpfile.results.reports.style import COLOURS, INK, PALE, dress, text

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_WIDTH = 44  #: characters of a name beside a bar


@dataclass(frozen=True)
class Bar:
    """A bar: the paper's figure or ours from zero, or a difference from where the bar before it ends."""

    name: str
    size: float
    whole: bool


def bars(claim: Mapping[str, Any]) -> list[Bar]:
    """Of a claim, from the paper to ours. The figure of the paper is the middle of its band."""
    paper, steps = sum(claim["paper"]) / 2, claim["steps"]
    undone = [
        Bar(f"undone: {after['factor']}", before["mean"] - after["mean"], False) for before, after in pairwise(steps)
    ]
    rest = Bar("unexplained", steps[-1]["mean"] - paper, False)
    return [Bar("paper", paper, True), rest, *reversed(undone), Bar("ours", steps[0]["mean"], True)]


def axis_range(some: Sequence[Bar]) -> tuple[float, float]:
    """Ends of the axis: all that bars reach, and room for their labels."""
    ends, place = [0.0], 0.0
    for bar in some:
        place = bar.size if bar.whole else place + bar.size
        ends.append(place)
    room = 0.15 * (max(ends) - min(ends))
    return min(ends) - room, max(ends) + room


def data_stamp(data: Mapping[str, Any]) -> str:
    """What a chart says of its data: two charts with the same one show the same."""
    found = hashlib.sha256(json.dumps(data["claims"], sort_keys=True).encode()).hexdigest()[:12]
    return f"machine {data['machine']}, data {found}"


def waterfall(data: Mapping[str, Any]) -> Chart:
    """A row for each claim."""
    from plotly.subplots import make_subplots

    claims = data["claims"]
    rows = [bars(claim) for claim in claims]
    figure = make_subplots(
        rows=len(claims),
        cols=1,
        row_heights=[len(some) for some in rows],
        subplot_titles=[
            text(f"{claim['key']}: {claim['metric']}; {verdict_text(claim)}").replace("`", "") for claim in claims
        ],
        vertical_spacing=0.35 / max(1, sum(map(len, rows))) * 4,
    )
    for number, (claim, some) in enumerate(zip(claims, rows, strict=True), 1):
        _draw(figure, number, some, claim["kind"])
        figure.update_xaxes(range=axis_range(some), row=number, col=1)
    figure.update_annotations(x=0, xanchor="left", font_size=13)  # titles, over the whole width of a row
    figure.update_yaxes(autorange="reversed")
    figure.update_xaxes(tickformat=".0%")
    height = 30 * sum(map(len, rows)) + 70 * len(rows) + 60
    dress(figure, height, showlegend=False, margin={"l": 10, "r": 40, "t": 40, "b": 50})
    place = {"xref": "paper", "yref": "paper", "x": 1, "y": 0, "yshift": -45, "xanchor": "right", "showarrow": False}
    figure.add_annotation(text=data_stamp(data), font={"size": 11}, **place)
    name = f"{data['scheme']}-evidence"
    return Chart(name, "From the paper to ours", "Factor by factor.", "Intervals: they are in the tables.", figure)


def _draw(figure: Figure, number: int, some: Sequence[Bar], kind: str) -> None:
    points = [f"{100 * bar.size:+.1f} points".replace("-0.0", "+0.0") for bar in some]
    figure.add_waterfall(
        row=number,
        col=1,
        orientation="h",
        measure=["absolute" if bar.whole else "relative" for bar in some],
        x=[bar.size for bar in some],
        y=["<br>".join(wrap(text(bar.name), _WIDTH)) for bar in some],
        text=[value(bar.size, kind) if bar.whole else point for bar, point in zip(some, points, strict=True)],
        textposition="outside",
        cliponaxis=False,
        connector={"line": {"color": PALE}},
        increasing={"marker": {"color": COLOURS[1], "line": {"color": INK, "width": 0.5}}},
        decreasing={"marker": {"color": COLOURS[0], "line": {"color": INK, "width": 0.5}}},
        totals={"marker": {"color": PALE, "line": {"color": INK, "width": 0.5}}},
    )
