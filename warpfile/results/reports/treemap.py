"""Areas by module: machines as large as they are, and in them their modules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from warpfile.results.reports.chart import Chart
from warpfile.results.reports.costs import FROM_KEPT, Cost
from warpfile.results.reports.source import Machine, Study
from warpfile.results.reports.style import INK, Look, dress, text

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: Modules below this part of their machine's logic are summed up.
SMALL = 0.004
OTHERS = "all others"


def treemap(study: Study, known: Mapping[Machine, Cost], shown: dict[str, Look]) -> Chart | None:
    """A tile per module with all of its instances; None where no areas are known by module."""
    having = {machine: cost for machine, cost in known.items() if cost.modules}
    if not having:
        return None
    kept = [study.names[machine] for machine, cost in having.items() if cost.origin == FROM_KEPT]
    return Chart(
        "modules",
        "Area by module",
        "Logic in NAND2 equivalents: a tile per module with all of its instances, without the modules in it. A click"
        " on a machine fills the chart with it, one on the bar above leads back."
        + (f" Kept figures, not of this study: {', '.join(kept)}." if kept else ""),
        f"Memories have no tile: they are bits, not cells. Modules below {SMALL:.1%} of a machine are summed up."
        " There are no wires.",
        _figure(study, having, shown),
        {study.names[machine]: _figure(study, {machine: cost}, shown) for machine, cost in having.items()},
    )


def tiles(cost: Cost) -> dict[str, tuple[float, int]]:
    """NAND2 equivalents and instances of the large modules by name, and of the rest together."""
    total = sum(one.nand2 for one in cost.modules)
    found = {one.name: (one.nand2, one.instances) for one in cost.modules if one.nand2 >= SMALL * total}
    small = [one for one in cost.modules if one.name not in found]
    if small:
        found[OTHERS] = (sum(one.nand2 for one in small), sum(one.instances for one in small))
    return found


def _figure(study: Study, known: Mapping[Machine, Cost], shown: dict[str, Look]) -> Figure:
    from plotly.graph_objects import Figure

    every = [tile for machine, cost in known.items() for tile in _tiles(study.names[machine], cost, shown)]
    columns = ("ids", "labels", "parents", "values", "customdata", "colours")
    of = {name: list(column) for name, column in zip(columns, zip(*every, strict=True), strict=True)}
    pad = {"t": 18, "l": 2, "r": 2, "b": 2}
    figure = Figure()
    figure.add_treemap(
        marker={"colors": of.pop("colours"), "line": {"color": "white", "width": 1.5}, "pad": pad},
        **of,
        branchvalues="total",
        texttemplate="%{label}<br>%{value:,.3s}",
        hovertemplate="%{label}<br>%{value:,.0f} NAND2 eq., %{percentParent:.1%}<br>%{customdata}<extra></extra>",
        pathbar={"visible": True, "textfont": {"color": INK}},
        root={"color": "#EEEEEE"},
    )
    figure.update_layout(uniformtext={"minsize": 9, "mode": "hide"})
    return dress(figure, 720 if len(known) > 1 else 520, margin={"l": 5, "r": 5, "t": 30, "b": 5})


def _tiles(name: str, cost: Cost, shown: dict[str, Look]) -> Iterator[tuple[str, str, str, float, str, str]]:
    """Of a machine and its modules: id, label, parent, size, what is told of it, colour."""
    modules = tiles(cost)
    yield name, f"<b>{text(name)}</b>", "", sum(size for size, _ in modules.values()), cost.origin, "#FFFFFF"
    for module, (size, instances) in modules.items():
        label = text(module.removeprefix("warpfile."))
        yield f"{name}/{module}", label, name, size, f"{instances:,} instances", shown[name].colour
