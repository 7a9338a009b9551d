"""Figures of candidates over the baseline of the search, which of them are at the front, and which beats which."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from warpfile.results.figure import Figure, Range
from warpfile.results.reports.pareto import pareto
from warpfile.results.searches.space import COMBINATION, PUBLISHED, RESIZED

#: What a machine is compared in beside its area, and whether more of it is better.
IPC, ENERGY = "IPC", "energy"
BETTER = {IPC: 1, ENERGY: -1}
#: The least growth that is more than what a printed tenth of a percent hides.
LEAST = 5e-4
#: The longest critical path of a machine that a verdict names, over the baseline's.
LONGEST_PATH = 1.3


@dataclass(frozen=True)
class Figures:
    """Growths of a candidate over the baseline: IPC and energy by kernel and seed, area and critical path one number.

    ``energy`` is None where a memory has no price, ``path`` where nothing was timed. ``measured``: the area is
    synthesised and not the model's.
    """

    name: str
    kind: str
    area: float
    measured: bool
    ipc: Figure
    energy: Figure | None = None
    path: float | None = None

    def growth(self, what: str) -> Figure | None:
        """Of IPC or energy."""
        return self.ipc if what == IPC else self.energy

    def better(self, other: Figures, what: str) -> bool:
        """Whether it is better in IPC or energy, by more than chance over kernels and over seeds."""
        ours, theirs = self.growth(what), other.growth(what)
        if not (ours and theirs):
            return False
        low, high = _sure(ours.over(theirs))
        return low > LEAST if BETTER[what] > 0 else high < -LEAST


def _sure(one: Figure) -> Range:
    """Its range; of one seed the interval over kernels, of one kernel and seed the value."""
    return one.range if len(one.seeds.values) > 1 else one.kernels or (one.mean, one.mean)


def front(some: Iterable[Figures], error: float = 0.0) -> list[str]:
    """Names of those that are at the front of area and IPC, or of area and energy, the smallest first.

    Areas that are not measured count as smaller by ``error``, so that no machine is lost that the model has too large.
    """
    every = [one if one.measured else replace(one, area=(1 + one.area) * (1 - error) - 1) for one in some]
    names: dict[str, None] = {}
    for what, better in BETTER.items():
        points = {one.name: (one.area, growth.mean) for one in every if (growth := one.growth(what))}
        names |= dict.fromkeys(pareto(points, (-1, better)))
    return sorted(names, key=lambda name: next((one.area, name) for one in every if one.name == name))


def beats(one: Figures, other: Figures) -> bool:
    """Whether it is better in IPC or energy at no more area."""
    return one.area <= other.area and any(one.better(other, what) for what in BETTER)


def best(some: Iterable[Figures], area: float, what: str) -> Figures | None:
    """The best in IPC or energy of those with no more than an area; among equals the smallest."""
    fitting = [(growth.mean, one) for one in some if one.area <= area and (growth := one.growth(what))]
    ordered = sorted(fitting, key=lambda pair: (-BETTER[what] * pair[0], pair[1].area, pair[1].name))
    return ordered[0][1] if ordered else None


@dataclass(frozen=True)
class Record:
    """What is better in one thing than all others, at no more area than the ``holder``, the best of these in it."""

    holder: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class Verdict:
    """What combinations do to schemes, and what other sizes do to published ones.

    A scheme here is a published one or one in another size, the baseline in other sizes too. ``everywhere``:
    combinations that beat every scheme, each in IPC or energy at no more than its area. ``combinations``: by what they
    are better in, those that are better than every scheme. ``resized``: by the same, schemes in other sizes that are
    better than every published one.
    """

    everywhere: tuple[str, ...]
    combinations: Mapping[str, Record]
    resized: Mapping[str, Record]


def verdict(some: Iterable[Figures], baseline: str) -> Verdict:
    """Of measured machines whose path is not too long. The baseline itself is none of the schemes."""
    every = [one for one in some if one.measured and one.name != baseline]
    published = [one for one in every if one.kind == PUBLISHED]
    resized, combinations = (
        [one for one in every if one.kind == kind and (one.path or 0) <= LONGEST_PATH]
        for kind in (RESIZED, COMBINATION)
    )
    schemes = [*published, *resized]
    return Verdict(
        tuple(one.name for one in combinations if all(beats(one, other) for other in schemes)),
        _records(combinations, schemes),
        _records(resized, published),
    )


def _records(some: Sequence[Figures], others: Sequence[Figures]) -> dict[str, Record]:
    """By what they are better in."""
    found = {}
    for what in BETTER:
        if holder := best(others, float("inf"), what):
            small = (one for one in some if one.area <= holder.area)
            known = [other for other in others if other.growth(what)]
            names = (one.name for one in small if all(one.better(other, what) for other in known))
            found[what] = Record(holder.name, tuple(names))
    return found
