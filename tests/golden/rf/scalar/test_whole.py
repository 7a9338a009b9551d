"""The file on whole machines: the baseline where no result is scalar, kernels, stress traces of the regression."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Any

import numpy as np
import pytest

from tests.compiler.passes.regmutex.harness import kernel
from tests.golden.machines import layout_of
from warpfile.golden.run import observations
from warpfile.pages.regress import STRESS
from warpfile.schemes import find
from warpfile.schemes.part import GoldenModel
from warpfile.spec.environment import Environment
from warpfile.spec.stress import PROFILES, stress_trace
from warpfile.spec.trace import Trace
from warpfile.spec.workload import prepare

MACHINES: tuple[dict[str, Any], ...] = (
    {},
    {"collect": "one", "bank_cycles": 2, "bank_ports": "1R1W", "scheduler": "lrr"},
    {"collect": "all", "bank_cycles": 3, "bank_occupancy": "one", "scheduler": "two_level", "active_warps": 2},
)


def simulated(scheme: str, trace: Trace, preset: str = "tiny", **changes: Any) -> tuple[GoldenModel, list[int]]:
    """The model after its run, and all observation words."""
    cfg = find(scheme).configuration(preset, **changes)
    layout = layout_of(scheme, cfg)
    machine = find(scheme).golden(cfg, layout)
    return machine, list(observations(machine, Environment(cfg, prepare(cfg, trace), layout)))


@pytest.mark.parametrize("changes", MACHINES)
@pytest.mark.parametrize("profile", PROFILES)
def test_without_scalar_values_it_is_the_baseline(profile: str, changes: dict[str, Any]) -> None:
    trace = stress_trace(3, profile=profile, registers=13, length=40)
    scheme = "scalar+two_level" if changes.get("scheduler") == "two_level" else "scalar"
    (ours, words), (theirs, expected) = (
        simulated(scheme, trace, scalar_values="none", **changes),
        simulated("baseline", trace, **changes),
    )
    assert words == expected and ours.counters == theirs.counters


@pytest.mark.parametrize("changes", MACHINES[:2])
@pytest.mark.parametrize("profile", PROFILES)
def test_without_a_scalar_result_it_is_the_baseline(profile: str, changes: dict[str, Any]) -> None:
    """Every two lanes differ, and all live, so that no single lane is a full result."""
    trace = stress_trace(4, profile=profile, registers=13, length=40)
    lanes = np.arange(32, dtype=np.uint32)
    values, live = trace.values & np.uint32(0xFFFFFFE0) | lanes, np.full_like(trace.live, 0xFFFFFFFF)
    trace = dataclasses.replace(trace, values=values, live=live)
    theirs, expected = simulated("baseline", trace, lanes=8, **changes)
    ours, words = simulated("scalar", trace, lanes=8, **changes)
    names = layout_of("baseline", find("baseline").configuration("tiny", lanes=8, **changes))
    layout = layout_of("scalar", find("scalar").configuration("tiny", lanes=8, **changes))
    fields = [layout.unpack(word) for word in words]
    assert [{name: one[name] for name in names.offset} for one in fields] == [*map(names.unpack, expected)]
    assert {name: ours.counters[name] for name in theirs.counters} == theirs.counters
    assert not any(one["scalar_result"] for one in fields)


@pytest.mark.parametrize("name", ["saxpy", "warp_reduce", "spmv"])
def test_kernels_find_their_operands_and_have_scalar_registers(name: str) -> None:
    (ours, words), (theirs, _) = (simulated(one, kernel(name), "turing") for one in ("scalar", "baseline"))
    counters = ours.counters
    assert words and ours.operands_checked == theirs.operands_checked > 0
    for kind in ("reads", "writes"):
        assert counters[f"scalar_{kind}"] and counters[f"vector_{kind}"]
        assert counters[f"scalar_{kind}"] + counters[f"vector_{kind}"] == theirs.counters[f"bank_{kind}"]
    assert counters["instructions"] == theirs.counters["instructions"]


def test_stress_traces_of_the_regression_reach_every_counter() -> None:
    total: Counter[str] = Counter()
    scheme = find("scalar")
    for profile in PROFILES:
        trace = stress_trace(0, profile=profile, **STRESS)  # type: ignore[arg-type]
        machine, _ = simulated("scalar", trace)
        total += Counter({name: machine.counters[name] for name in scheme.rf.reached})
    print(total)
    assert all(total[name] for name in scheme.rf.reached)
