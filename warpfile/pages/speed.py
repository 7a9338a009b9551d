"""``python -m warpfile.pages.speed SCHEME [PRESET]``: cycles and CPU seconds of its golden model with its environment.

As JSON, with the instructions issued. Without a preset it is the scheme's own; with that of another scheme, the two
differ in the scheme only.

In this process the model runs in one form; :func:`both_forms` and :func:`beside_baseline` start processes in turn.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import NamedTuple

from warpfile.compiled import FINDER, VARIABLE
from warpfile.schemes import Scheme, find
from warpfile.spec.config import Config
from warpfile.spec.environment import Environment
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.workload import prepare
from warpfile.workloads.inputs import obtain_trace

KERNEL = "matmul_tiled"
SIZE = "large"
BASELINE = "baseline"


class Speed(NamedTuple):
    """Cycles and instructions of a run, and the CPU seconds that it took."""

    cycles: int
    instructions: int
    seconds: float


def timed(scheme: Scheme, preset: str = "") -> Config:
    """A preset, or the scheme's own, with all warps of a CTA in one domain: the same machine, a longer run."""
    return scheme.configuration(preset or scheme.preset, domains=1)


def both_forms(name: str, repeats: int) -> tuple[int, float | None, float]:
    """Cycles, and CPU seconds of the best of so many turns, compiled (None where nothing is) and as plain Python."""
    compiled, plain = list[float](), list[float]()
    for _ in range(repeats):
        for found, value in ((compiled, ""), (plain, "0")):
            if found is plain or FINDER.places:
                one = _run(name, "", value)
                found.append(one.seconds)
    return one.cycles, min(compiled, default=None), min(plain)


def beside_baseline(scheme: Scheme, repeats: int) -> tuple[Speed, Speed]:
    """The scheme and the baseline at the scheme's preset, each the fastest of so many turns, in the default form."""
    turns = [
        [_run(name, scheme.preset, os.environ.get(VARIABLE, "")) for name in (scheme.name, BASELINE)]
        for _ in range(repeats)
    ]
    own, baseline = (min(runs, key=lambda one: one.seconds) for runs in zip(*turns, strict=True))
    return own, baseline


def _run(name: str, preset: str, form: str) -> Speed:
    command = [sys.executable, "-m", "warpfile.pages.speed", name, *([preset] if preset else [])]
    environment = {**os.environ, VARIABLE: form}
    done = subprocess.run(command, env=environment, capture_output=True, check=True, text=True)
    return Speed(*json.loads(done.stdout))


def speed(scheme: Scheme, preset: str = "") -> Speed:
    """One run."""
    cfg, trace = timed(scheme, preset), obtain_trace(KERNEL, SIZE, None, lambda *_: None)
    layout = ProbeLayout(scheme.probes(cfg))
    environment = Environment(cfg, prepare(cfg, scheme.annotated(cfg, trace)), layout)
    model = scheme.golden(cfg, layout)
    start = time.process_time()
    while not environment.done:
        environment.observe(model.step(environment.stimulus()))
    return Speed(environment.cycle, environment.instructions, time.process_time() - start)


if __name__ == "__main__":
    print(json.dumps(speed(find(sys.argv[1]), *sys.argv[2:3])))
