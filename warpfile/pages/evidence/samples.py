"""A run, and what is computed of it and of the one beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache

from warpfile.pages.evidence.reuse import Reuse
from warpfile.results.figure import MEANS
from warpfile.results.points import Outcome, Run, trace_of
from warpfile.spec.config import Config
from warpfile.synth.energy import all_prices, energy


@dataclass(frozen=True)
class Sample:
    """A run and what it counted."""

    run: Run
    outcome: Outcome

    @property
    def cycles(self) -> int:
        """Of the run."""
        return self.outcome.cycles

    @property
    def reuse(self) -> Reuse:
        """Distances between the accesses of its trace."""
        return _reuse(self.run.kernel, self.run.point.setting, self.run.contents)

    def picojoules(self, prices: str, wires: Mapping[str, float] | None = None, cfg: Config | None = None) -> float:
        """Energy of what has a price in this set; ``wires`` in mm by part.

        ``cfg``: the configuration whose prices are taken, by default the run's. Raises ``ValueError`` for accesses
        whose kind has a price, but not in that configuration: they would cost nothing.
        """
        known = _prices()[prices]
        found = energy(self.run.scheme, cfg or self.run.config, self.outcome.counters, known, wires)
        if lost := sorted({one.kind for one in known.prices} & found.unpriced.keys()):
            raise ValueError(f"{self.run.point}: {prices} must have a price of {', '.join(lost)} there")
        return found.picojoules


@dataclass(frozen=True)
class Metric:
    """What is computed from the run of a machine and that of the one beside it.

    ``kind``: *growth* and *geometric growth* are ratios, whose mean minus one is shown; *share* is shown as it is.
    ``beside``: whether a growth is over the machine beside it.
    """

    name: str
    kind: str
    of: Callable[[Sample, Sample], float] = field(repr=False)
    beside: bool = True

    def __post_init__(self) -> None:
        if self.kind not in MEANS:
            raise ValueError(f"kind must be one of {', '.join(MEANS)}, not {self.kind!r}")

    @property
    def neutral(self) -> float | None:
        """The value without any effect, of what is shown."""
        return None if self.kind == "share" else 0.0


@lru_cache(maxsize=1)
def _reuse(kernel: str, setting: str, contents: str) -> Reuse:
    return Reuse(trace_of(kernel, setting, contents))


_prices = cache(all_prices)
