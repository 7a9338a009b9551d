"""Golden-model runs of many configurations over the bundled kernels, in parallel, each kept on disk."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from functools import cache, lru_cache, partial
from pathlib import Path

from warpfile.display import Report, silent
from warpfile.evidence.reuse import Reuse
from warpfile.evidence.spread import Spread
from warpfile.inputs import obtain_trace
from warpfile.run import golden_run
from warpfile.schemes import GoldenModel, Scheme, find
from warpfile.schemes.fingerprint import fingerprint, foreign
from warpfile.schemes.part import found
from warpfile.spec.config import Config
from warpfile.spec.dual import DualEnvironment
from warpfile.spec.environment import Environment
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.trace import Trace
from warpfile.spec.workload import Workload, prepare

KEPT = Path("build") / "evidence"
#: Cycles that are added to the miss latency, one percent of 400 at most: what a machine nearly the same would give.
SEEDS = (-4, -2, 0, 2, 4)
#: The same of sweeps.
FEW = (-4, 0, 4)
#: Folders and installed packages that decide the outcome of a run, beside the packages of foreign parts.
_SOURCES = ("spec", "golden", "compiler", "emulator", "kernels", "schemes")
_TOOLS = ("numpy",)
_CHUNK = 8  #: runs that a worker takes at a time, most of one kernel


@dataclass(frozen=True)
class Point:
    """A scheme in one configuration; ``changes`` are pairs of field and value.

    ``foresight``: of ``malekeh``, with exact reuse distances in its entries instead of near bits. ``setting``: the
    launch of every kernel. ``dual``: with two issues of one warp per cycle (``golden.dual``). ``file``: place of
    another golden class for the register file, in which a cause that is studied is removed.
    """

    scheme: str
    preset: str
    changes: tuple[tuple[str, object], ...] = ()
    foresight: bool = False
    setting: str = "large"
    dual: bool = False
    file: str = ""

    @property
    def small(self) -> Point:
        """The same with the small launches, for sweeps."""
        return replace(self, setting="launch")

    def but(self, **changes: object) -> Point:
        """The same with other values of some fields."""
        return replace(self, changes=tuple(sorted({**dict(self.changes), **changes}.items())))


@dataclass(frozen=True)
class Run:
    """One golden-model run: ``seed`` is added to the miss latency."""

    point: Point
    kernel: str
    seed: int = 0


@dataclass(frozen=True)
class Outcome:
    """What a run counted. ``trail``: what the model decided interval after interval, if it does.

    ``seconds``: processor time when it was run. ``refused``: why there was no run; the configuration does not fit the
    kernel.
    """

    cycles: int
    instructions: int
    counters: Mapping[str, int]
    trail: Sequence[Sequence[int]] = field(default=())
    seconds: float = 0.0
    refused: str = ""

    @property
    def ipc(self) -> float:
        """Warp instructions per cycle."""
        return self.instructions / self.cycles

    def __getitem__(self, counter: str) -> int:
        return self.counters[counter]


@dataclass(frozen=True)
class Study:
    """Outcomes by point and kernel at one seed, and what figures of them are over several.

    ``reuse`` says of a kernel how far apart the accesses of its large launch are, whatever the machine.
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


class _Asked(Mapping[Run, Outcome]):
    """Gives every run the same outcome, and remembers for which it was asked."""

    def __init__(self) -> None:
        self.runs: dict[Run, Outcome] = {}

    def __getitem__(self, run: Run) -> Outcome:
        return self.runs.setdefault(run, Outcome(1, 1, defaultdict(lambda: 1)))

    def __iter__(self) -> Iterator[Run]:
        return iter(self.runs)

    def __len__(self) -> int:
        return len(self.runs)


def asked(page: Callable[[Study], str], kernels: Sequence[str], reuse: Callable[[str], Reuse]) -> Iterable[Run]:
    """The runs that a page asks for, if what it asks for does not depend on outcomes."""
    found = _Asked()
    page(Study(found, kernels, reuse))
    return found


def studied(runs: Iterable[Run], report: Report, *, fresh: bool = False) -> Study:
    """Outcomes of all runs: kept ones, unless ``fresh``, and the others run now, on all processors."""
    wanted = sorted(dict.fromkeys(runs), key=lambda run: (run.kernel, run.point.setting))
    outcomes, start = {}, time.monotonic()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(partial(_outcome, fresh=fresh), wanted, chunksize=_CHUNK)
        for done, (run, outcome) in enumerate(zip(wanted, found, strict=True), 1):
            outcomes[run] = outcome
            left = (time.monotonic() - start) * (len(wanted) - done) / done
            report(f"golden runs, about {left / 60:.0f} min left", done, len(wanted))
    return Study(outcomes, tuple(dict.fromkeys(run.kernel for run in wanted)), reuse)


@cache
def reuse(kernel: str) -> Reuse:
    """Of a kernel's large launch."""
    return Reuse(_trace(kernel, "large"))


@lru_cache(maxsize=2)
def _trace(kernel: str, setting: str) -> Trace:
    return obtain_trace(kernel, setting, None, silent)


def _outcome(run: Run, *, fresh: bool) -> Outcome:
    scheme, cfg = find(run.point.scheme), _config(run)
    key = hashlib.sha256(repr((run, _code_hash(tuple(sorted(foreign(scheme.parts(cfg))))))).encode()).hexdigest()[:24]
    kept = KEPT / f"{key}.json"
    if fresh or not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        private = kept.with_suffix(f".{os.getpid()}")
        private.write_text(json.dumps(asdict(_golden(scheme, cfg, run))))
        private.replace(kept)
    return Outcome(**json.loads(kept.read_text()))


def _golden(scheme: Scheme, cfg: Config, run: Run) -> Outcome:
    start = time.process_time()
    trace = _trace(run.kernel, run.point.setting)
    try:
        workload = _workload(replace(run, seed=0))
    except ValueError as error:
        return Outcome(0, 0, {}, refused=str(error))
    make, surroundings = None, Environment
    if run.point.foresight:
        make = _foreseeing(scheme, cfg, trace, workload)
    elif run.point.dual:
        make, surroundings = _dual(scheme), DualEnvironment
    elif run.point.file:
        make = _with_file(scheme, run.point.file)
    done = golden_run(scheme, cfg, run.point.preset, trace, silent, make, workload, surroundings)
    seconds = round(time.process_time() - start, 3)
    return Outcome(done.cycles, done.instructions, done.counters, done.trail, seconds)


@lru_cache(maxsize=1)
def _workload(run: Run) -> Workload:
    """The beats of a run. They are the same at every seed, and take longer to make than some runs."""
    scheme, cfg = find(run.point.scheme), _config(run)
    return prepare(cfg, scheme.annotated(cfg, _trace(run.kernel, run.point.setting)))


def _config(run: Run) -> Config:
    cfg = find(run.point.scheme).configuration(run.point.preset, **dict(run.point.changes))
    return cfg.replace(miss_latency=cfg.miss_latency + run.seed)


def _dual(scheme: Scheme) -> Callable[[Config, ProbeLayout], GoldenModel]:
    """Maker of a golden model that issues twice per cycle."""
    from warpfile.golden.dual import DualMachine

    return lambda cfg, layout: DualMachine(cfg, layout, *(found(part.golden) for part in scheme.parts(cfg)))


def _with_file(scheme: Scheme, file: str) -> Callable[[Config, ProbeLayout], GoldenModel]:
    """Maker of a golden model with another class for its register file."""
    from warpfile.golden.machine import Machine

    def make(cfg: Config, layout: ProbeLayout) -> GoldenModel:
        scheduler, collectors, _ = (found(part.golden) for part in scheme.parts(cfg))
        return Machine(cfg, layout, scheduler, collectors, found(file))

    return make


def _foreseeing(
    scheme: Scheme, cfg: Config, trace: Trace, workload: Workload
) -> Callable[[Config, ProbeLayout], GoldenModel]:
    """Maker of a golden model that knows the distances of this trace."""
    from warpfile.compiler.passes.malekeh.exact import distances
    from warpfile.golden.collectors.malekeh.oracle import ForeseeingCollectors, beat_distances
    from warpfile.golden.machine import Machine

    exact = distances(trace)
    per_beat = beat_distances(workload.beats, exact.first.tolist(), exact.distance.tolist())
    scheduler, _, file = (found(part.golden) for part in scheme.parts(cfg))
    return lambda cfg, layout: Machine(cfg, layout, scheduler, partial(ForeseeingCollectors, distances=per_beat), file)


@cache
def _code_hash(packages: tuple[tuple[str, Path], ...]) -> str:
    return fingerprint(_SOURCES, packages, _TOOLS)
