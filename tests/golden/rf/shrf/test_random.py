"""Random programs on random machines with entries: every operand is the trace's, every counter what its probe says."""

from __future__ import annotations

import random

import pytest

from tests.golden.machines import Shrf, events_of, layout_of
from tests.golden.rf.shrf.invariants import ShrfWatcher, SlotWatcher
from tests.golden.rf.shrf.scenario import shrf_config
from tests.golden.watching import watched
from warpfile.schemes import find
from warpfile.sim.counters import ObservedCounters
from warpfile.spec.config import Config
from warpfile.spec.environment import Environment
from warpfile.spec.schemes.shrf import COUNTERS, ShrfConfig
from warpfile.spec.stress import PROFILES, stress_trace
from warpfile.spec.workload import prepare

#: All that have no places and want nothing of the file.
PLACELESS = ("gto", "lrr", "oldest", "cggty")


def random_shrf(rng: random.Random, scheduler: str = "two_level") -> ShrfConfig:
    """A machine with small and awkward numbers, large enough for a CTA of four warps of 24 registers."""
    suspend = rng.choice(("strands", "strands", "pending", "always", "never"))
    warps = rng.choice((4, 5, 8))
    return shrf_config(
        lanes=rng.choice((1, 4)),
        warps=warps,
        ctas=rng.choice((1, 2, 8)),
        active_warps=warps if suspend == "never" else rng.choice((1, 2, 3)),
        active_choice=rng.choice(("greedy", "round_robin")),
        scheduler=scheduler,
        suspend=suspend,
        suspend_load="always" if suspend == "always" else rng.choice(("always", "needed")),
        suspend_barrier=rng.choice(("always", "needed")),
        orf_entries=rng.choice((1, 2, 3, 8)),
        lrf=rng.choice(("none", "one", "split")),
        banks=rng.choice((1, 2, 4, 8)),
        rows=256,
        bank_ports=rng.choice(("1RW", "1R1W")),
        bank_cycles=rng.choice((1, 1, 2, 3)),
        bank_occupancy=rng.choice(("length", "one")),
        bank_skew=rng.choice(("none", "warp", "row")),
        collectors=rng.choice((1, 2, 3, 4)),
        source_slots=rng.choice((1, 2, 3)),
        collect=rng.choice(("lowest", "one", "all")),
        bank_arbitration=rng.choice(("round_robin", "oldest")),
        dispatch_arbitration=rng.choice(("round_robin", "oldest")),
        ports=rng.choice((1, 3, 4, 6)),
        write_back_ports=rng.choice((1, 3, 6)),
        starved_after=rng.choice((1, 32)),
        alu_latency=rng.choice((1, 2, 6)),
        sfu_latency=rng.choice((1, 21)),
        shared_latency=rng.choice((2, 12)),
        hit_latency=rng.choice((2, 12, 40)),
        miss_latency=rng.choice((40, 100)),
        result_queue=rng.choice((1, 2, 8)),
    )


def checked(cfg: Config, seed: int, profile: str, loosened: int | None, model: type[Shrf] = Shrf) -> Shrf:
    """Run a stress trace under the watcher, and compare the counters with those of the probes."""
    layout = layout_of("shrf", cfg)
    trace = find("shrf").annotated(cfg, stress_trace(seed, profile=profile, length=60, registers=16), loosened)
    workload = prepare(cfg, trace)
    environment, machine = Environment(cfg, workload, layout), model(cfg, layout)
    observed = ObservedCounters(layout, events_of("shrf", cfg))
    watcher = (ShrfWatcher if cfg.has_places else SlotWatcher)(cfg, workload)
    for word in watched(machine, environment, layout, watcher, 60_000):
        observed.add(word)
    assert machine.operands_checked
    counters = observed.totals()
    assert {name: machine.counters[name] for name in counters} == counters
    return machine


@pytest.mark.parametrize("seed", range(24))
def test_random_machines(seed: int) -> None:
    rng = random.Random(seed)
    checked(random_shrf(rng), seed, rng.choice(list(PROFILES)), rng.choice((None, seed)))


@pytest.mark.parametrize("scheduler", PLACELESS)
@pytest.mark.parametrize("seed", range(8))
def test_random_machines_without_places(scheduler: str, seed: int) -> None:
    rng = random.Random(f"{scheduler} {seed}")
    checked(random_shrf(rng, scheduler), seed, rng.choice(list(PROFILES)), rng.choice((None, seed)))


@pytest.mark.parametrize("scheduler", ["two_level", "gto"])
def test_every_corner_is_reached(scheduler: str) -> None:
    sums = dict.fromkeys(COUNTERS, 0)
    for seed in range(4):
        machine = checked(shrf_config("tiny", scheduler=scheduler), seed, list(PROFILES)[seed % len(PROFILES)], seed)
        for name in sums:
            sums[name] += machine.counters[name]
    assert all(sums.values()), sums
