"""Random programs with PREFETCHes on random machines, every cycle under the eye of the watcher."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.golden.machines import Ltrf, events_of, layout_of
from tests.golden.rf.ltrf.invariants import LtrfWatcher
from tests.golden.rf.ltrf.scenario import hinted, load, make, prefetch, registers_of, with_prefetches
from tests.golden.scenario import BAR, NOP, Step, hand_trace, op
from tests.golden.watching import watched
from warpfile.golden.run import simulate
from warpfile.schemes import find
from warpfile.sim.counters import ObservedCounters
from warpfile.spec.environment import Environment
from warpfile.spec.schemes.ltrf import COUNTERS, LtrfConfig
from warpfile.spec.stress import PROFILES, stress_trace
from warpfile.spec.trace import Port, Trace
from warpfile.spec.workload import prepare

#: Events that the random programs must meet in all.
MET = (
    *(name for name in COUNTERS if name != "error_cycles"),
    *("refetches", "prefetch_fills", "refetch_fills", "dead_fills", "kept_registers", "prefetch_backs"),
    *("release_backs", "unsaved_steps", "unsaved_releases", "main_reads", "main_writes", "empty_cycles", "write_waits"),
)


def random_ltrf(rng: random.Random, **changes: object) -> LtrfConfig:
    """A machine with small and awkward numbers, large enough for a CTA of four warps of 24 registers."""
    drawn = {
        "lanes": rng.choice((1, 4)),
        "warps": rng.choice((4, 5, 8)),
        "ctas": rng.choice((1, 2, 8)),
        "buffer_depth": rng.randint(1, 4),
        "active_warps": rng.choice((1, 2, 4)),
        "active_choice": rng.choice(("greedy", "round_robin")),
        "suspend": rng.choice(("pending", "pending", "outstanding")),
        "suspend_barrier": rng.choice(("always", "needed")),
        "suspend_load": rng.choice(("always", "always", "needed")),
        "interval_registers": rng.choice((8, 8, 16)),
        "liveness": rng.choice((0, 1)),
        "crossbar_beats": rng.choice((1, 2, 4)),
        "moved_back": rng.choice(("all", "dirty")),
        "control_block": rng.choice(("places", "warps")),
        "main_pipelined": rng.choice((0, 0, 1)),
        "banks": rng.choice((1, 2, 4, 8)),
        "rows": 256,
        "bank_cycles": rng.choice((1, 2, 3, 7)),
        "bank_skew": rng.choice(("none", "warp", "row")),
        "collectors": rng.choice((1, 2, 3, 4, 8)),
        "source_slots": rng.choice((1, 2, 3)),
        "collect": rng.choice(("lowest", "one", "all")),
        "bank_arbitration": rng.choice(("round_robin", "oldest")),
        "dispatch_arbitration": rng.choice(("round_robin", "oldest")),
        "ports": rng.choice((1, 3, 4, 6)),
        "write_back_ports": rng.choice((1, 3, 6)),
        "branch_delay": rng.choice((0, 4)),
        "alu_latency": rng.choice((1, 2, 6)),
        "sfu_latency": rng.choice((1, 21)),
        "shared_latency": rng.choice((2, 12)),
        "hit_latency": rng.choice((2, 12, 40)),
        "miss_latency": rng.choice((40, 100)),
        "cache_lines": rng.choice((0, 4, 64)),
        "uniform_latency": rng.choice((1, 6)),
        "result_queue": rng.choice((1, 2, 8)),
        "recall": rng.choice(("always", "spared")),
    }
    return make(**drawn | changes)


def random_case(seed: int, **changes: object) -> tuple[LtrfConfig, Trace]:
    """A random machine and a random program, one of few registers, or one whose warps want the same bank."""
    rng = random.Random(seed)
    if seed % 4 == 1:
        return crowded_case(rng, **changes)
    if seed % 4 == 2:
        cfg = random_ltrf(rng, **{"interval_registers": 4, "active_warps": rng.choice((2, 4))} | changes)
        plain = hand_trace(*[[_step(rng) for _ in range(50)] for _ in range(rng.choice((2, 4)))])
    else:
        cfg = random_ltrf(rng, **changes)
        sizes, registers = rng.choice(([4], [1, 4], [3, 2, 1])), rng.choice((8, 24))
        profile = rng.choice(list(PROFILES))
        plain = stress_trace(seed, profile=profile, warps_per_cta=sizes, ctas=3, length=40, registers=registers)
    if max(len(registers_of(static)) for static in plain.program) > cfg.interval_registers:
        cfg = cfg.replace(interval_registers=16)  # type: ignore[assignment]
    return cfg, hinted(cfg, with_prefetches(plain, cfg.interval_registers, rng), rng)


def crowded_case(rng: random.Random, **changes: object) -> tuple[LtrfConfig, Trace]:
    """Seven warps read one bank in nearly every cycle, while the eighth brings and saves intervals."""
    eight = {"warps": 8, "active_warps": 8, "collectors": 8, "buffer_depth": 4, "active_choice": "round_robin"}
    quick = {"alu_latency": 1, "bank_cycles": rng.choice((1, 3)), "result_queue": 8, "cache_lines": 0}
    cfg = random_ltrf(
        rng, **eight | quick | {"interval_registers": 4, "ports": 3, "bank_arbitration": "oldest"} | changes
    )
    busy = [_busy(-(place // 2) % 4, rng) for place in range(7)]
    wants = [op((0,), 1), op((1,), 0), load(0), op((0,)), prefetch(0, 1), prefetch(1, 0, 2), prefetch(0, 1, 3)]
    late: list[Step] = [prefetch(0, 1), *[rng.choice(wants) for _ in range(25)]]
    return cfg, hinted(cfg, hand_trace(*busy, late), rng)


def _busy(register: int, rng: random.Random) -> list[Step]:
    """Nearly always reads of one register; of place p of eight, whose order begins with bank p / 2, it is in bank 0."""
    reads, writes = op((register,)), op((), register)
    return [prefetch(*range(4)), *[writes if rng.random() < 0.05 else reads for _ in range(rng.randint(60, 90))]]


def _step(rng: random.Random) -> Step:
    """Seven registers; loads and partial masks are common, and so are PREFETCHes therefore."""
    dest, sources = rng.randrange(7), rng.sample(range(7), rng.randint(0, 2))
    static = rng.choice(
        (
            op(sources, dest),
            op(sources, dest, port=Port.SFU),
            load(dest, sources[:1]),
            load(dest, sources[:1]),
            op(sources),
            rng.choice((NOP, NOP, NOP, BAR)),
        )
    )
    mask = 0xFFFFFFFF if static in (NOP, BAR) else rng.choice((0, 0x0000FFFF, 0x0F0F0F0F, *[0xFFFFFFFF] * 5))
    return static, mask


def watch_ltrf(cfg: LtrfConfig, trace: Trace, model: type[Ltrf] = Ltrf, limit: int = 60_000) -> Ltrf:
    """Run to the end under the watcher, and compare the counters with those of the probes."""
    layout, workload = layout_of("ltrf", cfg), prepare(cfg, trace)
    environment, machine = Environment(cfg, workload, layout), model(cfg, layout)
    observed = ObservedCounters(layout, events_of("ltrf", cfg))
    for word in watched(machine, environment, layout, LtrfWatcher(cfg, workload), limit):
        observed.add(word)
    counters, totals = machine.counters, observed.totals() | {"bank_writes": environment.writes}
    assert set(counters) == {*totals, "instructions"}
    assert {name: counters[name] for name in totals} == totals
    return machine


def test_random_programs_keep_every_invariant_and_meet_every_event() -> None:
    total: Counter[str] = Counter()
    for seed in range(20):
        print(f"seed {seed}")
        machine = watch_ltrf(*random_case(seed))
        assert machine.operands_checked
        total += Counter({name: machine.counters[name] for name in MET})
    print(total)
    assert all(total[name] for name in MET)


@pytest.mark.regress
@pytest.mark.parametrize("start", range(20, 420, 50))
def test_many_random_programs_keep_every_invariant(start: int) -> None:
    for seed in range(start, start + 50):
        print(f"seed {seed}")
        watch_ltrf(*random_case(seed))


@pytest.mark.parametrize("scheme", ["ltrf", "ltrf_plus"])
def test_the_preset_runs_with_every_value_right(scheme: str) -> None:
    cfg = find(scheme).configuration("maxwell", lanes=4, miss_latency=100)
    assert isinstance(cfg, LtrfConfig)
    plain = stress_trace(5, profile="memory", warps_per_cta=8, ctas=3, length=60, registers=32)
    trace = hinted(cfg, with_prefetches(plain, cfg.interval_registers))
    layout = layout_of("ltrf", cfg)
    machine = Ltrf(cfg, layout)
    simulate(machine, Environment(cfg, prepare(cfg, trace), layout))
    assert machine.operands_checked and machine.counters["parked_results"] and not machine.counters["error_cycles"]
