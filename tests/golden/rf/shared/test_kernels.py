"""Bundled kernels: every operand is what the emulator computed, and every absorbed load what memory had."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden.rf.shared.scenario import run_shared, watch_shared
from warpfile.emulator.launch import load_kernel
from warpfile.emulator.run import execute
from warpfile.schemes import find
from warpfile.spec.schemes.shared import SharedConfig
from warpfile.spec.trace import Trace

KERNELS = Path(__file__).resolve().parents[4] / "kernels"
#: Warps beside one another load the same words or shifted ones.
NEIGHBOURS = ["conv_layer", "conv2d", "depthwise_conv", "fdtd", "matmul_2mm", "matmul_3mm", "stencil"]


def configured(scheme: str = "larf", preset: str = "tiny", **changes: object) -> SharedConfig:
    """A preset with eight lanes."""
    cfg = find(scheme).configuration(preset, **{"lanes": 8} | changes)
    assert isinstance(cfg, SharedConfig)
    return cfg


def emulated(kernel: str) -> Trace:
    """What the emulator computed."""
    return execute(load_kernel(KERNELS / kernel)).trace


@pytest.fixture(scope="module", params=["fdtd", "stencil"])
def trace(request: pytest.FixtureRequest) -> Trace:
    """Kernels whose warps load words beside one another."""
    return emulated(request.param)


@pytest.mark.parametrize(
    "changes", [{}, {"search": "perfect"}, {"table_entries": 64, "absorbed_loads": 16}, {"lanes": 32}]
)
def test_a_kernel_runs_with_the_right_operands(changes: dict[str, object], trace: Trace) -> None:
    cfg = configured(**changes)
    counters = run_shared(cfg, trace, limit=200_000).model.counters
    hits = sum(counters[name] for name in ("hits_perfect", "hits_single", "hits_double"))
    assert hits == counters["absorbed_loads_done"] and not counters["error_cycles"]
    assert hits or cfg.lanes == 32, "rows of the stencil are shorter than a warp"
    assert counters["bank_reads"] + counters["unmapped_reads"] == counters["look_ups"]
    assert changes.get("search") != "perfect" or counters["hits_perfect"] == hits


def test_a_kernel_keeps_every_invariant() -> None:
    assert watch_shared(configured(), emulated("stencil"), limit=200_000).operands_checked


@pytest.mark.regress
@pytest.mark.parametrize("kernel", [*NEIGHBOURS, "kmeans", "spmv", "nbody", "bfs_step"])
@pytest.mark.parametrize("scheme", ["larf", "larf_perfect"])
def test_a_kernel_runs_at_the_size_of_the_paper(scheme: str, kernel: str) -> None:
    cfg = configured(scheme, "pascal_larf", lanes=32)
    counters = run_shared(cfg, emulated(kernel), limit=2_000_000).model.counters
    assert counters["dispatches"] and not counters["error_cycles"]
