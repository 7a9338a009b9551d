"""One chart of a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


@dataclass(frozen=True)
class Chart:
    """A figure with what is to be said of it. ``name``: of its place in the page and of its SVG.

    ``silent`` names the limits. ``pictures`` are more of it for a paper, by what they show: what a reader of
    the page chooses in the figure.
    """

    name: str
    title: str
    caption: str
    silent: str
    figure: Figure
    pictures: Mapping[str, Figure] = field(default_factory=dict)
