"""Operand windows keep up with the simulator that they are compared with."""

from __future__ import annotations

import time

import pytest

from tests.golden.collectors.bow.scenario import MODES, bow_config, bow_layout, exactly_hinted
from tests.golden.machines import Bow
from warpfile.golden.run import simulate
from warpfile.spec.environment import Environment
from warpfile.spec.presets import PRESETS
from warpfile.spec.stress import stress_trace
from warpfile.spec.workload import prepare


@pytest.mark.regress
@pytest.mark.parametrize("mode", MODES)
def test_a_busy_kernel_runs_at_12000_cycles_per_second(mode: str) -> None:
    cfg = bow_config(PRESETS["pascal"].config.replace(domains=1), window_writes=mode)
    trace = exactly_hinted(cfg, stress_trace(3, profile="bank", ctas=20, length=200))
    layout = bow_layout(cfg)
    environment, model = Environment(cfg, prepare(cfg, trace), layout), Bow(cfg, layout)
    start = time.process_time()
    cycles = simulate(model, environment)
    rate = cycles / (time.process_time() - start)
    print(f"{rate:.0f} cycles per second")
    assert rate >= 12_000
