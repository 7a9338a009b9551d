"""Bundled kernels on all machines of the family: every operand is what the emulator computed."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.golden.rf.packed.scenario import NAMES, hinted, run_packed, told
from tests.golden.rf.packed.test_random import watch_packed
from tests.golden.scenario import run
from warpfile.emulator.launch import load_kernel
from warpfile.emulator.run import execute
from warpfile.schemes import find
from warpfile.spec.schemes.packed import PackedConfig
from warpfile.spec.trace import Trace

KERNELS = Path(__file__).resolve().parents[4] / "kernels"


def configured(scheme: str, preset: str = "tiny") -> PackedConfig:
    """A preset with four lanes."""
    cfg = find(scheme).configuration(preset, lanes=4)
    assert isinstance(cfg, PackedConfig)
    return cfg


@pytest.fixture(scope="module", params=["divide", "histogram", "stencil"])
def trace(request: pytest.FixtureRequest) -> Trace:
    """What the emulator computed."""
    return execute(load_kernel(KERNELS / request.param)).trace


@pytest.mark.parametrize("scheme", NAMES)
def test_a_kernel_runs_with_the_right_operands(scheme: str, trace: Trace) -> None:
    cfg = configured(scheme)
    annotated = hinted(cfg, told(cfg, trace, random.Random(3)))
    result = run_packed(cfg, annotated, limit=200_000)
    counters = result.model.counters
    assert result.model.operands_checked and not counters["error_cycles"]
    plain = run(find("baseline").configuration("tiny", lanes=4), trace)
    assert counters["bank_reads"] + counters["unmapped_reads"] + counters.get("coalesced", 0) == counters["look_ups"]
    assert counters["bank_reads"] <= plain.model.counters["bank_reads"]
    # A result is a cycle late, slots wait for the table, and warps for their sweep.
    assert 0.9 * plain.cycles <= result.cycles <= 1.5 * plain.cycles


@pytest.mark.parametrize("scheme", ["corf_virtual", "corf_plus_virtual"])
def test_a_kernel_keeps_every_invariant(scheme: str) -> None:
    cfg = configured(scheme)
    trace = execute(load_kernel(KERNELS / "divide")).trace
    machine = watch_packed(cfg, hinted(cfg, told(cfg, trace, random.Random(5))), limit=200_000)
    assert machine.operands_checked and machine.counters["kills_done"]
