"""Speed of lockstep, and of the same simulation without anybody who compares."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from warpfile.schemes import Scheme
from warpfile.sim.bare import CYCLES_VARIABLE, SECONDS_VARIABLE
from warpfile.sim.build import build_harness
from warpfile.sim.harness import Recording, write_values
from warpfile.sim.runner import run_module, simulate
from warpfile.sim.stimulus import StimulusPacker
from warpfile.spec.config import Config
from warpfile.spec.environment import Environment
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.trace import Trace
from warpfile.spec.workload import Workload, prepare


@dataclass(frozen=True)
class Speed:
    """Cycles of a run, the seconds that lockstep took for them, and the seconds that the simulator alone took."""

    cycles: int
    lockstep_seconds: float
    bare_seconds: float


def lockstep_speed(scheme: Scheme, cfg: Config, trace: Trace, root: Path, repeats: int = 1) -> Speed:
    """Run a trace in lockstep, and its inputs in a simulation that drives itself; the shortest times of some runs.

    Both simulations run in Verilator at full width; the second has no golden model, no environment, no comparison of
    probes or operands and no traffic across the VPI.
    """
    workload = prepare(cfg, scheme.annotated(cfg, trace))
    harness = build_harness(scheme, cfg, workload, "verilator", root, optimised=True)
    lockstep = []
    for _ in range(repeats):
        timed, _ = simulate(harness, workload, lambda stage, done, total: None)
        if timed.mismatches:
            raise ValueError(f"{trace.kernel} must run without a difference to be timed: {timed.first_mismatch}")
        lockstep.append(timed.seconds)
    with tempfile.TemporaryDirectory(prefix="bare-", dir=harness.directory) as name:
        bare = _bare_seconds(scheme, cfg, workload, root, Path(name), repeats)
    return Speed(timed.cycles, min(lockstep), min(bare))


def _bare_seconds(
    scheme: Scheme, cfg: Config, workload: Workload, root: Path, scratch: Path, repeats: int
) -> list[float]:
    words, seconds = scratch / "replay.hex", scratch / "seconds"
    count = _record(scheme, cfg, workload, words)
    memories = Recording(1 << count.bit_length(), len(workload.trace.values))
    harness = build_harness(scheme, cfg, workload, "verilator", root, recording=memories, optimised=True)
    plusargs = [write_values(cfg, workload, scratch / "values"), f"+replay={words}"]
    environment = {CYCLES_VARIABLE: str(count), SECONDS_VARIABLE: str(seconds)}
    found = []
    for _ in range(repeats):
        seconds.unlink(missing_ok=True)
        run_module(harness, "warpfile.sim.bare", scratch, plusargs, environment, seconds)
        found.append(float(seconds.read_text()))
    return found


def _record(scheme: Scheme, cfg: Config, workload: Workload, path: Path) -> int:
    """Write the input words of all cycles to a file, one hexadecimal word per line; returns how many."""
    layout, packer = ProbeLayout(scheme.probes(cfg)), StimulusPacker(cfg)
    model, environment = scheme.golden(cfg, layout), Environment(cfg, workload, layout)
    with path.open("w") as stream:
        while not environment.done:
            stimulus = environment.stimulus()
            stream.write(f"{packer.pack(stimulus):x}\n")
            environment.observe(model.step(stimulus))
    return environment.cycle
