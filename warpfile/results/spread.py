"""A figure at several seeds: its mean, and how sure that is."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

#: Two-sided 95 % quantiles of Student's distribution by degrees of freedom.
STUDENT = {
    **{1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262, 10: 2.228},
    **{11: 2.201, 12: 2.179, 13: 2.160, 14: 2.145, 15: 2.1314, 16: 2.120, 17: 2.110, 18: 2.101, 19: 2.093},
}
_ROUNDING = 5e-4  #: what a printed tenth of a percent hides


@dataclass(frozen=True)
class Spread:
    """A figure's values seed by seed, in the same order as the figures it is compared with."""

    values: Sequence[float]

    @property
    def mean(self) -> float:
        """Mean over the seeds."""
        return statistics.fmean(self.values)

    @property
    def half(self) -> float:
        """Half of the 95 % t-interval of the mean."""
        count = len(self.values)
        return STUDENT[count - 1] * statistics.stdev(self.values) / math.sqrt(count)

    @property
    def noise(self) -> bool:
        """Whether the interval holds zero, or touches it in what is printed."""
        return abs(self.mean) <= max(self.half, _ROUNDING)

    def __sub__(self, other: Spread) -> Spread:
        """The difference, seed by seed."""
        return Spread(tuple(ours - theirs for ours, theirs in zip(self.values, other.values, strict=True)))
