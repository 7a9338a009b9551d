"""Logic of machines that were not synthesised: a sum over their parts, fitted to machines that were."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from warpfile.results.claims import DENSE
from warpfile.results.searches.space import PUBLISHED, Candidate, Sizes
from warpfile.synth.overhead import NAND2_PER_BIT

Features = Mapping[str, float]
_MEMORY = "memory"
#: In how many machines a part stands that are synthesised for the model, so that one can be left out.
_OFTEN = 2


def features(candidate: Candidate) -> dict[str, float]:
    """What the model sees of a machine: its parts, and the bits that each of them keeps in registers by its page."""
    found: dict[str, float] = {}
    for part in candidate.parts:
        kept = (one for one in part.structures if one.kind != _MEMORY and one.published)
        bits = sum(one.published(candidate.config) for one in kept if one.published)
        found |= {part.name: 1.0, **({f"{part.name} bits": float(bits)} if bits else {})}
    return found


def memory_nand2(candidate: Candidate) -> float:
    """Area of its memory bits at the density of the reports; they follow from the configuration."""
    return sum(ram.instances * ram.bits for ram in candidate.config.rams.values()) * NAND2_PER_BIT[DENSE]


@dataclass(frozen=True)
class Model:
    """NAND2 equivalents per part and per bit."""

    weights: Features

    def nand2(self, seen: Features) -> float:
        """Of a machine with these features; what no synthesised machine had counts nothing."""
        return sum(self.weights.get(name, 0.0) * value for name, value in seen.items())


def fitted(points: Sequence[tuple[Features, float]]) -> Model:
    """Least squares of relative errors; where points leave a weight open, the smallest that explains them."""
    names = list(dict.fromkeys(name for seen, _ in points for name in seen))
    rows = np.array([[seen.get(name, 0.0) / nand2 for name in names] for seen, nand2 in points])
    scales = np.abs(rows).max(axis=0)
    weights = np.linalg.lstsq(rows / scales, np.ones(len(points)), rcond=None)[0] / scales
    return Model(dict(zip(names, map(float, weights), strict=True)))


@dataclass(frozen=True)
class Errors:
    """How far the model is off for every machine, if it is fitted to all others: relative errors by name."""

    by_name: Mapping[str, float]

    @property
    def median(self) -> float:
        """Of their sizes."""
        return median(map(abs, self.by_name.values()))

    @property
    def rms(self) -> float:
        """Root of their mean square."""
        return math.sqrt(sum(error**2 for error in self.by_name.values()) / len(self.by_name))

    @property
    def worst(self) -> tuple[str, float]:
        """The machine that the others say least of."""
        return max(self.by_name.items(), key=lambda one: abs(one[1]))


def left_out(points: Mapping[str, tuple[Features, float]]) -> Errors:
    """Errors of the model for each of these machines, known by name, from the others alone."""
    errors = {}
    for name, (seen, nand2) in points.items():
        others = [point for other, point in points.items() if other != name]
        errors[name] = fitted(others).nand2(seen) / nand2 - 1
    return Errors(errors)


def training(candidates: Iterable[Candidate], sizes: Sizes) -> list[Candidate]:
    """What to synthesise for the model: every published scheme, and so many others that each part stands in two
    machines, and each size, each pair of collectors and register file in one.

    The next one is always the one with most of the missing values, among equals the one with fewest bits.
    """
    every = list(candidates)
    missing: Counter[object] = Counter()
    items = {one.name: _items(one, sizes) for one in every}
    for some in items.values():
        missing |= Counter(some)
    found = [one for one in every if one.kind == PUBLISHED]
    for one in found:
        missing -= Counter(items[one.name].keys())
    while missing:
        rest = (one for one in every if one not in found)
        best = min(rest, key=lambda one: (-sum(item in missing for item in items[one.name]), _bits(one), one.name))
        found.append(best)
        missing -= Counter(items[best.name].keys())
    return found


def _items(candidate: Candidate, sizes: Sizes) -> dict[object, int]:
    """What a machine shows, and how often that has to be seen."""
    names = [part.name for part in candidate.parts]
    found: dict[object, int] = {**dict.fromkeys(names, _OFTEN), tuple(names[1:]): 1}
    swept = {name: set(sizes.get(name, {})) for name in names}
    return found | {
        (name, field, value): 1 for field, value in candidate.sizes.items() for name in names if field in swept[name]
    }


def _bits(candidate: Candidate) -> float:
    return sum(value for name, value in features(candidate).items() if name.endswith(" bits"))
