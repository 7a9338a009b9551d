"""Figures of candidates over the baseline of the search, which of them are at the front, and which beats which."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from warpfile.results.reports.pareto import pareto
from warpfile.results.sample import GEOMETRIC
from warpfile.results.searches.space import COMBINATION, PUBLISHED
from warpfile.results.spread import Spread

#: What a machine is compared in beside its area, and whether more of it is better.
IPC, ENERGY = "IPC", "energy"
BETTER = {IPC: 1, ENERGY: -1}


@dataclass(frozen=True)
class Figures:
    """Growths of a candidate over the baseline: of IPC and energy a value per seed, of area one number.

    ``energy`` is empty where a memory has no price. ``measured``: the area is synthesised and not the model's.
    """

    name: str
    kind: str
    area: float
    measured: bool
    ipc: Sequence[float]
    energy: Sequence[float] = ()

    def growths(self, what: str) -> Sequence[float]:
        """Of IPC or energy."""
        return self.ipc if what == IPC else self.energy

    def better(self, other: Figures, what: str) -> bool:
        """Whether it is better in IPC or energy, by more than chance where there are several seeds."""
        if not (self.growths(what) and other.growths(what)):
            return False
        difference = Spread(self.growths(what)) - Spread(other.growths(what))
        if len(difference.values) > 1 and difference.noise:
            return False
        return difference.mean * BETTER[what] > 0


def growth_of_ipc(ours: Iterable[float], base: Iterable[float]) -> float:
    """Geometric mean over kernels."""
    return GEOMETRIC([one / other for one, other in zip(ours, base, strict=True)]) - 1


def growth_of_energy(ours: Iterable[float], base: Iterable[float]) -> float:
    """Arithmetic mean over kernels."""
    return fmean(one / other for one, other in zip(ours, base, strict=True)) - 1


def front(some: Iterable[Figures], error: float = 0.0) -> list[str]:
    """Names of those that are at the front of area and IPC, or of area and energy, the smallest first.

    Areas that are not measured count as smaller by ``error``, so that no machine is lost that the model has too large.
    """
    every = [one if one.measured else replace(one, area=(1 + one.area) * (1 - error) - 1) for one in some]
    names: dict[str, None] = {}
    for what, better in BETTER.items():
        points = {one.name: (one.area, fmean(one.growths(what))) for one in every if one.growths(what)}
        names |= dict.fromkeys(pareto(points, (-1, better)))
    return sorted(names, key=lambda name: next((one.area, name) for one in every if one.name == name))


def beats(one: Figures, other: Figures) -> bool:
    """Whether it is better in IPC or energy at no more area."""
    return one.area <= other.area and any(one.better(other, what) for what in BETTER)


def best(some: Iterable[Figures], area: float, what: str) -> Figures | None:
    """The best in IPC or energy of those with no more than an area; among equals the smallest."""
    fitting = [one for one in some if one.area <= area and one.growths(what)]
    return min(fitting, key=lambda one: (-BETTER[what] * fmean(one.growths(what)), one.area, one.name), default=None)


@dataclass(frozen=True)
class Verdict:
    """What combinations do to published schemes.

    ``everywhere``: those that beat every published scheme, each in IPC or energy at no more than that scheme's area.
    ``records``: by what they are better in, those that are better than every published scheme at no more area than the
    best of these in it, which is ``holders``.
    """

    everywhere: tuple[str, ...]
    records: Mapping[str, tuple[str, ...]]
    holders: Mapping[str, str]


def verdict(some: Iterable[Figures], baseline: str) -> Verdict:
    """Of measured machines. The baseline is none of the published schemes."""
    every = [one for one in some if one.measured]
    published = [one for one in every if one.kind == PUBLISHED and one.name != baseline]
    combinations = [one for one in every if one.kind == COMBINATION]
    everywhere = tuple(one.name for one in combinations if all(beats(one, other) for other in published))
    records, holders = {}, {}
    for what in BETTER:
        holder = best(published, float("inf"), what)
        if holder:
            holders[what] = holder.name
            records[what] = tuple(
                one.name
                for one in combinations
                if one.area <= holder.area and all(one.better(other, what) for other in published)
            )
    return Verdict(everywhere, records, holders)
