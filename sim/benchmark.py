"""Speed of lockstep, and of the same simulation without comparison."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from warpfile.schemes import Scheme
from warpfile.sim.build import Harness, build_harness, generated_verilog
from warpfile.sim.harness import Recording, write_values
from warpfile.sim.runner import run_module, simulate
from warpfile.sim.self_driven import CYCLES_VARIABLE, SECONDS_VARIABLE
from warpfile.sim.stimulus import StimulusPacker
from warpfile.spec.config import Config
from warpfile.spec.environment import Environment
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.trace import Trace
from warpfile.spec.workload import Workload, prepare

#: File with the input words of a run.
WORDS = "replay.hex"


@dataclass(frozen=True)
class Speed:
    """Cycles of a run, the seconds that lockstep took for them, and the seconds that the simulator alone took."""

    cycles: int
    lockstep_seconds: float
    bare_seconds: float


def lockstep_speed(
    scheme: Scheme,
    cfg: Config,
    trace: Trace,
    root: Path,
    repeats: int = 1,
    progress: Callable[[str], None] = lambda stage: None,
) -> Speed:
    """Run a trace in lockstep, and its inputs in a simulation that drives itself; the shortest times of some runs.

    Both simulations run in Verilator at full width, in turn; the second has no golden model, no environment, no
    comparison of probes or operands and no traffic across the VPI.
    """
    workload = prepare(cfg, scheme.annotated(cfg, trace))
    with tempfile.TemporaryDirectory(prefix="warpfile-bare-") as name:
        scratch = Path(name)
        progress(f"{scheme.name}: inputs")
        count = _record(scheme, cfg, workload, scratch / WORDS)
        progress(f"{scheme.name}: two builds")
        harness, bare = _built(scheme, cfg, workload, root, count)
        plusargs = [write_values(cfg, workload, scratch / "values"), f"+replay={scratch / WORDS}"]
        lockstep_seconds, bare_seconds = [], []
        for turn in range(repeats):
            progress(f"{scheme.name}: turn {turn + 1} of {repeats}")
            timed, _ = simulate(harness, workload, lambda stage, done, total: None)
            if timed.mismatches:
                raise ValueError(f"{trace.kernel} must run without a difference to be timed: {timed.first_mismatch}")
            lockstep_seconds.append(timed.seconds)
            bare_seconds.append(_bare(bare, plusargs, count, scratch))
    return Speed(timed.compared, min(lockstep_seconds), min(bare_seconds))


def _built(scheme: Scheme, cfg: Config, workload: Workload, root: Path, cycles: int) -> tuple[Harness, Harness]:
    """The simulation that compares and the one that drives itself, built at the same time: each is one C++ file."""
    memories = Recording(1 << cycles.bit_length(), len(workload.trace.values))
    generated_verilog(scheme, cfg, root)  # once: it is not for two threads
    with ThreadPoolExecutor(2) as pool:
        first, second = (
            pool.submit(build_harness, scheme, cfg, workload, "verilator", root, recording=recording, optimised=True)
            for recording in (None, memories)
        )
        return first.result(), second.result()


def _bare(harness: Harness, plusargs: list[str], cycles: int, scratch: Path) -> float:
    seconds = scratch / "seconds"
    seconds.unlink(missing_ok=True)
    environment = {CYCLES_VARIABLE: str(cycles), SECONDS_VARIABLE: str(seconds)}
    run_module(harness, "warpfile.sim.self_driven", scratch, plusargs, environment, seconds)
    return float(seconds.read_text())


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
