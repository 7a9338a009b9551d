"""Where the cycles go: in which something issues, and why nothing issues in the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from warpfile.results.reports.chart import Chart
from warpfile.results.reports.source import Machine, Row, Study, kernel_names, kernel_of
from warpfile.results.reports.style import INK, dress, text

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: What a cycle may be, with its colour and pattern; docs/machine.md, section 10 defines the counters.
REASONS = {
    "issues": ("#0072B2", ""),
    "hazard": ("#E69F00", "/"),
    "operand stage full": ("#D55E00", "x"),
    "held or refused": ("#CC79A7", "."),
    "barrier": ("#009E73", "|"),
    "no beat": ("#F0E442", "-"),
}
_ALL = "mean of all kernels"


def shares(row: Row) -> dict[str, float] | None:
    """Parts of a run's cycles; together they are 1. None for a row without the counters."""
    counters = [row.get(f"counter_{name}") for name in _COUNTERS]
    cycles = row.get("cycles")
    if not cycles or any(one is None for one in counters):
        return None
    beats, hazard, room, full, barrier, idle = (one or 0 for one in counters)
    counts = (beats, hazard, full, room - full, barrier, idle)
    return {reason: count / cycles for reason, count in zip(REASONS, counts, strict=True)}


_COUNTERS = ("beats", "issue_hazard", "issue_room", "issue_full", "issue_barrier", "issue_idle")


def reasons(study: Study) -> Chart | None:
    """Stacked bars, a machine each; of the mean, and of every kernel where the page's reader chooses it."""
    found = {machine: _shares(study.of(machine)) for machine in study.machines}
    found = {machine: some for machine, some in found.items() if some}
    if not found:
        return None
    names = kernel_names(study.kernels)
    views = {_ALL: None, **{text(names[one]): one for one in study.kernels}}
    return Chart(
        "cycles",
        "Where the cycles go",
        "Parts of all cycles, mean over kernels and seeds. <i>hazard</i>: every warp with a beat waits for a register"
        " or token, from memory or from a unit, or to drain (under control codes: for their counts). <i>operand stage"
        " full</i>: a warp could issue, but collectors have no room for it. <i>held or refused</i>: there is room, but"
        " the register file holds the warp, it has no place under the two-level scheduler, or the offer is refused."
        " <i>barrier</i>: all wait at barriers. <i>no beat</i>: all instruction buffers are empty.",
        "A cycle has one reason, the first that holds: issues, no beat, barrier, full, held, hazard. Hazards are"
        " not distinguished by cause. Beats that a pass inserted count as issues.",
        _figure(study, found, views, _ALL),
        {label: _figure(study, found, {label: view}, label) for label, view in list(views.items())[1:]},
    )


def _shares(rows: Sequence[Row]) -> dict[tuple[str, str] | None, dict[str, float]]:
    """Means over the seeds of each kernel, and over all rows under None."""
    every = [(kernel_of(row), found) for row in rows if (found := shares(row))]
    kernels = dict.fromkeys(kernel for kernel, _ in every)
    some = {one: _mean([found for kernel, found in every if kernel == one]) for one in kernels}
    return {None: _mean([found for _, found in every]), **some} if every else {}


def _mean(found: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {reason: fmean(one[reason] for one in found) for reason in REASONS}


def _figure(
    study: Study,
    found: Mapping[Machine, Mapping[tuple[str, str] | None, Mapping[str, float]]],
    views: Mapping[str, tuple[str, str] | None],
    first: str,
) -> Figure:
    from plotly.graph_objects import Figure

    figure = Figure()
    names = [text(study.names[machine]) for machine in found]
    values = {
        label: [[of.get(view, {}).get(reason) for of in found.values()] for reason in REASONS]
        for label, view in views.items()
    }
    for reason, bars in zip(REASONS, values[first], strict=True):
        figure.add_bar(
            x=bars,
            y=names,
            orientation="h",
            name=reason,
            marker=_marker(*REASONS[reason]),
            hovertemplate=f"%{{y}}, {reason}: %{{x:.1%}}<extra></extra>",
        )
    figure.update_xaxes(tickformat=".0%", range=[0, 1], title="part of the cycles")
    figure.update_yaxes(autorange="reversed")
    buttons = [{"label": label, "method": "restyle", "args": [{"x": bars}]} for label, bars in values.items()]
    return dress(figure, 140 + 26 * len(names), **_layout(buttons))


def _marker(colour: str, shape: str) -> dict[str, object]:
    pattern = {"shape": shape, "fgcolor": INK, "bgcolor": colour, "size": 5, "solidity": 0.25}
    return {"color": colour, "line": {"color": INK, "width": 0.5}, "pattern": pattern}


def _layout(buttons: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """Stacked bars below their legend, and a menu where there is something to choose."""
    menu = {"buttons": buttons, "x": 0, "xanchor": "left", "y": 1.0, "yanchor": "bottom", "pad": {"b": 6}}
    return {
        "barmode": "stack",
        "bargap": 0.25,
        "legend": {
            "orientation": "h",
            "x": 1,
            "xanchor": "right",
            "y": 1.0,
            "yanchor": "bottom",
            "traceorder": "normal",
        },
        "margin": {"l": 10, "r": 20, "t": 70, "b": 10},
        "updatemenus": [menu] if len(buttons) > 1 else [],
    }
