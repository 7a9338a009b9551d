"""Areas by module: machines as large as they are, and in them their modules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from warpfile.reports.chart import Chart
from warpfile.reports.costs import FROM_KEPT, Cost
from warpfile.reports.source import Machine, Study
from warpfile.reports.style import INK, Look, dress, text

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

    ids, labels, parents, values, colours, hover = [], [], [], [], [], []
    for machine, cost in known.items():
        name, modules = study.names[machine], tiles(cost)
        ids.append(name)
        labels.append(f"<b>{text(name)}</b>")
        parents.append("")
        values.append(sum(size for size, _ in modules.values()))
        colours.append("#FFFFFF")
        hover.append(f"{cost.origin}")
        for module, (size, instances) in modules.items():
            ids.append(f"{name}/{module}")
            labels.append(text(module.removeprefix("warpfile.")))
            parents.append(name)
            values.append(size)
            colours.append(shown[name].colour)
            hover.append(f"{instances:,} instances")
    figure = Figure()
    figure.add_treemap(
        ids=ids,
        labels=labels,
        parents=parents,
        values=values,
        customdata=hover,
        branchvalues="total",
        sort=True,
        marker={"colors": colours, "line": {"color": "white", "width": 1.5}, "pad": {"t": 18, "l": 2, "r": 2, "b": 2}},
        texttemplate="%{label}<br>%{value:,.3s}",
        hovertemplate="%{label}<br>%{value:,.0f} NAND2 eq., %{percentParent:.1%}<br>%{customdata}<extra></extra>",
        pathbar={"visible": True, "textfont": {"color": INK}},
        root={"color": "#EEEEEE"},
        tiling={"packing": "squarify"},
    )
    figure.update_layout(uniformtext={"minsize": 9, "mode": "hide"})
    return dress(figure, 720 if len(known) > 1 else 520, margin={"l": 5, "r": 5, "t": 30, "b": 5})
