"""``python -m warpfile.speed``: CPU seconds of every scheme's golden model with its environment, as JSON.

In this process the models run in one form; :func:`both_forms` asks two processes in turn.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

from warpfile.compiled import FINDER, VARIABLE
from warpfile.inputs import obtain_trace
from warpfile.schemes import SCHEMES
from warpfile.spec.environment import Environment
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.workload import prepare

KERNEL = "matmul_tiled"
SIZE = "large"

#: Cycles and CPU seconds by scheme.
Speeds = dict[str, tuple[int, float]]


def both_forms(repeats: int) -> tuple[Speeds, Speeds]:
    """The best of so many turns, compiled and as plain Python; the former is empty where nothing is compiled."""
    compiled, plain = Speeds(), Speeds()
    for _ in range(repeats):
        for found, value in ((compiled, ""), (plain, "0")):
            if found is plain or FINDER.places:
                command = [sys.executable, "-m", "warpfile.speed"]
                done = subprocess.run(command, env={**os.environ, VARIABLE: value}, stdout=subprocess.PIPE, check=True)
                for name, (cycles, seconds) in json.loads(done.stdout).items():
                    found[name] = cycles, min(seconds, found.get(name, (0, seconds))[1])
    return compiled, plain


def speeds() -> Speeds:
    """Every scheme at its own preset, once."""
    trace = obtain_trace(KERNEL, SIZE, None, lambda *_: None)
    found = Speeds()
    for name, scheme in SCHEMES.items():
        cfg = scheme.configuration(scheme.preset)
        layout = ProbeLayout(scheme.probes(cfg))
        environment = Environment(cfg, prepare(cfg, scheme.annotated(cfg, trace)), layout)
        model = scheme.golden(cfg, layout)
        start = time.process_time()
        while not environment.done:
            environment.observe(model.step(environment.stimulus()))
        found[name] = environment.cycle, time.process_time() - start
    return found


if __name__ == "__main__":
    print(json.dumps(speeds()))
