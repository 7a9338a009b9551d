"""The figures of a page as plain facts: its table, and its JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from warpfile.results.reports.costs import FROM_KEPT, Cost, costs
from warpfile.results.reports.measures import MEASURES, Value, priced, prices
from warpfile.results.reports.source import Machine, Study, kernel_names, kernel_of
from warpfile.schemes import SCHEMES, find

#: Columns of the table, each with the format of its values.
TITLES = {
    **{one.title: one.form for one in MEASURES},
    "priced": ".0%",
    "area growth": "+.1%",
    "logic growth": "+.1%",
    "critical path, ns": ".2f",
    "area from": "",
}


@dataclass(frozen=True)
class Facts:
    """Means of a machine by the titles of the table; ``hits``: what its hits are.

    ``differs``: in which fields it differs from its baseline.
    """

    values: Mapping[str, Value | float | str | None]
    cost: Cost | None
    hits: str
    differs: str = ""


def facts_of(study: Study) -> dict[Machine, Facts]:
    """Of all machines."""
    known = costs(study)
    return {machine: _facts(study, machine, known.get(machine)) for machine in study.machines}


def _facts(study: Study, machine: Machine, cost: Cost | None) -> Facts:
    rows = study.of(machine)
    values: dict[str, Value | float | str | None] = {one.title: one.of(rows) for one in MEASURES}
    values |= {"priced": priced(rows), "area growth": cost and cost.total, "logic growth": cost and cost.logic}
    values |= {"critical path, ns": cost and cost.path_ns, "area from": cost and _origin(cost)}
    return Facts(
        values, cost, _hits(machine.scheme) if values["hit ratio"] else "", rows[0].get("differs") or "" if rows else ""
    )


def cell(title: str, value: Value | float | str | None, over_kernels: bool) -> str:
    """A value as people read it, with half of its interval over seeds and, where asked for, that over kernels.

    A growth that is zero everywhere is called identical.
    """
    if value is None or isinstance(value, str):
        return value or "-"
    form = TITLES[title]
    if not isinstance(value, Value):
        return f"{value:{form}}"
    if form.startswith("+") and value.identical:
        return "identical"
    half = "" if value.half is None else f" ± {value.half:{form.replace('+', '')}}"
    if not over_kernels:
        return f"{value.mean:{form}}{half}"
    ends = "" if value.low is None else f" [{value.low:{form}}, {value.high:{form}}]"
    undecided = "undecided: " if form.startswith("+") and value.undecided else ""
    return f"{undecided}{value.mean:{form}}{half}{ends}"


def _origin(cost: Cost) -> str:
    return "kept *" if cost.origin == FROM_KEPT else cost.origin


def _hits(scheme: str) -> str:
    """What the scheme counts as hits; a table may hold schemes of packages that are not installed here."""
    if scheme.partition("+")[0] not in SCHEMES:
        return "unknown"
    hits = find(scheme).hits
    return hits.what if hits else ""


def left_out(study: Study) -> Iterator[str]:
    """A line per reason and machine, with its kernels."""
    found: dict[tuple[Machine, str, str], list[str]] = {}
    names = kernel_names(study.kernels)
    for row in study.left_out:
        key = (Machine.of(row), row["status"], row.get("error") or "")
        found.setdefault(key, []).append(names[kernel_of(row)] if row.get("kernel") is not None else "-")
    for (machine, status, error), kernels in found.items():
        yield f"{study.names[machine]} on {', '.join(dict.fromkeys(kernels))}: {status}: {error}"


def _as_json(title: str, value: Value) -> dict[str, Any]:
    growth = TITLES[title].startswith("+")
    return asdict(value) | ({"undecided": value.undecided if value.low is not None else None} if growth else {})


def as_json(study: Study, facts: Mapping[Machine, Facts], front: Mapping[str, list[str]]) -> dict[str, Any]:
    """The facts of ``--json``. Growths are fractions; ``half`` is half of a 95 % interval over seeds, ``low`` and
    ``high`` are the ends of one over kernels."""
    machines = [
        {
            **asdict(machine),
            "name": study.names[machine],
            "hits": one.hits,
            "differs": one.differs,
            **{
                title.partition(",")[0].replace(" ", "_").lower(): _as_json(title, value)
                if isinstance(value, Value)
                else value
                for title, value in one.values.items()
            },
        }
        for machine, one in facts.items()
    ]
    return {
        "study": study.name,
        "seeds": study.seeds,
        "prices": prices(study.rows),
        "machines": machines,
        "fronts": dict(front),
        "left_out": list(left_out(study)),
    }
