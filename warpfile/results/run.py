"""The golden model by itself: cycles, IPC and counters of a trace."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from warpfile.output.difference import Difference
from warpfile.output.display import Report
from warpfile.schemes import GoldenModel, Scheme
from warpfile.sim.counters import reported
from warpfile.spec.config import Config
from warpfile.spec.cta_dispatcher import possible_warps
from warpfile.spec.environment import Environment
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.steady import Steady, Watch
from warpfile.spec.trace import Trace
from warpfile.spec.workload import Workload, prepare

CYCLE_LIMIT = 100_000_000  #: cycles after which a run is given up: hours, where a kernel of the size for it has seconds
QUIET_LIMIT = 100_000  #: cycles without any event, or a result that is to come, after which a run is taken for hung
_EVENTS = ("launch", "issue", "dispatch", "write")
_REPORT_EVERY = 1 << 14


class Hung(Exception):
    """A run in which nothing happens any more."""


@dataclass(frozen=True)
class GoldenRun:
    """Outcome of one run of a golden model."""

    scheme: str
    preset: str
    config: Config
    kernel: str
    cycles: int
    instructions: int
    counters: dict[str, int]
    operands_checked: int
    seconds: float
    notes: tuple[str, ...] = ()  #: what is to be known of the trace, a line each
    trail: tuple[tuple[int, ...], ...] = ()  #: what the model decided interval after interval, if it does
    steady: Steady | None = None  #: how many warps there were

    @property
    def ipc(self) -> float:
        """Warp instructions per cycle."""
        return self.instructions / self.cycles if self.cycles else 0.0

    @property
    def reported(self) -> dict[str, int]:
        """The counters that say something of the configuration."""
        return reported(self.config, self.counters)

    def to_json(self) -> dict[str, object]:
        """The facts of ``--json``."""
        return {
            "kernel": self.kernel,
            "preset": self.preset,
            "domain": self.config.domain,
            "lanes": self.config.lanes,
            "cycles": self.cycles,
            "instructions": self.instructions,
            "ipc": self.ipc,
            "counters": self.reported,
            "operands_checked": self.operands_checked,
            "seconds": self.seconds,
            "notes": list(self.notes),
            "steady": self.steady and self.steady.to_json(),
        }


def golden_run(
    scheme: Scheme,
    cfg: Config,
    preset: str,
    trace: Trace,
    report: Report,
    make: Callable[[Config, ProbeLayout], GoldenModel] | None = None,
    workload: Workload | None = None,
    surroundings: type[Environment] = Environment,
) -> GoldenRun:
    """Run a scheme's golden model, or the one that ``make`` makes, over a trace; ``workload``: the trace, if prepared.

    Raises ``WorkloadError`` for a trace that does not fit the configuration, and :class:`Difference` where an operand
    is not what the trace says or nothing happens for ``QUIET_LIMIT`` cycles.
    """
    layout = ProbeLayout(scheme.probes(cfg))
    workload = workload or prepare(cfg, scheme.annotated(cfg, trace))
    environment, total = surroundings(cfg, workload, layout), workload.instructions
    model = (make or scheme.golden)(cfg, layout)
    watch = Watch(layout, possible_warps(cfg, workload), sum(map(len, workload.ctas)))
    start = time.perf_counter()
    try:
        _to_the_end(model, environment, layout, watch, lambda done: report(scheme.name, done, total))
    except (AssertionError, Hung) as error:
        raise Difference(f"{scheme.name} on {trace.kernel}, cycle {environment.cycle}: {error}") from error
    return GoldenRun(
        scheme=scheme.name,
        preset=preset,
        config=cfg,
        kernel=trace.kernel,
        cycles=environment.cycles,
        instructions=environment.instructions,
        counters=dict(model.counters),
        operands_checked=model.operands_checked,
        seconds=time.perf_counter() - start,
        notes=workload.trace.notes,
        trail=tuple(model.trail),
        steady=watch.sums,
    )


def _to_the_end(
    model: GoldenModel, environment: Environment, layout: ProbeLayout, watch: Watch, report: Callable[[int], None]
) -> None:
    events = sum(layout.mask(name) << layout.offset[name] for name in _EVENTS)
    last_event = 0
    while not environment.done:
        word = model.step(environment.stimulus())
        environment.observe(word)
        watch.add(word)
        if word & events:
            last_event = environment.cycle
        elif environment.cycle - last_event > QUIET_LIMIT and not environment.awaits:
            raise Hung(f"nothing happened for {QUIET_LIMIT} cycles")
        if not environment.cycle % _REPORT_EVERY:
            report(environment.instructions)
            if environment.cycle > CYCLE_LIMIT:
                raise ValueError(f"a run must end within {CYCLE_LIMIT:,} cycles: use a smaller launch or shorter times")
