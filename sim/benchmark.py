"""Speed of lockstep, and of the same simulation without anybody who compares."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from warpfile.schemes import Scheme
from warpfile.sim.bare import CYCLES_VARIABLE, SECONDS_VARIABLE
from warpfile.sim.build import build_harness
from warpfile.sim.harness import write_memories
from warpfile.sim.runner import run_module, simulate
from warpfile.spec.config import Config
from warpfile.spec.trace import Trace
from warpfile.spec.workload import prepare


@dataclass(frozen=True)
class Speed:
    """Cycles of a run, the seconds that lockstep took for them, and the seconds that the simulator alone took."""

    cycles: int
    lockstep_seconds: float
    bare_seconds: float


def lockstep_speed(scheme: Scheme, cfg: Config, trace: Trace, root: Path) -> Speed:
    """Run a trace in lockstep, record its inputs, and replay them in a simulation that drives itself.

    Both simulations run in Verilator at full width; the second has no golden model, no environment, no comparison of
    probes or operands and no traffic across the VPI.
    """
    workload = prepare(cfg, trace)
    harness = build_harness(scheme, cfg, workload, "verilator", root, optimised=True)
    timed, _ = simulate(harness, workload, lambda stage, done, total: None)
    if timed.mismatches:
        raise ValueError(f"{trace.kernel} must run without a difference to be timed: {timed.first_mismatch}")
    with tempfile.TemporaryDirectory(prefix="bare-", dir=harness.directory) as name:
        scratch = Path(name)
        words = scratch / "replay.hex"
        simulate(harness, workload, lambda stage, done, total: None, record=words)
        return Speed(timed.cycles, timed.seconds, _bare_seconds(scheme, cfg, trace, root, scratch, words))


def _bare_seconds(scheme: Scheme, cfg: Config, trace: Trace, root: Path, scratch: Path, words: Path) -> float:
    workload = prepare(cfg, trace)
    count = len(words.read_text().splitlines())
    harness = build_harness(scheme, cfg, workload, "verilator", root, replay=1 << count.bit_length(), optimised=True)
    plusargs = [f"+{key}={path}" for key, path in write_memories(cfg, workload, scratch).items()]
    seconds = scratch / "seconds"
    environment = {CYCLES_VARIABLE: str(count), SECONDS_VARIABLE: str(seconds)}
    run_module(harness, "warpfile.sim.bare", scratch, [*plusargs, f"+replay={words}"], environment, seconds)
    return float(seconds.read_text())
