"""Golden-model runs of many configurations over the bundled kernels, in parallel, each kept on disk."""

from __future__ import annotations

import itertools
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, partial

from warpfile.output.display import Report, left
from warpfile.pages.evidence.reuse import Reuse
from warpfile.results.points import Outcome, Point, Run, outcome, trace_of
from warpfile.results.spread import Spread

#: Cycles that are added to the miss latency, one percent of 400 at most: what a machine nearly the same would give.
SEEDS = (-4, -2, 0, 2, 4)
#: The same of sweeps.
FEW = (-4, 0, 4)
_CHUNK = 8  #: runs that a worker takes at a time, most of one kernel


@dataclass(frozen=True)
class Study:
    """Outcomes by point and kernel at one seed, and what figures of them are over several.

    ``reuse`` gives the distances between accesses in a kernel's large launch, on any machine.
    """

    outcomes: Mapping[Run, Outcome]
    kernels: Sequence[str]
    reuse: Callable[[str], Reuse]
    seed: int = 0

    def of(self, point: Point, kernel: str) -> Outcome:
        """Outcome of one run. Raises ``ValueError`` with the reason if it was refused."""
        found = self.outcomes[Run(point, kernel, self.seed)]
        if found.refused:
            raise ValueError(found.refused)
        return found

    def fits(self, point: Point, kernel: str) -> bool:
        """Whether there was a run."""
        return not self.outcomes[Run(point, kernel, self.seed)].refused

    def over_kernels(self, figure: Callable[[str], float]) -> float:
        """Arithmetic mean over the kernels."""
        return sum(map(figure, self.kernels)) / len(self.kernels)

    def mean(self, point: Point, share: Callable[[Outcome], float]) -> float:
        """Arithmetic mean over the kernels of something that a run counts."""
        return self.over_kernels(lambda kernel: share(self.of(point, kernel)))

    def gain(self, kernel: str, point: Point, over: Point) -> float:
        """Ratio of one kernel's cycles, minus one."""
        return self.of(over, kernel).cycles / self.of(point, kernel).cycles - 1

    def speedup(self, point: Point, over: Point) -> float:
        """Geometric mean over the kernels of the ratio of cycles, minus one."""
        return math.expm1(self.over_kernels(lambda kernel: math.log1p(self.gain(kernel, point, over))))

    def spread(self, figure: Callable[[Study], float], seeds: Sequence[int] = SEEDS) -> Spread:
        """A figure at every seed; ``FEW`` where some run of it belongs to a sweep."""
        return Spread(tuple(figure(replace(self, seed=seed)) for seed in seeds))

    @property
    def seconds(self) -> float:
        """Processor time of all runs, whenever they were run."""
        return sum(outcome.seconds for outcome in self.outcomes.values())


def runs_of(points: Iterable[Point], seeds: Iterable[int], kernels: Iterable[str]) -> Iterator[Run]:
    """Every point at every seed on every kernel."""
    return (Run(*one) for one in itertools.product(points, kernels, seeds))


def studied(runs: Iterable[Run], report: Report, *, fresh: bool = False) -> Study:
    """Outcomes of all runs: kept ones, unless ``fresh``, and the others run now, on all processors."""
    wanted = sorted(dict.fromkeys(runs), key=lambda run: (run.kernel, run.point.setting))
    outcomes, start = {}, time.monotonic()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(partial(outcome, fresh=fresh), wanted, chunksize=_CHUNK)
        for done, (run, one) in enumerate(zip(wanted, found, strict=True), 1):
            outcomes[run] = one
            seconds = (time.monotonic() - start) * (len(wanted) - done) / done
            report(f"golden runs, {left(seconds)}", done, len(wanted))
    return Study(outcomes, tuple(dict.fromkeys(run.kernel for run in wanted)), reuse)


@cache
def reuse(kernel: str) -> Reuse:
    """Of a kernel's large launch."""
    return Reuse(trace_of(kernel, "large"))
