"""Warps of every CTA are dealt to the domains of the SM (docs/machine.md, section 9, "Dealing")."""

from __future__ import annotations

import dataclasses
import random
from collections import Counter

import numpy as np
import pytest

from tests.golden.dealing import instructions_of, warps_of
from tests.golden.scenario import BAR, NOP, Run, hand_trace, op, run
from warpfile.spec import workload
from warpfile.spec.config import Config
from warpfile.spec.presets import PRESETS
from warpfile.spec.stress import stress_trace
from warpfile.spec.trace import Trace
from warpfile.spec.workload import WorkloadError, prepare

TURING = PRESETS["turing"].config


def random_launch(rng: random.Random) -> tuple[Config, Trace]:
    """An SM of one to five domains, and CTAs of one to nine warps that give every domain one."""
    cfg = Config(domains=rng.randint(1, 5), warps=rng.choice((2, 9, 16)), ctas=rng.randint(1, 4))
    while True:
        sizes = [rng.randint(1, min(9, cfg.domains * cfg.warps)) for _ in range(rng.randint(1, 5))]
        if sum(sizes) >= cfg.domains:
            return cfg, stress_trace(rng.randrange(1000), warps_per_cta=sizes, ctas=len(sizes), length=10)


def domains_of(cfg: Config) -> list[Config]:
    """Every domain of the SM."""
    return [cfg.replace(domain=domain) for domain in range(cfg.domains)]


def check_dealing(cfg: Config, trace: Trace) -> None:
    """Every warp runs once, in the domain of its number in the launch, and CTAs stay whole and in order."""
    runs: Counter[int] = Counter()
    for one in domains_of(cfg):
        ctas = prepare(one, trace).ctas
        assert all(ctas), "a CTA without warps is not there"
        assert [warp for members in ctas for warp in members] == warps_of(one, trace)
        assert all(len(set(trace.warp_cta[list(members)])) == 1 for members in ctas), "a CTA is one CTA"
        runs.update(warp for members in ctas for warp in members)
    assert runs == Counter(range(trace.warps)), "every warp runs once"


@pytest.mark.parametrize("seed", range(40))
def test_the_domains_together_run_every_warp_once(seed: int) -> None:
    print(f"seed {seed}")
    check_dealing(*random_launch(random.Random(seed)))


def _in_blocks(members: tuple[int, ...], cfg: Config) -> tuple[int, ...]:
    size = -(-len(members) // cfg.domains)
    return members[cfg.domain * size : (cfg.domain + 1) * size]


@pytest.mark.parametrize(
    "wrong",
    [
        _in_blocks,
        lambda members, cfg: members[cfg.domain :],
        lambda members, cfg: members[cfg.domain + 1 :: cfg.domains],
        lambda members, cfg: members[cfg.domain :: cfg.domains],
    ],
    ids=["in blocks", "twice", "one too far", "by the number in the CTA"],
)
def test_another_rule_is_noticed(monkeypatch: pytest.MonkeyPatch, wrong) -> None:  # type: ignore[no-untyped-def]
    def deal(cfg: Config, _: Trace, ctas: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
        return tuple(share for members in ctas if (share := wrong(members, cfg)))

    trace = stress_trace(1, warps_per_cta=[5, 3], ctas=4, length=10)
    check_dealing(Config(domains=3), trace)
    monkeypatch.setattr(workload, "_dealt", deal)
    with pytest.raises(AssertionError):
        check_dealing(Config(domains=3), trace)


def alone(cfg: Config, trace: Trace) -> Trace:
    """A trace that has nothing but the domain's warps."""
    warps = warps_of(cfg, trace)
    ranges = [np.arange(trace.warp_start[warp], trace.warp_start[warp + 1]) for warp in warps]
    records = np.concatenate(ranges)
    columns = ("instruction", "active", "execute", "live", "value_row", "address_row")
    return dataclasses.replace(
        trace,
        warp_start=np.cumsum([0, *map(len, ranges)]),
        warp_cta=trace.warp_cta[warps],
        **{name: getattr(trace, name)[records] for name in columns},
    )


def without_numbers(found: Run) -> list[dict[str, int]]:
    """Every cycle's probes but the numbers of the beats, which count the whole trace."""
    return [{name: value for name, value in f.items() if "payload" not in name} for f in found.fields]


@pytest.mark.parametrize("seed", range(8))
def test_a_domain_runs_as_if_there_were_no_other_warps(seed: int) -> None:
    """Barriers, CTA slots, shared memory and the cache see the domain's warps alone."""
    print(f"seed {seed}")
    cfg, _ = random_launch(random.Random(seed))
    cfg = cfg.replace(domains=3, warps=6, shared_bytes=random.Random(seed).choice((2048, 8192)))
    trace = stress_trace(seed, warps_per_cta=[7, 2, 16], ctas=5, length=40, profile=("mixed", "control")[seed % 2])
    seen = []
    for one in domains_of(cfg):
        dealt = run(one, trace)
        assert without_numbers(dealt) == without_numbers(run(cfg.replace(domains=1), alone(one, trace)))
        assert dealt.model.counters["instructions"] == instructions_of(one, trace)
        seen.append(dealt)
    assert sum(one.model.counters["instructions"] for one in seen) == trace.instructions
    assert sum(one.model.counters["beats"] for one in seen) == len(prepare(cfg, trace).beats)
    assert without_numbers(seen[0]) != without_numbers(seen[1]) != without_numbers(seen[2])


def test_every_operand_of_a_launch_is_checked_in_some_domain() -> None:
    trace = stress_trace(3, warps_per_cta=8, ctas=6, length=60)
    whole = run(TURING.replace(domains=1), trace).model.operands_checked
    assert sum(run(one, trace).model.operands_checked for one in domains_of(TURING)) == whole > 1000


def test_a_cta_of_sixteen_warps_runs_on_turing() -> None:
    trace = stress_trace(5, warps_per_cta=16, ctas=3, length=40)
    with pytest.raises(WorkloadError, match=r"a CTA of .* has 16 warps of 24 registers, but only 8 such warps fit"):
        prepare(TURING.replace(domains=1), trace)
    for one in domains_of(TURING):
        found = run(one, trace)
        # Four warps of each CTA; the third CTA waits until four of the eight slots are free.
        assert sum(f["launch"] for f in found.fields) == 12
        assert max(f["resident"].bit_count() for f in found.fields) == 8


def test_a_launch_that_fits_the_sm_runs_and_no_larger_one() -> None:
    wide = {"registers": 255}  # 256 places: two warps per domain
    assert len(prepare(TURING, hand_trace(*[[NOP]] * 8, **wide)).ctas[0]) == 2
    with pytest.raises(WorkloadError, match="has 9 warps of 255 registers, but only 8 such warps fit this SM: use"):
        prepare(TURING, hand_trace(*[[NOP]] * 9, **wide))
    prepare(TURING, hand_trace([NOP], shared_bytes=65536))
    with pytest.raises(WorkloadError, match="shared_bytes must be at least 65537 for hand, not 65536"):
        prepare(TURING, hand_trace([NOP], shared_bytes=65537))


def test_a_domain_without_any_warp_is_refused() -> None:
    trace = hand_trace([NOP], [NOP], [NOP], ctas=[0, 0, 1])
    assert prepare(Config(domains=4, domain=1), trace).ctas == ((1,),)
    with pytest.raises(WorkloadError, match="domain must be below 3 for hand, not 3: the launch has no more warps"):
        prepare(Config(domains=4, domain=3), trace)


def test_a_cta_without_warps_for_the_domain_takes_neither_slot_nor_time() -> None:
    cfg = Config(domains=4, domain=1, ctas=4, shared_bytes=400)
    trace = hand_trace(*[[NOP]] * 4, ctas=[0, 1, 2, 3], shared_bytes=100)
    assert prepare(cfg, trace).ctas == ((1,),)
    assert run(cfg, trace).when("launch") == [0]


@pytest.mark.parametrize(("warps", "most"), [(1, 4), (2, 8), (3, 8), (4, 8), (6, 8)])
def test_small_ctas_spread_over_the_domains(warps: int, most: int) -> None:
    """An SM of Turing holds 16 CTAs: four warps per domain if they have one each, eight if they have two or more."""
    trace = stress_trace(7, warps_per_cta=[warps], ctas=48, length=30)
    for one in domains_of(TURING):
        found = run(one, trace)
        assert sum(f["launch"] for f in found.fields) == 12 * warps
        assert max(f["resident"].bit_count() for f in found.fields) == most


def test_a_domain_has_its_share_of_the_ctas_that_shared_memory_allows() -> None:
    """Shared memory for eight CTAs of one warp: two of them per domain."""
    trace = hand_trace(*[[NOP]] * 32, ctas=list(range(32)), shared_bytes=8192)
    for one in domains_of(TURING):
        assert max(f["resident"].bit_count() for f in run(one, trace).fields) == 2


def test_every_cta_takes_its_slot_and_all_its_shared_memory_in_each_domain() -> None:
    warps = [[NOP]] * 4
    for cfg in (Config(ctas=1), Config(shared_bytes=199)):
        for one in domains_of(cfg.replace(domains=2)):
            found = run(one, hand_trace(*warps, ctas=[0, 0, 1, 1], shared_bytes=100))
            assert found.when("launch") == [0, found.when("exit")[0] + 1]
    both = Config(domains=2, ctas=2, shared_bytes=200)
    assert run(both, hand_trace(*warps, ctas=[0, 0, 1, 1], shared_bytes=100)).when("launch") == [0, 1]


def waits(delays: list[int], domain: int) -> tuple[int, int]:
    """Cycle in which both warps of a domain wait at the barrier, and the first after it in which none does."""
    steps = [[op((), 4 + k % 8) for k in range(delay)] for delay in delays]
    found = run(Config(domains=2, domain=domain), hand_trace(*[[*before, BAR, op((), 3)] for before in steps]))
    (both,) = [cycle for cycle, f in enumerate(found.fields) if f["waiting"] == 0b11]
    return both, found.when("waiting")[-1] + 1


def test_a_barrier_waits_for_the_warps_of_its_own_domain_only() -> None:
    # Warps 0 and 2 are domain 0's, warps 1 and 3 domain 1's: only the delay of warp 2 or of warp 3 is waited for.
    quick, own, other = ([0, 0, 0, 0], [0, 0, 60, 0], [0, 0, 0, 60])
    for domain, late in ((0, own), (1, other)):
        early = other if domain == 0 else own
        arrived, released = waits(quick, domain)
        assert released == arrived + 1
        assert waits(early, domain) == (arrived, released)
        assert waits(late, domain)[0] >= arrived + 60
