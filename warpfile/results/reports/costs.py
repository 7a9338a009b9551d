"""What machines cost: areas and critical paths of the study, or else the kept figures of the scheme at that preset."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from warpfile.results.claims import DENSE
from warpfile.results.reports.source import Machine, Row, Study
from warpfile.results.studies.table import growth_column
from warpfile.synth.figures import KEPT, read_figures

SYNTHESISED, FROM_KEPT = "this study", "kept figures"


@dataclass(frozen=True)
class Module:
    """A module of a machine with all of its instances."""

    name: str
    instances: int
    nand2: float


@dataclass(frozen=True)
class Cost:
    """``total`` and ``logic`` are growths over the baseline at the same preset, one of them with its memory bits.

    Bits count at the density ``DENSE``. ``path_ns`` is None where nothing was timed. ``origin`` says whose figures
    these are.
    """

    origin: str
    nand2: float
    total: float | None
    logic: float | None
    path_ns: float | None
    path_liberty: str
    modules: tuple[Module, ...]


def costs(study: Study) -> dict[Machine, Cost]:
    """Costs of all machines of which they are known."""
    found = {}
    for machine in study.machines:
        cost = _synthesised(study, machine) or _kept(machine)
        if cost:
            found[machine] = cost
    return found


def _synthesised(study: Study, machine: Machine) -> Cost | None:
    row = next((row for row in study.of(machine) if row.get("area_nand2_equivalents") is not None), None)
    if row is None:
        return None
    modules = (one for one in study.modules if Machine.of(one) == machine)
    return Cost(
        SYNTHESISED,
        row["area_nand2_equivalents"],
        row.get(growth_column(DENSE)),
        row.get("area_logic_growth"),
        row.get("path_ns"),
        row.get("path_liberty") or "",
        tuple(_modules(modules, "module")),
    )


def _kept(machine: Machine) -> Cost | None:
    """Kept figures are of whole presets, so a machine with changed fields has none."""
    facts = kept_figures().get((machine.scheme, machine.preset)) if not machine.changes else None
    if facts is None:
        return None
    library, path = next(iter(facts.get("critical_paths", {}).items()), ("", {}))
    grown = facts["overhead"]
    modules = tuple(_modules(facts["modules"], "name"))
    return Cost(
        *(FROM_KEPT, facts["nand2_equivalents"], grown["total"][DENSE], grown["logic"]),
        *(path.get("nanoseconds"), library, modules),
    )


@cache
def kept_figures() -> Mapping[tuple[str, str], Mapping[str, Any]]:
    """Facts of ``warpfile area`` by scheme and preset; there are none in an installation without them."""
    files = sorted(KEPT.rglob("*.json"), key=lambda path: (len(path.parts), path))
    rows = [one for path in files for one in read_figures(path)["schemes"].items()]
    return {(name, facts["preset"]): facts for name, facts in reversed(rows)}


def _modules(rows: Iterable[Row], name: str) -> Iterator[Module]:
    """All that were counted, the largest first."""
    found = [Module(row[name], row["instances"], row["nand2_equivalents"] * row["instances"]) for row in rows]
    return iter(sorted((one for one in found if one.nand2 > 0), key=lambda one: (-one.nand2, one.name)))
