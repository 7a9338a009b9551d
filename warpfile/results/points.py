"""Golden-model runs of one scheme in one configuration over one kernel, kept by everything that decides them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from typing import Any

from warpfile.output.display import silent
from warpfile.results import result_cache
from warpfile.results.run import golden_run
from warpfile.schemes import GoldenModel, Scheme, find
from warpfile.schemes.part import load_object
from warpfile.spec.config import Config
from warpfile.spec.dual_issue import DualEnvironment, SchedulersEnvironment
from warpfile.spec.environment import Environment
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.trace import Trace
from warpfile.spec.workload import Workload, prepare
from warpfile.workloads.inputs import obtain_trace

#: What decides the outcome of a run.
SOURCES = result_cache.Sources(("spec", "golden", "compiler", "emulator", "kernels", "schemes"), ("numpy",))


#: Machines that issue twice per cycle, and what is around them: of one warp, or two schedulers of one issue each.
TWICE: Mapping[str, tuple[str, type[Environment]]] = {
    "one warp": ("warpfile.golden.dual_issue:DualMachine", DualEnvironment),
    "two schedulers": ("warpfile.golden.dual_issue:TwoSchedulers", SchedulersEnvironment),
}


@dataclass(frozen=True)
class Point:
    """A scheme in one configuration; ``changes`` are pairs of field and value.

    ``oracle``: of ``malekeh``, with exact reuse distances in its entries instead of near bits. ``setting``: the
    launch of every kernel. ``issues``: who issues twice per cycle, of ``TWICE``. ``file``: place of another golden
    class for the register file, in which a cause that is studied is removed.
    """

    scheme: str
    preset: str
    changes: tuple[tuple[str, object], ...] = ()
    oracle: bool = False
    setting: str = "large"
    issues: str = ""
    file: str = ""

    @property
    def small(self) -> Point:
        """The same with the small launches, for sweeps."""
        return replace(self, setting="launch")

    def with_changes(self, **changes: object) -> Point:
        """The same with other values of some fields."""
        return replace(self, changes=tuple(sorted({**dict(self.changes), **changes}.items())))


@dataclass(frozen=True)
class Run:
    """One golden-model run: ``seed`` is added to the miss latency.

    ``contents`` is a hash of the files of a kernel that is not bundled (:func:`warpfile.workloads.inputs.contents`).
    """

    point: Point
    kernel: str
    seed: int = 0
    contents: str = field(default="", repr=False)

    @property
    def named(self) -> Run:
        """The run by what decides it: a kernel that is not bundled by what it holds, wherever it lies."""
        return replace(self, kernel=self.contents) if self.contents else self

    @property
    def scheme(self) -> Scheme:
        """The point's."""
        return find(self.point.scheme)

    @property
    def config(self) -> Config:
        """The point's, with another miss latency. Raises ``ValueError`` for an impossible one."""
        cfg = self.scheme.configuration(self.point.preset, **dict(self.point.changes))
        return cfg.replace(miss_latency=cfg.miss_latency + self.seed)

    @property
    def trace(self) -> Trace:
        """Of its kernel."""
        return trace_of(self.kernel, self.point.setting, self.contents)

    def key(self, sources: result_cache.Sources, *what: str) -> str:
        """Under which ``what`` of this run is kept."""
        named = (*what, self.named) if what else self.named
        return result_cache.key(named, sources, self.scheme.parts(self.config))


@dataclass(frozen=True)
class Outcome:
    """What a run counted. ``trail``: what the model decided interval after interval, if it does.

    ``seconds``: processor time when it was run. ``refused``: why there was no run; the configuration does not fit the
    kernel. ``steady``: sums of :class:`warpfile.spec.steady.Steady`.
    """

    cycles: int
    instructions: int
    counters: Mapping[str, int]
    trail: Sequence[Sequence[int]] = field(default=())
    seconds: float = 0.0
    refused: str = ""
    steady: Mapping[str, int] = field(default_factory=dict)

    @property
    def ipc(self) -> float:
        """Warp instructions per cycle."""
        return self.instructions / self.cycles

    def __getitem__(self, counter: str) -> int:
        return self.counters[counter]


@lru_cache(maxsize=2)
def trace_of(kernel: str, setting: str, contents: str = "") -> Trace:
    """The trace of a kernel, remembered as long as it has these contents."""
    return obtain_trace(kernel, setting, None, silent)


def outcome(run: Run, *, fresh: bool = False) -> Outcome:
    """Of a run: the kept one, unless ``fresh``, else that of a run now, which is kept.

    Raises as :func:`warpfile.results.run.golden_run`, and ``ValueError`` for an impossible configuration.
    """
    name = run.key(SOURCES)
    facts = None if fresh else result_cache.find(name)
    if facts is None:
        facts = asdict(golden(run))
        result_cache.keep(name, facts)
    return Outcome(**facts)


def golden(run: Run) -> Outcome:
    """Run the golden model now. Raises as :func:`outcome`."""
    start = time.process_time()
    scheme, cfg, trace = run.scheme, run.config, run.trace
    try:
        workload = workload_of(replace(run, seed=0))
    except ValueError as error:
        return Outcome(0, 0, {}, refused=str(error))
    make, surroundings = None, Environment
    if run.point.oracle:
        make = _with_oracle(scheme, cfg, trace, workload)
    elif run.point.issues:
        name, surroundings = TWICE[run.point.issues]
        make = _twice(scheme, name)
    elif run.point.file:
        make = _with_file(scheme, run.point.file)
    done = golden_run(scheme, cfg, run.point.preset, trace, silent, make, workload, surroundings)
    seconds = round(time.process_time() - start, 3)
    steady = asdict(done.steady) if done.steady else {}
    return Outcome(done.cycles, done.instructions, done.counters, done.trail, seconds, steady=steady)


@lru_cache(maxsize=1)
def workload_of(run: Run) -> Workload:
    """The beats of a run. They are the same at every seed, and take longer to make than some runs."""
    return prepare(run.config, run.scheme.annotated(run.config, run.trace))


def _twice(scheme: Scheme, name: str) -> Callable[[Config, ProbeLayout], GoldenModel]:
    """Maker of a golden model that issues twice per cycle."""
    return lambda cfg, layout: load_object(name)(cfg, layout, *(load_object(part.golden) for part in scheme.parts(cfg)))


def _with_file(scheme: Scheme, file: str) -> Callable[[Config, ProbeLayout], GoldenModel]:
    """Maker of a golden model with another class for its register file."""
    from warpfile.golden.machine import Machine

    def make(cfg: Config, layout: ProbeLayout) -> GoldenModel:
        scheduler, collectors, _ = (load_object(part.golden) for part in scheme.parts(cfg))
        return Machine(cfg, layout, scheduler, collectors, load_object(file))

    return make


def _with_oracle(
    scheme: Scheme, cfg: Config, trace: Trace, workload: Workload
) -> Callable[[Config, ProbeLayout], GoldenModel]:
    """Maker of a golden model that knows the distances of this trace."""
    from warpfile.compiler.passes.malekeh.exact import distances
    from warpfile.golden.collectors.malekeh.oracle import OracleCollectors, beat_distances
    from warpfile.golden.machine import Machine

    exact = distances(trace)
    per_beat = beat_distances(workload.beats, exact.first.tolist(), exact.distance.tolist())
    scheduler, _, file = (load_object(part.golden) for part in scheme.parts(cfg))

    def collectors(*arguments: Any) -> OracleCollectors:
        return OracleCollectors(*arguments, distances=per_beat)

    return lambda cfg, layout: Machine(cfg, layout, scheduler, collectors, file)
