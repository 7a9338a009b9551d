"""Beats in flight through a machine: warps down, cycles across."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from warpfile.results.reports.chart import Chart
from warpfile.results.reports.source import Machine, Row, Study, kernel_names, kernel_of
from warpfile.results.reports.style import dress, text

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: Spans between two events: colour and thickness of their lines.
SPANS = {
    "in the instruction buffer": ("decoded", "issued", "#BBBBBB", 2),
    "collects its operands": ("issued", "offered", "#E69F00", 7),
    "waits for its execution port": ("offered", "dispatched", "#D55E00", 7),
    "executes, waits for write-back": ("dispatched", "written", "#56B4E9", 4),
}
#: Events: colour and marker.
EVENTS = {
    "issue": ("issued", "#000000", "triangle-right"),
    "dispatch": ("dispatched", "#0072B2", "diamond"),
    "write-back": ("written", "#009E73", "square"),
}
_MANY = 20  #: warps, from which on rows are lower
_LANE = 0.84  #: part of a row that the beats of a warp share


def pipelines(study: Study) -> Iterator[Chart]:
    """A chart per kernel that was watched, in which its reader chooses the machine."""
    kernels = list(dict.fromkeys(kernel_of(row) for row in study.pipeline_log))
    names = kernel_names(study.kernels)
    for kernel in kernels:
        found: dict[Machine, list[Row]] = {}
        for row in study.pipeline_log:
            if kernel_of(row) == kernel:
                found.setdefault(Machine.of(row), []).append(row)
        span = study.window or _span(found)
        label = names.get(kernel, kernel[0])
        yield Chart(
            f"pipeline-{label.replace(' ', '-')}",
            f"Pipeline of {label}",
            f"Every beat under way in cycles {span[0]:,} to {span[1]:,}, in the row of its warp slot, those that"
            " overlap beside each other. Drag over a part to zoom in, double click to zoom out; the menu chooses the"
            " machine."
            f" {'Seed ' + str(study.seeds[0]) + '.' if study.seeds else ''}",
            "Events lie in the cycle in which they happen; a beat that needs no operand stage has no dispatch."
            " Steps between issue and dispatch are not distinguished. A load that the register file absorbs"
            " has no dispatch at the pins.",
            _figure(study, found, span),
            {study.names[one]: _figure(study, {one: rows}, span) for one, rows in found.items()},
        )


def _span(found: Mapping[Machine, Sequence[Row]]) -> tuple[int, int]:
    rows = [row for some in found.values() for row in some]
    return min(row["decoded"] for row in rows), max(row[end] or 0 for row in rows for _, end, *_ in SPANS.values())


def lanes(rows: Sequence[Row], last: int) -> dict[tuple[int, int], tuple[int, int]]:
    """For each warp and beat its lane and how many lanes its warp has: beats of one lane do not overlap."""
    placed: dict[tuple[int, int], int] = {}
    free: dict[int, list[int]] = {}
    for row in sorted(rows, key=lambda one: (one["warp"], _begin(one), one["beat"])):
        ends = free.setdefault(row["warp"], [])
        lane = next((lane for lane, end in enumerate(ends) if end < _begin(row)), len(ends))
        ends[lane : lane + 1] = [_end(row, last)]
        placed[row["warp"], row["beat"]] = lane
    return {key: (lane, len(free[key[0]])) for key, lane in placed.items()}


def _begin(row: Row) -> int:
    """From its issue on a beat takes a lane: its time in the buffer is a thin line below."""
    begin: int = row["decoded"] if row["issued"] is None else row["issued"]
    return begin


def _end(row: Row, last: int) -> int:
    ended = row["written"] if row["returns"] else row["dispatched"] if row["unit"] else row["issued"]
    return last if ended is None else ended


def _figure(study: Study, found: Mapping[Machine, Sequence[Row]], span: tuple[int, int]) -> Figure:
    from plotly.graph_objects import Figure

    figure = Figure()
    count = len(SPANS) + len(EVENTS)
    for number, rows in enumerate(found.values()):
        for trace in _traces(rows, span[1]):
            figure.add_scatter(**trace, visible=number == 0)
    buttons = [
        {
            "label": text(study.names[machine]),
            "method": "update",
            "args": [{"visible": [number // count == chosen for number in range(count * len(found))]}, _layout(rows)],
        }
        for chosen, (machine, rows) in enumerate(found.items())
    ]
    menu = {"buttons": buttons, "x": 0, "xanchor": "left", "y": 1.0, "yanchor": "bottom", "pad": {"b": 6}}
    figure.update_xaxes(title="cycle", range=[span[0] - 1, span[1] + 1])
    warps = _warps(next(iter(found.values())))
    figure.update_yaxes(zeroline=False, tickmode="array", **_axis(warps))
    legend = {"orientation": "h", "y": 0, "yref": "container", "yanchor": "bottom", "itemsizing": "trace"}
    return dress(
        figure,
        _height(warps),
        legend=legend,
        margin={"l": 10, "r": 20, "t": 50, "b": 110},
        updatemenus=[menu] if len(buttons) > 1 else [],
    )


def _warps(rows: Sequence[Row]) -> range:
    return range(min(row["warp"] for row in rows), max(row["warp"] for row in rows) + 1)


def _height(warps: range) -> int:
    return 200 + len(warps) * (46 if len(warps) < _MANY else 30)


def _axis(warps: range) -> dict[str, Any]:
    ticks = {"tickvals": list(warps), "ticktext": [f"warp {warp}" for warp in warps]}
    return {**ticks, "range": [warps[-1] + 0.6, warps[0] - 0.6]}


def _layout(rows: Sequence[Row]) -> dict[str, object]:
    """What changes when a reader chooses a machine, which has warps of its own."""
    warps = _warps(rows)
    return {"height": _height(warps), **{f"yaxis.{name}": value for name, value in _axis(warps).items()}}


def _traces(rows: Sequence[Row], last: int) -> Iterator[dict[str, object]]:
    """A trace per span and event of one machine."""
    lane = lanes(rows, last)
    heights = {key: key[0] + _LANE * ((one + 0.5) / count - 0.5) for key, (one, count) in lane.items()}
    for name, (begin, end, colour, width) in SPANS.items():
        yield _lines(name, colour, width, list(_segments(rows, begin, end, last)), heights)
    for name, (event, colour, symbol) in EVENTS.items():
        seen = [row for row in rows if row[event] is not None]
        yield {
            "x": [row[event] for row in seen],
            "y": [heights[row["warp"], row["beat"]] for row in seen],
            "mode": "markers",
            "name": name,
            "marker": {"symbol": symbol, "color": colour, "size": 7, "line": {"color": "white", "width": 0.5}},
            "text": [_told(row) for row in seen],
            "hovertemplate": f"%{{text}}<br>{name} in cycle %{{x}}<extra></extra>",
        }


def _segments(rows: Iterable[Row], begin: str, end: str, last: int) -> Iterator[tuple[Row, int, int]]:
    for row in rows:
        if begin == "dispatched" and not row["returns"]:
            continue
        if begin != "decoded" and not row["unit"]:
            continue
        if row[begin] is not None:
            yield row, row[begin], last if row[end] is None else row[end]


def _lines(
    name: str,
    colour: str,
    width: int,
    segments: Sequence[tuple[Row, int, int]],
    heights: Mapping[tuple[int, int], float],
) -> dict[str, object]:
    return {
        "x": [x for _, begin, end in segments for x in (begin, end, None)],
        "y": [y for row, _, _ in segments for y in (*[heights[row["warp"], row["beat"]]] * 2, None)],
        "mode": "lines",
        "name": name,
        "line": {"color": colour, "width": width},
        "text": [told for row, _, _ in segments for told in (*[_told(row)] * 2, None)],
        "hovertemplate": f"%{{text}}<br>{name}<extra></extra>",
    }


def _told(row: Row) -> str:
    return f"{row['offset']:#06x} {text(row['instruction'])}"
