"""The file on whole machines: the baseline where nothing is shared, kernels that share, and stress traces."""

from __future__ import annotations

import dataclasses
from collections import Counter

import pytest

from tests.compiler.passes.regmutex.harness import kernel
from tests.golden.rf.regmutex.test_whole import words
from tests.sm import whole
from warpfile.golden.run import observations
from warpfile.pages.regress import STRESS
from warpfile.schemes import find
from warpfile.spec.environment import Environment
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.stress import PROFILES, stress_trace
from warpfile.spec.trace import Trace
from warpfile.spec.workload import prepare

SM = whole("fermi_linear")


def unshared(trace: Trace) -> Trace:
    """The trace with a descriptor by which all registers are private."""
    numbers = {"private_registers": trace.registers, "shared_registers": 0, "cta_warps": 1, "paired_warps": 0}
    return dataclasses.replace(trace, descriptor=numbers)


@pytest.mark.parametrize("scheduler", ["gto", "two_level"])
@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_without_shared_registers_it_is_the_baseline_a_cycle_later(profile: str, scheduler: str) -> None:
    plain = stress_trace(3, profile=profile, registers=13, length=30)
    changes = {"bank_skew": "none", "active_warps": 3, "warps": 5}
    own = {"scheduler": scheduler} if scheduler == "two_level" else {}
    ours = words("owf", unshared(plain), **changes, **own)
    theirs = words("baseline", plain, **changes, scheduler=scheduler)
    assert ours[0]["kernel"] and not ours[0]["launch"]
    assert [{name: f[name] for name in theirs[0]} for f in ours[1 : len(theirs) + 1]] == theirs
    assert not any(f["resident"] for f in ours[len(theirs) + 1 :])


def test_a_launch_that_registers_do_not_limit_is_the_baseline_a_cycle_later() -> None:
    """62 registers, of which 64 are allocated: 16 warps fit, and the launch has eight."""
    trace = kernel("conv_layer")
    ours, theirs = (words(one, trace, "fermi_linear", **SM) for one in ("owf", "baseline"))
    assert [{name: f[name] for name in theirs[0]} for f in ours[1 : len(theirs) + 1]] == theirs


@pytest.mark.parametrize("name", ["fdtd", "stencil_3d"])
def test_kernels_that_share_find_their_operands_and_have_more_resident_warps(name: str) -> None:
    counters = {}
    for scheme in ("owf", "baseline"):
        cfg = find(scheme).configuration("fermi_linear", lanes=1, rows=32)
        layout = ProbeLayout(find(scheme).probes(cfg))
        trace = find(scheme).annotated(cfg, kernel(name))
        machine = find(scheme).golden(cfg, layout)
        fields = [layout.unpack(word) for word in observations(machine, Environment(cfg, prepare(cfg, trace), layout))]
        counters[scheme] = machine.counters | {"most": max(f["resident"].bit_count() for f in fields)}
        assert machine.operands_checked
    assert counters["owf"]["owners_taken"] and not counters["owf"]["stray_cycles"]
    assert counters["owf"]["most"] > counters["baseline"]["most"]
    assert counters["owf"]["instructions"] == counters["baseline"]["instructions"]


def test_stress_traces_of_the_regression_reach_every_counter() -> None:
    total: Counter[str] = Counter()
    scheme = find("owf")
    cfg = scheme.configuration("tiny", rows=64, lanes=1)
    layout = ProbeLayout(scheme.probes(cfg))
    for profile in ("mixed", "control", "memory"):
        for seed in range(2):
            trace = scheme.annotated(cfg, stress_trace(seed, profile=profile, **STRESS), seed)  # type: ignore[arg-type]
            machine = scheme.golden(cfg, layout)
            for _ in observations(machine, Environment(cfg, prepare(cfg, trace), layout)):
                pass
            total += Counter({name: machine.counters[name] for name in scheme.rf.reached})
    print(total)
    assert all(total[name] for name in scheme.rf.reached)
