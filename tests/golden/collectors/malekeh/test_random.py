"""Random programs with random hints on random machines with caching units, every cycle under the eye of the watcher."""

from __future__ import annotations

import random

import pytest

from tests.golden.collectors.malekeh.invariants import watch_malekeh
from tests.golden.collectors.malekeh.scenario import malekeh_layout, randomly_hinted
from tests.golden.machines import Baseline, Malekeh, events_of
from tests.golden.test_random import random_config
from warpfile.golden.run import observations, simulate
from warpfile.schemes import SCHEMES
from warpfile.sim.counters import ObservedCounters
from warpfile.spec.config import Config
from warpfile.spec.environment import Environment
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.malekeh import MalekehConfig
from warpfile.spec.stress import PROFILES, stress_trace
from warpfile.spec.trace import Trace
from warpfile.spec.workload import prepare


def random_malekeh(rng: random.Random) -> MalekehConfig:
    """A machine with small and awkward numbers."""
    values = random_config(rng).to_json()
    slots = int(str(values["source_slots"]))
    values |= {
        "unit_entries": min(16, max(2, rng.choice((1, 1, 2, 4)) << (slots - 1).bit_length())),
        "wait_control": rng.choice(("adaptive", "adaptive", "fixed")),
        "wait_threshold": rng.choice((0, 0, 3, 63)),
        "wait_step": rng.choice((1, 4, 31)),
        "wait_table": rng.choice(("reconstructed", "bounded")),
        "interval": rng.choice((2, 16, 50, 200)),
    }
    return MalekehConfig(**MalekehConfig.adapted(values | {"scheduler": "oldest"}))  # type: ignore[arg-type]


def random_case(seed: int) -> tuple[MalekehConfig, Trace]:
    """One random machine with one random program and hints."""
    rng = random.Random(seed)
    cfg, profile = random_malekeh(rng), rng.choice(list(PROFILES))
    sizes = rng.choice(([4], [1, 4], [3, 2, 1]))
    trace = stress_trace(seed, profile=profile, warps_per_cta=sizes, ctas=4, length=40)
    return cfg, randomly_hinted(cfg, trace, seed, rng.choice((0.1, 0.5, 0.5, 0.9, 1.0)))


def meeting_case(seed: int) -> tuple[MalekehConfig, Trace]:
    """A machine in which results of several ports often come in one cycle, to one unit."""
    rng = random.Random(seed)
    values = Config(
        warps=4,
        banks=8,
        rows=64,
        bank_ports="1R1W",
        collectors=rng.choice((2, 4)),
        source_slots=4,
        alu_latency=rng.randint(4, 7),
        sfu_latency=rng.randint(4, 7),
        sfu_interval=1,
        shared_latency=rng.randint(4, 7),
        hit_latency=5,
        miss_latency=rng.randint(6, 12),
        result_queue=8,
    ).to_json()
    cfg = MalekehConfig(
        **MalekehConfig.adapted(values | {"unit_entries": rng.choice((4, 8)), "interval": 50} | {"scheduler": "oldest"})
    )
    trace = stress_trace(seed, profile=rng.choice(("wide", "memory", "mask")), warps_per_cta=1, ctas=6, length=150)
    return cfg, randomly_hinted(cfg, trace, seed, rng.choice((0.3, 0.7)))


@pytest.mark.parametrize("seed", range(6))
def test_results_that_meet_keep_every_invariant(seed: int) -> None:
    print(f"seed {seed}")
    watch_malekeh(*meeting_case(seed))


@pytest.mark.parametrize("seed", range(30))
def test_a_random_program_keeps_every_invariant(seed: int) -> None:
    print(f"seed {seed}")
    watch_malekeh(*random_case(seed))


def test_runs_are_repeatable() -> None:
    first, second = (watch_malekeh(*random_case(7)) for _ in range(2))
    assert first.counters == second.counters and first.trail == second.trail


@pytest.mark.check
def test_values_flow_through_units_and_banks() -> None:
    models: list[Malekeh] = [watch_malekeh(*random_case(seed)) for seed in range(30, 36)]
    assert sum(model.operands_checked for model in models) > 500
    assert sum(model.counters["source_hits"] for model in models) > 100


@pytest.mark.parametrize("seed", range(8))
def test_the_counters_are_those_of_the_probes(seed: int) -> None:
    cfg, trace = random_case(seed)
    layout, workload = malekeh_layout(cfg), prepare(cfg, trace)
    environment, model = Environment(cfg, workload, layout), Malekeh(cfg, layout)
    observed = ObservedCounters(layout, events_of("malekeh", cfg))
    for word in observations(model, environment):
        observed.add(word)
    # What the bench takes from its environment instead of from probes.
    beside = {"instructions": environment.instructions, "bank_writes": environment.writes}
    assert model.counters == observed.totals() | beside


@pytest.mark.parametrize("seed", range(6))
def test_the_banks_end_as_those_of_the_baseline(seed: int) -> None:
    cfg, _ = random_case(seed)
    one_cta = stress_trace(seed, warps_per_cta=4, ctas=1, length=80, profile="mask")
    common = cfg.common()
    layout = ProbeLayout(SCHEMES["baseline"].probes(common))
    baseline = Baseline(common, layout)
    simulate(baseline, Environment(common, prepare(common, one_cta), layout))
    layout = malekeh_layout(cfg)
    for near in (0.5, 0.0):
        model = Malekeh(cfg, layout)
        simulate(model, Environment(cfg, prepare(cfg, randomly_hinted(cfg, one_cta, seed, near)), layout))
        assert model.file.banks.rows == baseline.file.banks.rows
        assert model.operands_checked == baseline.operands_checked
    assert model.counters["cached_results"] == 0  # all far
