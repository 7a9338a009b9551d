"""A figure of several kernels at several seeds, and how far it can be trusted: docs/study.md, "Intervals"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from warpfile.results.sample import ARITHMETIC, GEOMETRIC, Mean
from warpfile.results.spread import Spread

Range = tuple[float, float]
#: Kinds of figures, and the mean over kernels that each has. Growths are ratios, whose mean minus one is shown.
MEANS = {"growth": ARITHMETIC, "geometric growth": GEOMETRIC, "share": ARITHMETIC}


@dataclass(frozen=True)
class Figure:
    """Values of a metric by kernel, one for each seed in the same order."""

    values: Mapping[str, Sequence[float]]
    kind: str

    @property
    def seeds(self) -> Spread:
        """Mean over the kernels, seed by seed."""
        return Spread(tuple(self._shown(self._mean(column)) for column in zip(*self.values.values(), strict=True)))

    @property
    def mean(self) -> float:
        """Over kernels and seeds."""
        return self.seeds.mean

    @property
    def by_kernel(self) -> dict[str, float]:
        """Mean of every kernel over the seeds, as it is shown."""
        return {kernel: self._shown(ARITHMETIC(values)) for kernel, values in self.values.items()}

    @property
    def kernels(self) -> Range | None:
        """The interval over kernels; None for one kernel."""
        found = self._mean.interval([ARITHMETIC(values) for values in self.values.values()])
        return found and (self._shown(found[0]), self._shown(found[1]))

    @property
    def range(self) -> Range:
        """The smallest interval that holds both."""
        return _around(self.seeds, self.kernels)

    def moved(self, before: Figure) -> Range:
        """Range of the difference to the figure before, kernel by kernel and seed by seed."""
        differences = [
            ARITHMETIC([now - then for now, then in zip(self.values[kernel], before.values[kernel], strict=True)])
            for kernel in self.values
        ]
        return _around(self.seeds - before.seeds, ARITHMETIC.interval(differences))

    def over(self, other: Figure) -> Figure:
        """Ratio of two growths over the same machine, kernel by kernel and seed by seed: growth over the other one."""
        ratios = {
            kernel: [ours / theirs for ours, theirs in zip(values, other.values[kernel], strict=True)]
            for kernel, values in self.values.items()
        }
        return Figure(ratios, self.kind)

    @property
    def _mean(self) -> Mean:
        return MEANS[self.kind]

    def _shown(self, value: float) -> float:
        return value if self.kind == "share" else value - 1


def _around(seeds: Spread, kernels: Range | None) -> Range:
    if len(seeds.values) < 2:
        raise ValueError(f"a figure must be of at least two seeds, not {len(seeds.values)}")
    low, high = seeds.mean - seeds.half, seeds.mean + seeds.half
    return (min(low, kernels[0]), max(high, kernels[1])) if kernels else (low, high)
