"""Energy of a study's runs at the published prices of ``synth/prices``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from warpfile.pages.evidence.study import Point, Study
from warpfile.schemes import find
from warpfile.synth.energy import Energy, PriceSet, all_prices, energy


@cache
def _sets() -> Mapping[str, PriceSet]:
    return all_prices()


def energy_of(study: Study, point: Point, kernel: str, prices: str, wires: Mapping[str, float] | None = None) -> Energy:
    """Energy of one run at a set of prices; ``wires`` as in :func:`synth.energy.energy`."""
    scheme = find(point.scheme)
    cfg = scheme.configuration(point.preset, **dict(point.changes))
    return energy(scheme, cfg, study.of(point, kernel).counters, _sets()[prices], wires)


def energy_over(
    study: Study, point: Point, over: Point, prices: str, wires: Mapping[str, float] | None = None
) -> float:
    """Arithmetic mean over the kernels of a point's energy in units of the other's."""

    def ratio(kernel: str) -> float:
        ours, base = (energy_of(study, one, kernel, prices, wires) for one in (point, over))
        found = ours.over(base)
        assert found is not None, f"{kernel} has no accesses"
        return found

    return study.over_kernels(ratio)


def energy_together(study: Study, point: Point, over: Point, prices: str) -> float:
    """Energy of all kernels, added up, in units of the other point's."""
    ours, base = (
        sum(energy_of(study, one, kernel, prices).picojoules for kernel in study.kernels) for one in (point, over)
    )
    return ours / base


def unpriced(study: Study, point: Point, prices: str) -> str:
    """What the point asks for and nobody has priced, as a list in words."""
    kinds = dict.fromkeys(kind for kernel in study.kernels for kind in energy_of(study, point, kernel, prices).unpriced)
    return ", ".join(kind.replace("_", " ") for kind in kinds)
