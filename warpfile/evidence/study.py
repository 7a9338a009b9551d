"""Golden-model runs of many configurations over the bundled kernels, in parallel, each kept on disk."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path

from warpfile.inputs import bundled_kernels, obtain_trace
from warpfile.run import golden_run
from warpfile.schemes import GoldenModel, Scheme, find
from warpfile.schemes.fingerprint import fingerprint, foreign
from warpfile.schemes.part import found
from warpfile.spec.config import Config
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.trace import Trace
from warpfile.spec.workload import prepare

KEPT = Path("build") / "evidence"
#: Folders and installed packages that decide the outcome of a run, beside the packages of foreign parts.
_SOURCES = ("spec", "golden", "compiler", "emulator", "kernels", "schemes")
_TOOLS = ("numpy",)


@dataclass(frozen=True)
class Point:
    """A scheme in one configuration; ``changes`` are pairs of field and value.

    ``foresight``: of ``malekeh``, with exact reuse distances in its entries instead of near bits. ``setting``: the
    launch of every kernel.
    """

    scheme: str
    preset: str
    changes: tuple[tuple[str, object], ...] = ()
    foresight: bool = False
    setting: str = "large"

    @property
    def small(self) -> Point:
        """The same with the small launches, for sweeps."""
        return replace(self, setting="launch")


@dataclass(frozen=True)
class Outcome:
    """What a run counted. ``trail``: what the model decided interval after interval, if it does."""

    cycles: int
    instructions: int
    counters: Mapping[str, int]
    trail: Sequence[Sequence[int]] = field(default=())

    @property
    def ipc(self) -> float:
        """Warp instructions per cycle."""
        return self.instructions / self.cycles

    def __getitem__(self, counter: str) -> int:
        return self.counters[counter]


class Study:
    """Outcomes by point and kernel."""

    def __init__(self, points: Iterable[Point], progress: Callable[[str, int, int], None]) -> None:
        self.kernels = tuple(bundled_kernels())
        jobs = [(point, kernel) for point in dict.fromkeys(points) for kernel in self.kernels]
        self._found: dict[tuple[Point, str], Outcome] = {}
        with ProcessPoolExecutor(os.cpu_count()) as pool:
            for done, (job, outcome) in enumerate(zip(jobs, pool.map(_run, jobs), strict=True), 1):
                self._found[job] = outcome
                progress("golden runs", done, len(jobs))

    def of(self, point: Point, kernel: str) -> Outcome:
        """Outcome of one run."""
        return self._found[point, kernel]

    def mean(self, point: Point, share: Callable[[Outcome], float]) -> float:
        """Arithmetic mean over the kernels."""
        return sum(share(self.of(point, kernel)) for kernel in self.kernels) / len(self.kernels)

    def speedup(self, point: Point, over: Point) -> float:
        """Geometric mean over the kernels of the ratio of cycles, minus one."""
        ratios = (self.of(over, kernel).cycles / self.of(point, kernel).cycles for kernel in self.kernels)
        return math.exp(sum(map(math.log, ratios)) / len(self.kernels)) - 1


def _run(job: tuple[Point, str]) -> Outcome:
    point, kernel = job
    scheme = find(point.scheme)
    cfg = scheme.configuration(point.preset, **dict(point.changes))
    key = hashlib.sha256(repr((job, _code_hash(tuple(sorted(foreign(scheme.parts(cfg))))))).encode()).hexdigest()[:24]
    kept = KEPT / f"{key}.json"
    if not kept.exists():
        trace = obtain_trace(kernel, point.setting, None, lambda *_: None)
        make = _foreseeing(scheme, cfg, trace) if point.foresight else None
        run = golden_run(scheme, cfg, point.preset, trace, lambda *_: None, make)
        facts = {
            "cycles": run.cycles,
            "instructions": run.instructions,
            "counters": run.counters,
            "trail": run.trail,
        }
        kept.parent.mkdir(parents=True, exist_ok=True)
        private = kept.with_suffix(f".{os.getpid()}")
        private.write_text(json.dumps(facts))
        private.replace(kept)
    return Outcome(**json.loads(kept.read_text()))


def _foreseeing(scheme: Scheme, cfg: Config, trace: Trace) -> Callable[[Config, ProbeLayout], GoldenModel]:
    """Maker of a golden model that knows the distances of this trace."""
    from warpfile.compiler.passes.malekeh.exact import distances
    from warpfile.golden.collectors.malekeh.oracle import ForeseeingCollectors, beat_distances
    from warpfile.golden.machine import Machine

    exact, workload = distances(trace), prepare(cfg, scheme.annotated(cfg, trace))
    per_beat = beat_distances(workload.beats, exact.first.tolist(), exact.distance.tolist())
    scheduler, _, file = (found(part.golden) for part in scheme.parts(cfg))
    return lambda cfg, layout: Machine(cfg, layout, scheduler, partial(ForeseeingCollectors, distances=per_beat), file)


@cache
def _code_hash(packages: tuple[tuple[str, Path], ...]) -> str:
    return fingerprint(_SOURCES, packages, _TOOLS)
