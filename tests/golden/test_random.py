"""Random programs on random machines, every cycle under the eye of the watcher."""

from __future__ import annotations

import random

import pytest

from tests.golden.invariants import Watcher
from tests.golden.machines import Baseline
from tests.golden.scenario import hand_trace, op
from tests.golden.watching import watched
from warpfile.golden.run import Stuck, simulate
from warpfile.schemes import SCHEMES
from warpfile.spec.config import Config
from warpfile.spec.environment import Environment
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.stress import PROFILES, stress_trace
from warpfile.spec.trace import Trace
from warpfile.spec.workload import prepare


def random_config(rng: random.Random) -> Config:
    """A machine with small and awkward numbers, large enough for a CTA of four warps of 24 registers."""
    return Config(
        lanes=rng.choice((1, 4, 32)),
        warps=rng.choice((4, 5, 8)),
        ctas=rng.choice((1, 2, 8)),
        shared_bytes=rng.choice((2048, 65536)),
        buffer_depth=rng.randint(1, 4),
        banks=rng.choice((1, 2, 4, 8)),
        rows=rng.choice((128, 256)),
        bank_ports=rng.choice(("1RW", "1R1W")),
        bank_cycles=rng.choice((1, 1, 2, 3)),
        bank_skew=rng.choice(("none", "warp", "row")),
        collectors=rng.choice((1, 2, 3, 4, 8)),
        source_slots=rng.choice((1, 2, 3, 8)),
        collect=rng.choice(("lowest", "one", "all")),
        bank_arbitration=rng.choice(("round_robin", "oldest")),
        dispatch_arbitration=rng.choice(("round_robin", "oldest")),
        scheduler=rng.choice(("gto", "lrr")),
        ports=rng.choice((1, 3, 4, 6)),
        write_back_ports=rng.choice((1, 3, 4, 6)),
        branch_delay=rng.choice((0, 1, 4)),
        alu_latency=rng.choice((1, 2, 6)),
        alu_interval=rng.choice((1, 2)),
        sfu_latency=rng.choice((1, 21)),
        miss_latency=rng.choice((40, 100)),
        cache_lines=rng.choice((0, 4, 64)),
        uniform_latency=rng.choice((1, 6)),
        result_queue=rng.choice((1, 2, 8)),
        bank_occupancy=rng.choice(("length", "one")),
    )


def watch(
    cfg: Config, trace: Trace, model: type[Baseline] = Baseline, limit: int = 30_000, refuses: bool = False
) -> list[int]:
    """Run to the end under the watcher and return the observation words."""
    layout = ProbeLayout(SCHEMES["baseline"].probes(cfg))
    workload = prepare(cfg, trace)
    environment, machine = Environment(cfg, workload, layout), model(cfg, layout)
    watcher = Watcher(cfg, workload, refuses)
    return list(watched(machine, environment, layout, watcher, limit))


def random_run(seed: int, model: type[Baseline] = Baseline, refuses: bool = False) -> list[int]:
    """One random machine with one random program."""
    rng = random.Random(seed)
    cfg, profile = random_config(rng), rng.choice(list(PROFILES))
    sizes = rng.choice(([4], [1, 4], [3, 2, 1]))
    domains = seed % 5 or 1
    cfg = cfg.replace(domains=domains, domain=seed // 5 % min(domains, max(sizes)))
    return watch(
        cfg, stress_trace(seed, profile=profile, warps_per_cta=sizes, ctas=4, length=40), model, refuses=refuses
    )


@pytest.mark.parametrize("seed", range(120))
def test_a_random_program_keeps_every_invariant(seed: int) -> None:
    print(f"seed {seed}")
    random_run(seed)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("slots", [1, 3, 8])
def test_every_profile_runs(profile: str, slots: int) -> None:
    watch(Config(source_slots=slots, collectors=4), stress_trace(5, profile=profile, length=80))


def test_runs_are_repeatable() -> None:
    assert random_run(7) == random_run(7)


def test_values_flow_through_the_banks() -> None:
    cfg = Config()
    layout = ProbeLayout(SCHEMES["baseline"].probes(cfg))
    model = Baseline(cfg, layout)
    environment = Environment(cfg, prepare(cfg, stress_trace(1, profile="chain", length=200)), layout)
    simulate(model, environment)
    assert model.operands_checked > 500


def test_a_machine_that_stands_still_is_reported() -> None:
    class Stands(Baseline):
        def _choose(self, candidates: int, room: int) -> int:
            return -1

    with pytest.raises(Stuck, match="must end within 100 cycles"):
        watch(Config(), hand_trace([op((2,), 4)]), Stands, limit=100, refuses=True)
