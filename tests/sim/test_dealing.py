"""RTL equals golden model in every domain of an SM whose CTAs are spread over all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden.dealing import instructions_of
from tests.golden.scenario import BAR, hand_trace, op
from warpfile.schemes import SCHEMES, find
from warpfile.sim.build import build_harness
from warpfile.sim.plan import Outcome
from warpfile.sim.runner import cosim, simulate
from warpfile.spec.config import Config
from warpfile.spec.stress import stress_trace
from warpfile.spec.trace import Trace
from warpfile.spec.workload import prepare

BASELINE = SCHEMES["baseline"]


def outcomes(name: str, preset: str, trace: Trace, root: Path) -> list[Outcome]:
    """A lockstep run of every domain on one lane; none may differ, and each runs its warps."""
    scheme, found = find(name), []
    for domain in range(scheme.configuration(preset).domains):
        cfg = scheme.configuration(preset, lanes=1, domain=domain)
        outcome = cosim(scheme, cfg, trace, preset=preset, build_root=root / "build").outcome
        assert outcome.mismatches == 0, outcome.first_mismatch
        assert outcome.instructions == instructions_of(cfg, trace) > 0
        assert outcome.operands_checked == outcome.golden_operands_checked > 0
        found.append(outcome)
    return found


@pytest.mark.check
def test_a_cta_of_sixteen_warps_runs_in_every_domain_of_turing(root: Path) -> None:
    trace = stress_trace(5, warps_per_cta=16, ctas=5, length=60, profile="control")
    found = outcomes("baseline", "turing", trace, root)
    assert len(found) == 4
    assert sum(one.instructions for one in found) == trace.instructions


@pytest.mark.check
def test_a_barrier_of_a_cta_in_several_domains_opens(root: Path) -> None:
    """Six warps, of which the domains have two, two, one and one; all wait three times, for different times."""
    late = [[op((), 8 + k % 8) for k in range(delay)] for delay in (0, 40, 7, 0, 90, 3)]
    trace = hand_trace(*[[op((), 4), BAR, *wait, BAR, op((4,), 5), BAR, op((5,), 6)] for wait in late])
    found = outcomes("baseline", "turing", trace, root)
    assert [one.instructions for one in found] == [2 * 7 + 90, 2 * 7 + 43, 7 + 7, 7]
    # An ALU instruction every other cycle: only warp 0 waits for the ninety of warp 4.
    assert found[0].cycles > 180 > found[1].cycles > 80 > max(found[2].cycles, found[3].cycles)


def test_both_modes_of_lockstep_run_the_same_domain(root: Path) -> None:
    """The bench of an interactive run deals for itself, from the configuration in its plan."""
    cfg = BASELINE.configuration("turing", lanes=1, domain=2)
    workload = prepare(cfg, stress_trace(9, warps_per_cta=[7, 16], ctas=4, length=40))
    harness = build_harness(BASELINE, cfg, workload, "verilator", root / "build")
    both = [simulate(harness, workload, lambda *_: None, interactive=way)[0] for way in (False, True)]
    assert [one.mismatches for one in both] == [0, 0]
    facts = [(one.cycles, one.instructions, one.operands_checked, one.counters) for one in both]
    assert facts[0] == facts[1]
    assert facts[0][1] == instructions_of(cfg, workload.trace) > 0


def test_warps_of_another_domain_are_noticed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def next_one(cfg: Config, _: Trace, ctas: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
        return tuple(members[(cfg.domain + 1) % cfg.domains :: cfg.domains] for members in ctas)

    monkeypatch.setattr("warpfile.spec.workload._dealt", next_one)
    with pytest.raises(AssertionError):
        outcomes("baseline", "turing", stress_trace(5, warps_per_cta=6, ctas=2, length=40, profile="control"), root)


@pytest.mark.check
def test_all_domains_are_one_build() -> None:
    """What a domain is has no place in the RTL; how many CTAs the SM holds has."""

    def text(**changes: object) -> str:
        return BASELINE.verilog(BASELINE.configuration("turing", lanes=1, **changes), probes=True)

    assert text() == text(domain=3) == text(domains=1) == text(shared_bytes=1024) != text(ctas=4)
