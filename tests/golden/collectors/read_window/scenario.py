"""Machines with a read window over a few lines of machine code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tests.compiler.passes.modern.coded import coded_trace
from tests.golden.machines import Modern, layout_of
from tests.golden.scenario import Run
from warpfile.golden.run import Stuck
from warpfile.schemes import find
from warpfile.spec.environment import Environment
from warpfile.spec.schemes.modern import ReadWindowConfig
from warpfile.spec.trace import NO_ROW, Trace
from warpfile.spec.workload import Workload, prepare

CLOCK = "CS2R.32 R100, SR_CLOCKLO"
#: Every access to memory comes back after as many cycles.
LATENCIES = ("hit", "miss", "shared", "texture", "sfu", "double", "tensor")


def configured(preset: str = "ampere", latency: int = 0, **changes: object) -> ReadWindowConfig:
    """A machine of a preset; with ``latency`` all its variable results take that many cycles."""
    if latency:
        changes = {f"{name}_latency": latency for name in LATENCIES} | {"cache_lines": 0} | changes
    cfg = find("modern").configuration(preset, **changes)
    assert isinstance(cfg, ReadWindowConfig)
    return cfg


def unknown(trace: Trace) -> Trace:
    """The trace as one that has no values, so that no operand is compared."""
    rows = np.full(len(trace.value_row), NO_ROW, dtype=np.int64)
    return replace(trace, value_row=rows, values=trace.values[:0], written=trace.written[:0])


@dataclass
class WindowRun(Run):
    """A run of one trace and what it was made from."""

    cfg: ReadWindowConfig | None = None
    work: Workload | None = None

    @property
    def at(self) -> list[int]:
        """Cycles of all issues, from the first one on."""
        cycles = [cycle for cycle, _ in self.issues()]
        return [cycle - cycles[0] for cycle in cycles]

    def events(self, probe: str) -> list[tuple[int, int]]:
        """Cycle and value wherever a probe is not zero; cycle 0 is that of the first issue."""
        first = self.issues()[0][0]
        return [(cycle - first, value) for cycle, value in super().events(probe)]


def run_trace(
    cfg: ReadWindowConfig, trace: Trace, model: type[Modern] = Modern, hold: int = 0, limit: int = 20_000
) -> WindowRun:
    """Run to the end; for ``hold`` cycles nothing issues, so that the buffers are full."""
    layout = layout_of("modern", cfg)
    work = prepare(cfg, find("modern").annotated(cfg, trace))
    machine, environment = model(cfg, layout), Environment(cfg, work, layout)
    run = WindowRun(machine, cfg=cfg, work=work)
    while not environment.done:
        if environment.cycle >= limit:
            raise Stuck(f"no end within {limit} cycles")
        machine.file.hold = (1 << cfg.warps) - 1 if environment.cycle < hold else 0
        word = machine.step(environment.stimulus())
        environment.observe(word)
        run.fields.append(layout.unpack(word))
    return run


def run_lines(cfg: ReadWindowConfig, lines: Sequence[str], warps: int = 1, hold: int = 0) -> WindowRun:
    """Warps that execute these lines."""
    return run_trace(cfg, coded_trace(*lines, warps=warps), hold=hold)


def elapsed(cfg: ReadWindowConfig, lines: Sequence[str], checked: bool = True) -> int:
    """Cycles from the issue of the first CLOCK to that of the last."""
    trace = coded_trace(*lines)
    run = run_trace(cfg, trace if checked else unknown(trace))
    clocks = [number for number, line in enumerate(lines) if line.startswith("CS2R")]
    return run.at[clocks[-1]] - run.at[clocks[0]]
