"""The units on whole machines: the baseline without both fields, kernels, stress traces of the regression."""

from __future__ import annotations

from collections import Counter
from typing import Any

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

NONE = {"forward_results": "none", "keep_operands": "none"}
MACHINES: tuple[dict[str, Any], ...] = (
    {},
    {"collect": "one", "bank_cycles": 2, "bank_ports": "1R1W", "scheduler": "lrr", "retake": "same"},
    {"collect": "all", "bank_cycles": 3, "scheduler": "two_level", "active_warps": 2},
)


def simulated(scheme: str, trace: Trace, preset: str = "tiny", **changes: Any) -> tuple[GoldenModel, list[int]]:
    """The model after its run, and all observation words."""
    cfg = find(scheme).configuration(preset, **changes)
    layout = layout_of(scheme, cfg)
    machine = find(scheme).golden(cfg, layout)
    return machine, list(observations(machine, Environment(cfg, prepare(cfg, trace), layout)))


@pytest.mark.parametrize("changes", MACHINES)
@pytest.mark.parametrize("profile", PROFILES)
def test_without_both_fields_it_is_the_baseline(profile: str, changes: dict[str, Any]) -> None:
    trace = stress_trace(3, profile=profile, registers=13, length=40)
    scheme = "sticky+two_level" if changes.get("scheduler") == "two_level" else "sticky"
    ours, words = simulated(scheme, trace, **NONE, **changes)
    theirs, expected = simulated("baseline", trace, **changes)
    names = layout_of("baseline", find("baseline").configuration("tiny", **changes))
    layout = layout_of(scheme, find(scheme).configuration("tiny", **NONE, **changes))
    fields = map(layout.unpack, words)
    assert [{name: one[name] for name in names.offset} for one in fields] == [*map(names.unpack, expected)]
    assert {name: ours.counters[name] for name in theirs.counters} == theirs.counters


@pytest.mark.parametrize("name", ["saxpy", "warp_reduce", "spmv"])
def test_kernels_find_their_operands_and_read_fewer(name: str) -> None:
    (ours, _), (theirs, _) = (simulated(one, kernel(name), "turing") for one in ("sticky", "baseline"))
    assert ours.operands_checked == theirs.operands_checked > 0
    assert ours.counters["sources"] == theirs.counters["bank_reads"] > ours.counters["bank_reads"]
    assert ours.counters["instructions"] == theirs.counters["instructions"]


def test_stress_traces_of_the_regression_reach_every_counter() -> None:
    total: Counter[str] = Counter()
    scheme = find("sticky")
    for profile in PROFILES:
        trace = stress_trace(0, profile=profile, **STRESS)  # type: ignore[arg-type]
        machine, _ = simulated("sticky", trace)
        total += Counter({name: machine.counters[name] for name in scheme.collectors.reached})
    print(total)
    assert all(total[name] for name in scheme.collectors.reached)
