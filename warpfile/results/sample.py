"""Means over kernels, and how sure they are if the kernels are a sample of all that could be run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from warpfile.results.spread import Spread

RESAMPLES = 10_000
_SEED = 0  #: so that the same ratios have the same interval everywhere
_PERCENTILES = (2.5, 97.5)


@dataclass(frozen=True)
class Mean:
    """A mean of ratios: the arithmetic one of what ``into`` makes of them, taken back by ``back``."""

    into: Callable[[Any], Any]
    back: Callable[[Any], Any]

    def __call__(self, values: Sequence[float]) -> float:
        """Of values, at least one."""
        return float(self.back(np.mean(self.into(np.asarray(values, dtype=float)))))

    def interval(self, values: Sequence[float]) -> tuple[float, float] | None:
        """The 95 % bootstrap interval of the mean, by percentiles of ``RESAMPLES`` draws of as many values each.

        The draws are seeded: the same for the same number of values. None for one value, of which nothing is known.
        """
        if len(values) < 2:
            return None
        drawn = np.random.default_rng(_SEED).integers(len(values), size=(RESAMPLES, len(values)))
        means = self.into(np.asarray(values, dtype=float))[drawn].mean(axis=1)
        low, high = np.percentile(self.back(means), _PERCENTILES)
        return float(low), float(high)


def _as_they_are(values: Any) -> Any:
    return values


ARITHMETIC = Mean(_as_they_are, _as_they_are)
GEOMETRIC = Mean(np.log, np.exp)  #: of ratios that are multiplied, such as IPC over that of the baseline


def undecided(interval: tuple[float, float] | None) -> bool:
    """Whether the interval of a growth over kernels holds zero: other kernels may give the other sign."""
    return interval is not None and interval[0] <= 0 <= interval[1]


def bracketed(growth: Spread, ratios: tuple[float, float] | None) -> str:
    """A growth with half of its interval over seeds and, in brackets, that of its ratio over kernels, in percent.

    It is called noise and undecided where they hold zero, and identical where nothing has grown on any kernel and seed.
    There is no interval over one seed.
    """
    several, ends = len(growth.values) > 1, tuple(end - 1 for end in ratios or ())
    if not any((*growth.values, *ends)):
        return "identical"
    called = {"noise": several and growth.noise, "undecided": bool(ends) and undecided((ends[0], ends[1]))}
    words = ", ".join(word for word, holds in called.items() if holds)
    half = f" ± {100 * growth.half:.1f}" if several else ""
    inside = ",".join(f"{100 * end:+.1f}" for end in ends)
    return f"{words}{': ' if words else ''}{growth.mean:+.1%}{half}{f' [{inside}]' if inside else ''}"
