"""Random programs on random machines with the partitioned file, every cycle under the eye of the watcher.

Seeds below twelve are those of the corner cases.
"""

from __future__ import annotations

import random

import pytest

from tests.golden.machines import Pilot, events_of
from tests.golden.rf.pilot.invariants import PilotWatcher
from tests.golden.rf.pilot.moving import MovingWatcher
from tests.golden.rf.pilot.scenario import drawn, pilot_config, pilot_layout, run_pilot
from tests.golden.watching import watch_counters
from warpfile.spec.environment import Environment
from warpfile.spec.schemes.pilot import PilotConfig
from warpfile.spec.stress import PROFILES, stress_trace
from warpfile.spec.trace import Trace
from warpfile.spec.workload import prepare


def random_pilot(rng: random.Random) -> PilotConfig:
    """A machine with small and awkward numbers, large enough for a CTA of four warps of 24 registers."""
    return pilot_config(
        "tiny",
        lanes=1,
        warps=rng.choice((4, 5, 8)),
        ctas=rng.choice((2, 8)),
        buffer_depth=rng.randint(1, 4),
        register_names=rng.choice((32, 64)),
        banks=rng.choice((1, 2, 4, 8)),
        rows=256,
        bank_ports=rng.choice(("1RW", "1R1W")),
        bank_cycles=rng.choice((1, 1, 2)),
        low_cycles=rng.choice((1, 2, 3)),
        slow_cycles=rng.choice((1, 3, 3, 5)),
        fast_registers=rng.choice((1, 2, 4, 8)),
        epoch=rng.choice((1, 7, 16)),
        epoch_threshold=rng.choice((0, 1, 2, 4)),
        profile=rng.choice(("none", "compiler", "pilot", "hybrid", "hybrid", "hybrid")),
        collectors=rng.choice((1, 2, 4, 8)),
        source_slots=rng.choice((1, 2, 3)),
        collect=rng.choice(("lowest", "one", "all")),
        bank_arbitration=rng.choice(("round_robin", "oldest")),
        dispatch_arbitration=rng.choice(("round_robin", "oldest")),
        scheduler=rng.choice(("gto", "lrr")),
        ports=rng.choice((1, 3, 6)),
        write_back_ports=rng.choice((1, 3, 6)),
        alu_latency=rng.choice((1, 2, 6)),
        sfu_latency=rng.choice((1, 21)),
        hit_latency=rng.choice((2, 12)),
        miss_latency=40,
        cache_lines=rng.choice((0, 64)),
        uniform_latency=rng.choice((1, 6)),
        result_queue=rng.choice((1, 2, 8)),
        bank_occupancy=rng.choice(("length", "one")),
        pilot_map=rng.choice(("checked", "always")),
    )


def random_case(seed: int) -> tuple[PilotConfig, Trace]:
    """A random machine and a random program with drawn hot registers; the pilot ends long before the last CTA."""
    rng = random.Random(seed)
    cfg, profile = random_pilot(rng), rng.choice(list(PROFILES))
    sizes = rng.choice(([4], [1, 4], [3, 2, 1]))
    registers = rng.choice((4, 8, 24))
    trace = stress_trace(seed, profile=profile, warps_per_cta=sizes, ctas=7, length=25, registers=registers)
    return cfg, drawn(cfg, trace, rng)


def coming_and_going(seed: int) -> tuple[PilotConfig, Trace]:
    """Many short warps of few registers, so that some are launched while the pilot's map is made."""
    rng = random.Random(seed)
    cfg = random_pilot(rng).replace(profile="hybrid", fast_registers=rng.choice((2, 4, 8)), register_names=32)
    trace = stress_trace(seed, warps_per_cta=1, ctas=40, length=5, registers=rng.choice((4, 8, 12)))
    return cfg, drawn(cfg, trace, rng)


def watch_pilot(cfg: PilotConfig, trace: Trace, model: type[Pilot] = Pilot, limit: int = 60_000) -> Pilot:
    """Run to the end under the watcher, and compare the counters with those of the probes."""
    layout = pilot_layout(cfg)
    workload = prepare(cfg, trace)
    environment, machine = Environment(cfg, workload, layout), model(cfg, layout)
    watcher = (MovingWatcher if cfg.migrates else PilotWatcher)(cfg, workload, refuses=True)
    watch_counters(machine, environment, layout, events_of("pilot", cfg), watcher, limit)
    return machine


@pytest.mark.parametrize("seed", range(12, 24))
def test_a_random_program_keeps_every_invariant(seed: int) -> None:
    cfg, trace = random_case(seed)
    print(f"seed {seed} {trace.kernel}")
    assert watch_pilot(cfg, trace).operands_checked


@pytest.mark.parametrize("seed", range(12, 18))
def test_warps_that_come_and_go_keep_every_invariant(seed: int) -> None:
    print(f"seed {seed}")
    watch_pilot(*coming_and_going(seed))


def moving(seed: int) -> tuple[PilotConfig, Trace]:
    """Every third machine of few warps, whose registers move; half of them rename late."""
    cfg, trace = random_case(seed) if seed % 3 else coming_and_going(seed)
    profile = cfg.profile if cfg.piloted else "pilot"
    cfg = cfg.replace(profile=profile, pilot_map="always", remap="migrate", rename_latency=seed // 3 % 2)
    return cfg, drawn(cfg, trace, random.Random(seed))


@pytest.mark.parametrize("seed", range(12))
def test_registers_that_move_keep_their_values(seed: int) -> None:
    print(f"seed {seed}")
    watch_pilot(*moving(seed))


@pytest.mark.parametrize("seed", range(12, 18))
def test_sources_are_renamed_a_cycle_after_the_issue(seed: int) -> None:
    cfg, trace = random_case(seed)
    assert watch_pilot(cfg.replace(rename_latency=1), trace).operands_checked


@pytest.mark.parametrize("seed", range(12))
def test_registers_that_move_in_an_instant_keep_their_values(seed: int) -> None:
    cfg, trace = moving(seed)
    cfg = cfg.replace(collect="all" if seed % 2 else "one", remap="instant")
    assert run_pilot(cfg, trace).model.operands_checked
