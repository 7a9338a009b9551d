"""Bundled kernels with the codes of their compiler: no stale operand, and every kept one is found."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from tests.golden.collectors.read_window.scenario import configured, run_trace
from tests.golden.collectors.read_window.watched import watch
from warpfile.emulator.launch import load_kernel
from warpfile.emulator.run import execute
from warpfile.golden import StaleOperand
from warpfile.spec.trace import Trace

KERNELS = Path(__file__).resolve().parents[4] / "kernels"
NAMES = sorted(path.parent.name for path in KERNELS.glob("*/launch.toml"))
FEW = ("divide", "half2", "conv2d", "random_walk", "lattice_boltzmann")
#: Operands that an independent model of the scheme kept, summed over all warps, each alone in its machine.
KEPT = {
    "unrolled_poly": 1504,
    "wide_accumulate": 1104,
    "stencil": 336,
    "conv_layer": 245,
    "bits": 146,
    "nbody": 130,
    "histogram": 94,
    "half2": 84,
    "tensor": 80,
    "calls": 28,
    "divide": 23,
    "divide_double": 19,
    "bfs_step": 8,
}
QUICK = ("divide", "half2", "bits")
#: Marks whose reader has a guard that is false in all lanes.
IN_VAIN = ("fdtd", "kmeans")


def some(names: tuple[str, ...], all_names: list[str]) -> list[object]:
    """The names, those that are not among the first few for the long regression only."""
    return [pytest.param(name, marks=() if name in names else pytest.mark.regress) for name in all_names]


@cache
def traced(kernel: str) -> Trace:
    return execute(load_kernel(KERNELS / kernel)).trace


@pytest.mark.parametrize("dependences", ["control_codes", "scoreboard"])
@pytest.mark.parametrize("kernel", some(FEW, NAMES))
def test_a_kernel_runs_with_the_right_operands(kernel: str, dependences: str) -> None:
    assert watch(configured("turing_rfc", dependences=dependences), traced(kernel)).operands_checked


@pytest.mark.parametrize("kernel", some(QUICK, NAMES))
def test_a_warp_that_is_alone_finds_all_that_it_kept(kernel: str) -> None:
    trace = traced(kernel)
    members = [int((trace.warp_cta == cta).sum()) for cta in set(trace.warp_cta.tolist())]
    found = kept = 0
    for domain in range(max(members)):
        run = run_trace(configured("turing_rfc", domains=max(members), domain=domain, ctas=1), trace, limit=60_000)
        found += run.model.counters["rfc_hits"]
        kept += run.model.counters["rfc_allocations"]
    assert kept == KEPT.get(kernel, kept)
    assert found < kept if kernel in IN_VAIN else found == kept


@pytest.mark.parametrize(
    "changes", [{"reuse_cache": "off"}, {"read_ports": 2}, {"read_ports": 3}, {"unit_interval": 1}]
)
def test_ports_and_cache_change_no_operand(changes: dict[str, object]) -> None:
    plain, other = (watch(configured("turing_rfc", **more), traced("half2")) for more in ({}, changes))
    assert plain.operands_checked == other.operands_checked


@pytest.mark.parametrize(
    ("rule", "other", "late"),
    [("passes", lambda cfg, hints: False, "0x4e0"), ("early_port", -1, "0x1b0")],
    ids=["passes", "early_port"],
)
def test_a_kernel_needs_what_compilers_count_on(
    monkeypatch: pytest.MonkeyPatch, rule: str, other: object, late: str
) -> None:
    """A counter that counts without a lane, and two results that are there at once. Slow functions show the first."""
    cfg = configured("turing_rfc", sfu_latency=64)
    assert watch(cfg, traced("random_walk")).operands_checked
    monkeypatch.setattr(type(cfg), rule, other)
    with pytest.raises(StaleOperand, match=f"dispatches the instruction at {late} "):
        watch(cfg, traced("random_walk"))
