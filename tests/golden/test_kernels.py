"""Bundled kernels: every operand that leaves the machine is what the emulator computed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden.test_random import watch
from warpfile.emulator.launch import load_kernel
from warpfile.emulator.run import execute
from warpfile.spec.config import Config

KERNELS = Path(__file__).resolve().parents[2] / "kernels"
NARROW = Config(collectors=2, source_slots=8, collect="one", bank_ports="1R1W", bank_arbitration="oldest")
WIDE = Config(warps=16, banks=8, collectors=8, collect="all", scheduler="lrr", bank_cycles=2)


@pytest.mark.parametrize("kernel", ["saxpy", "matmul_tiled", "bfs_step"])
def test_a_kernel_runs_with_the_right_operands(kernel: str) -> None:
    trace = execute(load_kernel(KERNELS / kernel)).trace
    for cfg in (NARROW, WIDE):
        assert watch(cfg, trace, limit=100_000)
