"""The file on whole machines: sizes of the worked example, and the baseline where there is no extended set."""

from __future__ import annotations

import dataclasses

import pytest

from tests.compiler.passes.regmutex.harness import kernel
from tests.golden.rf.regmutex.scenario import ACQ, REL, run_shared, shared
from tests.golden.scenario import BAR, NOP, Step, op
from tests.sm import whole
from warpfile.golden.run import observations
from warpfile.schemes import find
from warpfile.spec.environment import Environment
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.regmutex import RegMutexConfig
from warpfile.spec.stress import PROFILES, stress_trace
from warpfile.spec.trace import Trace
from warpfile.spec.workload import prepare

SM = whole("fermi_linear")


def test_the_worked_example_has_twenty_six_sections_for_forty_eight_warps() -> None:
    """24 registers in 1024 places: Bs = 18 and Es = 6 leave 160 places behind 48 base sets."""
    cfg = find("regmutex").configuration("fermi_linear", lanes=1, **SM)
    assert isinstance(cfg, RegMutexConfig)
    program: list[Step] = [BAR, ACQ, op((), 23), BAR, op((23,), 18), REL]
    late: list[Step] = [BAR, BAR, ACQ, op((), 23), op((23,), 18), REL]
    trace = shared(cfg, *[program] * 26, *[late] * 22, sections=26, sets=(18, 6))
    assert trace.descriptor == {"base_registers": 18, "extended_registers": 6, "pool": 864, "sections": 26}
    assert cfg.resident_warps(24, trace.descriptor) == 48
    assert find("baseline").configuration("fermi_linear", **SM).resident_warps(24) == 42
    result = run_shared(cfg, trace)
    assert [cycle for cycle, _ in result.events("launch")] == [*range(1, 49)]
    full = [f for f in result.fields if f["acquired"].bit_count() == 26]
    assert {f["pool_taken"] for f in full} == {(1 << 48) - 1}, "sections from 26 on do not exist"
    held = [full[0]["sections_held"] >> 6 * warp & 63 for warp in range(26)]
    assert sorted(held) == [*range(26)]
    # R23 of the owner of section i is in place 864 + 6 i + 5, in all 26 at once.
    file, rows = result.model.file, result.model.file.banks.rows  # type: ignore[attr-defined]
    places = [864 + 6 * section + 5 for section in range(26)]
    assert max(places) == 1019 and all(rows[place % 16][place // 16] >= 0 for place in places)
    assert all(rows[place % 16][place // 16] == -1 for place in range(1020, 1024))
    assert file.counters["acq_ok"] == 48 and file.counters["acq_fail"] >= 1
    assert result.model.operands_checked == 48


def test_a_small_pool_is_shared_by_all_warps_of_the_example() -> None:
    cfg = find("regmutex").configuration("fermi_linear", lanes=1, fair=1, **SM)
    assert isinstance(cfg, RegMutexConfig)
    program: list[Step] = [ACQ, *[NOP] * 60, op((), 23), op((23,), 0), REL]
    result = run_shared(cfg, shared(cfg, *[program] * 48, sections=26, sets=(18, 6)))
    counters = result.model.counters
    assert (counters["acq_ok"], counters["acq_fail"], counters["rel_ok"]) == (48, 22, 48)
    assert max(f["acquired"].bit_count() for f in result.fields) == 26


def without_extended_set(trace: Trace) -> Trace:
    """The trace with a descriptor that gives all registers to the base set."""
    sizes = {"base_registers": trace.registers, "extended_registers": 0, "pool": 0, "sections": 0}
    return dataclasses.replace(trace, descriptor=sizes)


def words(scheme: str, trace: Trace, preset: str = "tiny", **changes: object) -> list[dict[str, int]]:
    """Every cycle's probes. A trace without a descriptor is annotated."""
    cfg = find(scheme).configuration(preset, **changes)
    layout = ProbeLayout(find(scheme).probes(cfg))
    trace = trace if trace.descriptor else find(scheme).annotated(cfg, trace)
    environment = Environment(cfg, prepare(cfg, trace), layout)
    return [layout.unpack(word) for word in observations(find(scheme).golden(cfg, layout), environment)]


@pytest.mark.parametrize("scheduler", ["gto", "two_level"])
@pytest.mark.parametrize("scheme", ["regmutex", "regmutex_paired"])
@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_without_an_extended_set_it_is_the_baseline_a_cycle_later(profile: str, scheme: str, scheduler: str) -> None:
    plain = stress_trace(3, profile=profile, registers=13, length=30)
    changes = {"bank_skew": "none", "scheduler": scheduler, "active_warps": 3}
    ours = words(scheme, without_extended_set(plain), **changes)
    theirs = words("baseline", plain, **changes)
    assert ours[0]["kernel"] and not ours[0]["launch"]
    assert [{name: f[name] for name in theirs[0]} for f in ours[1 : len(theirs) + 1]] == theirs
    assert not any(f["resident"] for f in ours[len(theirs) + 1 :])


@pytest.mark.parametrize("scheme", ["regmutex", "regmutex_paired"])
def test_a_launch_that_registers_do_not_limit_is_the_baseline_a_cycle_later(scheme: str) -> None:
    """62 registers, of which 64 are allocated: 16 warps fit, and the launch has eight."""
    trace = kernel("conv_layer")
    ours, theirs = (words(one, trace, "fermi_linear", **SM) for one in (scheme, "baseline"))
    assert [{name: f[name] for name in theirs[0]} for f in ours[1 : len(theirs) + 1]] == theirs
    assert not any(f["resident"] for f in ours[len(theirs) + 1 :])


def test_a_launch_that_registers_limit_is_not_the_baseline() -> None:
    trace = kernel("conv_layer")
    ours, theirs = (words(one, trace, "fermi_linear", rows=16, **SM) for one in ("regmutex", "baseline"))
    assert any(f["acquire_ok"] for f in ours)
    assert [f["grant"] for f in ours[1:]] != [f["grant"] for f in theirs]


def test_machines_in_which_the_two_differ_are_told_apart() -> None:
    plain = stress_trace(3, registers=13, length=30)
    ours = words("regmutex", without_extended_set(plain))
    theirs = words("baseline", plain, bank_skew="warp")
    assert [f["grant"] for f in ours[1:]] != [f["grant"] for f in theirs]
