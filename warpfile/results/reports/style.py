"""How charts look: colours that the colour-blind tell apart, markers and patterns that differ without any colour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from warpfile.results.reports.measures import Value

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: Pixels; in print it is scaled to a page of A4.
WIDTH = 1040
#: M. Okabe and K. Ito, Color Universal Design, 2008, the lightest one last.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
SYMBOLS = (
    *("circle", "square", "diamond", "triangle-up", "x", "triangle-down", "cross", "star", "pentagon"),
    *("hourglass", "triangle-left", "bowtie", "triangle-right", "hexagram", "star-square"),
)
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
INK, GREY, PALE = "#222222", "#777777", "#BBBBBB"
_FONT = "Liberation Sans, Arial, Helvetica, sans-serif"


@dataclass(frozen=True)
class Look:
    """Of one machine, the same in all charts."""

    colour: str
    symbol: str
    dash: str


def looks(names: Sequence[str]) -> dict[str, Look]:
    """A look for each name; no two are the same as long as there are at most 120."""
    return {
        name: Look(COLOURS[i % len(COLOURS)], SYMBOLS[i % len(SYMBOLS)], DASHES[i % len(DASHES)])
        for i, name in enumerate(names)
    }


def text(name: str) -> str:
    """A name from an input as text of a chart, in which some HTML means something."""
    return escape(name, quote=False)


def dress(figure: Figure, height: int, **layout: Any) -> Figure:
    """Give a chart the look of all; ``layout`` goes over it."""
    figure.update_layout(
        **{
            "template": "plotly_white",
            "width": WIDTH,
            "height": height,
            "font": {"family": _FONT, "size": 13, "color": INK},
            "margin": {"l": 10, "r": 20, "t": 64, "b": 10},  # the toolbar stands above titles of columns
            "legend": {"itemsizing": "constant"},
            "hoverlabel": {"font": {"family": _FONT}},
        }
        | layout
    )
    figure.update_xaxes(automargin=True, zerolinecolor=INK, linecolor=INK, ticks="outside", tickcolor=PALE)
    figure.update_yaxes(automargin=True, zerolinecolor=INK, linecolor=INK)
    return figure


def whiskers(values: Sequence[Value | None], **look: Any) -> dict[str, Any] | None:
    """Error bars of values; none where there is one seed."""
    if not any(value and value.half is not None for value in values):
        return None
    return {"type": "data", "array": [value.half if value else None for value in values], "thickness": 1.5, **look}
