"""Random programs on random machines with the register cache, every cycle under the eye of the watcher."""

from __future__ import annotations

import random

import pytest

from tests.golden.machines import Rfc, events_of
from tests.golden.rf.rfc.invariants import RfcWatcher
from tests.golden.rf.rfc.partial import LaneWatcher
from tests.golden.rf.rfc.scenario import exactly_hinted, randomly_hinted, rfc_config, rfc_layout
from tests.golden.scenario import NOP, Step, hand_trace, op
from tests.golden.watching import watched
from warpfile.sim.counters import ObservedCounters
from warpfile.spec.environment import Environment
from warpfile.spec.schemes.rfc import RfcConfig
from warpfile.spec.stress import PROFILES, stress_trace
from warpfile.spec.trace import Access, Port, Space, Trace
from warpfile.spec.workload import prepare


def random_rfc(rng: random.Random) -> RfcConfig:
    """A machine with small and awkward numbers, large enough for a CTA of four warps of 24 registers."""
    suspend = rng.choice(("pending", "pending", "pending", "always", "never"))
    warps = rng.choice((4, 5, 8))
    return rfc_config(
        lanes=rng.choice((1, 4)),
        warps=warps,
        ctas=rng.choice((1, 2, 8)),
        buffer_depth=rng.randint(1, 4),
        active_warps=warps if suspend == "never" else rng.choice((1, 2, 3)),
        active_choice=rng.choice(("greedy", "round_robin")),
        suspend=suspend,
        cache_entries=rng.choice((0, 1, 2, 3, 6)),
        replacement=rng.choice(("fifo", "evict_first", "lru")),
        dead_bits=rng.choice(("honoured", "honoured", "ignored")),
        allocation=rng.choice(("all", "hinted")),
        long_results=rng.choice(("bypass", "allocate")) if suspend == "never" else "bypass",
        write_queue=rng.choice((1, 2, 4)),
        banks=rng.choice((1, 2, 4, 8)),
        bank_ports=rng.choice(("1RW", "1R1W")),
        bank_cycles=rng.choice((1, 1, 2, 3)),
        bank_skew=rng.choice(("none", "warp", "row")),
        collectors=rng.choice((1, 2, 3, 4, 8)),
        source_slots=rng.choice((1, 2, 3)),
        collect=rng.choice(("lowest", "one", "all")),
        bank_arbitration=rng.choice(("round_robin", "oldest")),
        dispatch_arbitration=rng.choice(("round_robin", "oldest")),
        ports=rng.choice((1, 3, 4, 6)),
        write_back_ports=rng.choice((1, 3, 6)),
        branch_delay=rng.choice((0, 4)),
        alu_latency=rng.choice((1, 2, 6)),
        sfu_latency=rng.choice((1, 21)),
        shared_latency=rng.choice((2, 12)),
        hit_latency=rng.choice((2, 12, 40)),
        miss_latency=rng.choice((40, 100)),
        cache_lines=rng.choice((0, 4, 64)),
        uniform_latency=rng.choice((1, 6)),
        result_queue=rng.choice((1, 2, 8)),
    )


def random_case(seed: int) -> tuple[RfcConfig, Trace]:
    """A random machine, and a random program with right hints of some kind."""
    rng = random.Random(seed)
    cfg, profile = random_rfc(rng), rng.choice(list(PROFILES))
    sizes = rng.choice(([4], [1, 4], [3, 2, 1]))
    trace = stress_trace(seed, profile=profile, warps_per_cta=sizes, ctas=4, length=40, registers=rng.choice((8, 24)))
    kind = rng.randrange(4)
    if kind == 0:
        return cfg, randomly_hinted(cfg, trace, seed)
    return cfg, exactly_hinted(cfg, trace, seed if kind == 1 else None)


def crowded_case(seed: int) -> tuple[RfcConfig, Trace]:
    """Few registers, which results, loads, lines and queues fight for."""
    rng = random.Random(seed)
    cfg = rfc_config(
        lanes=1,
        warps=4,
        active_warps=rng.choice((2, 4)),
        suspend=rng.choice(("pending", "pending", "always")),
        cache_entries=rng.choice((1, 2, 4)),
        replacement=rng.choice(("fifo", "evict_first", "lru")),
        write_queue=rng.choice((2, 4)),
        banks=rng.choice((1, 2)),
        bank_cycles=rng.choice((1, 3)),
        collectors=8,
        alu_latency=rng.choice((1, 2, 3)),
        sfu_latency=3,
        sfu_interval=1,
        hit_latency=rng.choice((2, 3, 5)),
        cache_lines=64,
    )
    trace = hand_trace(*[[crowded_step(rng) for _ in range(60)] for _ in range(4)])
    return cfg, exactly_hinted(cfg, trace, rng.choice((None, None, seed)))


def partial_case(seed: int) -> tuple[RfcConfig, Trace]:
    """Either of them with lines that know their lanes."""
    cfg, trace = crowded_case(seed // 2) if seed % 2 else random_case(seed // 2)
    return cfg.replace(partial_results="lanes", lanes=random.Random(seed).choice((4, 32, 32))), trace  # type: ignore[return-value]


def crowded_step(rng: random.Random) -> Step:
    """Three registers are always there to be read, and three come and go."""
    dest, memory = rng.randrange(4, 7), {"port": Port.LSU, "space": Space.GLOBAL, "access": Access.LOAD, "bytes": 4}
    static = rng.choice(
        (
            op((1, 2, 3)),
            op((1, 2, 3)),
            op((), dest),
            op((dest,), rng.randrange(1, 7), port=rng.choice((Port.ALU, Port.SFU))),
            op((dest,), rng.choice((dest, dest, 1)), **memory),
            NOP,
        )
    )
    return static, rng.choice((0x0000FFFF, *[0xFFFFFFFF] * 4))


def watch_rfc(cfg: RfcConfig, trace: Trace, model: type[Rfc] = Rfc, limit: int = 60_000) -> Rfc:
    """Run to the end under the watcher, and compare the counters with those of the probes."""
    layout = rfc_layout(cfg)
    workload = prepare(cfg, trace)
    environment, machine = Environment(cfg, workload, layout), model(cfg, layout)
    watcher = (LaneWatcher if cfg.keeps_lanes else RfcWatcher)(cfg, workload)
    observed = ObservedCounters(layout, events_of("rfc", cfg))
    for word in watched(machine, environment, layout, watcher, limit):
        observed.add(word)
    counters, totals = machine.counters, observed.totals()
    assert set(counters) == {*totals, "instructions"}
    assert {name: counters[name] for name in totals} == totals
    return machine


@pytest.mark.parametrize("seed", range(36))
def test_a_random_program_keeps_every_invariant(seed: int) -> None:
    cfg, trace = random_case(seed)
    print(f"seed {seed} {trace.kernel}")
    machine = watch_rfc(cfg, trace)
    assert machine.operands_checked


@pytest.mark.parametrize("seed", range(12))
def test_a_program_of_few_registers_keeps_every_invariant(seed: int) -> None:
    print(f"seed {seed}")
    watch_rfc(*crowded_case(seed))


@pytest.mark.parametrize("seed", range(24))
def test_lines_that_know_their_lanes_keep_every_invariant(seed: int) -> None:
    print(f"seed {seed}")
    watch_rfc(*partial_case(seed))
