"""The toy runs to its end, and its warps come, wait and go when they should."""

from __future__ import annotations

import dataclasses

import pytest

from tests.golden.scenario import NOP, hand_trace
from tests.toy.scheme import TOY, pseudo, toyed
from warpfile.golden.run import observations
from warpfile.spec.environment import Environment
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.stress import PROFILES, stress_trace
from warpfile.spec.trace import Trace
from warpfile.spec.workload import prepare

CFG = TOY.configuration("tiny", scheduler="lrr")


def fields(trace: Trace, pause: int = 2) -> list[dict[str, int]]:
    trace = dataclasses.replace(trace, descriptor={"pause": pause})
    layout = ProbeLayout(TOY.probes(CFG))
    environment = Environment(CFG, prepare(CFG, trace), layout)
    return [layout.unpack(word) for word in observations(TOY.golden(CFG, layout), environment, 10_000)]


def when(seen: list[dict[str, int]], name: str) -> list[int]:
    return [cycle for cycle, f in enumerate(seen) if f[name]]


def test_the_kernel_comes_first_and_launches_take_their_time() -> None:
    seen = fields(hand_trace([NOP], [NOP], [NOP]))
    assert when(seen, "kernel") == [3]
    assert when(seen, "launch") == [4, 7, 10]


@pytest.mark.parametrize("operand", [0, 1, 5])
def test_a_pseudo_instruction_holds_its_warp_as_long_as_it_says(operand: int) -> None:
    issues = when(fields(hand_trace([dataclasses.replace(pseudo(operand), inserted=True), NOP])), "issue")
    assert issues[1] - issues[0] == operand + 2
    assert issues[2] - issues[1] == 1


def test_slots_are_given_back_late_and_the_run_ends_after_that() -> None:
    warps = CFG.warps + 1
    seen = fields(hand_trace(*[[NOP]] * warps, ctas=list(range(warps))), pause=4)
    exits, retired, launches = (when(seen, name) for name in ("exit", "retired", "launch"))
    assert [there - here for here, there in zip(exits, retired, strict=True)] == [5] * warps
    assert launches[-1] > retired[0]
    assert len(seen) == retired[-1] + 2  # quiet is seen in the cycle after


@pytest.mark.parametrize("scheduler", ["gto", "two_level"])
@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_stress_ends_with_every_operand_right(profile: str, scheduler: str) -> None:
    cfg = TOY.configuration("tiny", scheduler=scheduler, active_warps=2)
    plain = stress_trace(5, profile=profile, registers=12, length=60)
    trace, layout = toyed(plain, 1), ProbeLayout(TOY.probes(cfg))
    model, environment = TOY.golden(cfg, layout), Environment(cfg, prepare(cfg, trace), layout)
    for _ in observations(model, environment, 100_000):
        pass
    assert model.counters["instructions"] == environment.instructions == plain.instructions < trace.records
