"""The model keeps up with the simulator that it is compared with."""

from __future__ import annotations

import time

import pytest

from tests.golden.machines import Baseline
from warpfile.golden.run import simulate
from warpfile.schemes import SCHEMES
from warpfile.spec.config import Config
from warpfile.spec.environment import Environment
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.stress import stress_trace
from warpfile.spec.workload import prepare

TURING = Config(
    warps=8,
    banks=2,
    rows=256,
    bank_ports="1R1W",
    collectors=2,
    source_slots=8,
    collect="one",
    bank_arbitration="oldest",
    dispatch_arbitration="oldest",
    alu_latency=2,
    alu_interval=2,
    sfu_latency=21,
    sfu_interval=8,
    shared_latency=30,
    hit_latency=32,
)


@pytest.mark.regress
@pytest.mark.parametrize("profile", ["bank", "mixed", "memory"])
def test_a_busy_kernel_runs_at_25000_cycles_per_second(profile: str) -> None:
    layout = ProbeLayout(SCHEMES["baseline"].probes(TURING))
    environment = Environment(TURING, prepare(TURING, stress_trace(3, profile=profile, ctas=20, length=200)), layout)
    model = Baseline(TURING, layout)
    start = time.process_time()
    cycles = simulate(model, environment)
    rate = cycles / (time.process_time() - start)
    print(f"{rate:.0f} cycles per second")
    assert rate >= 25_000
