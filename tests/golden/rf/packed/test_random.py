"""Random programs with metadata and kills on random machines, every cycle under the eye of the watcher."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.golden.machines import Packed, events_of, layout_of
from tests.golden.rf.packed.invariants import PackedWatcher
from tests.golden.rf.packed.scenario import NAMES, OF_SIZE, Valued, hinted, make, put, run_packed, told, valued
from tests.golden.scenario import BAR, FULL, NOP, op
from tests.golden.watching import watched
from warpfile.sim.counters import ObservedCounters
from warpfile.spec.environment import Environment
from warpfile.spec.schemes.packed import PackedConfig
from warpfile.spec.stress import PROFILES, stress_trace
from warpfile.spec.trace import Access, Port, Space, Trace
from warpfile.spec.workload import prepare

#: What cannot happen while there are as many rows as registers: some row is wholly free.
NEVER = ("error_cycles", "start_cycles")
#: Lanes of a write that not all execute; only the lower four are built.
PARTLY = (0x0000FFFF, 0x00000005, 0xFFFFFFFA, 0xFFFF0000)


def random_packed(rng: random.Random, **changes: object) -> PackedConfig:
    """A machine with small and awkward numbers, large enough for a CTA of four warps of 24 registers."""
    drawn = {
        "lanes": rng.choice((1, 4)),
        "warps": rng.choice((4, 5, 8)),
        "ctas": rng.choice((1, 2, 8)),
        "buffer_depth": rng.randint(1, 4),
        "register_names": rng.choice((32, 64)),
        "banks": rng.choice((1, 2, 4, 8)),
        "rows": rng.choice((128, 128, 256)),
        "collectors": rng.choice((1, 2, 3, 4, 8)),
        "source_slots": rng.choice((1, 2, 3, 8)),
        "bank_arbitration": rng.choice(("round_robin", "oldest")),
        "dispatch_arbitration": rng.choice(("round_robin", "oldest")),
        "scheduler": rng.choice(("gto", "lrr")),
        "ports": rng.choice((1, 3, 4, 6)),
        "write_back_ports": rng.choice((1, 3, 6)),
        "branch_delay": rng.choice((0, 4)),
        "alu_latency": rng.choice((3, 4, 6)),
        "sfu_latency": rng.choice((3, 21)),
        "shared_latency": rng.choice((3, 12)),
        "hit_latency": rng.choice((3, 12)),
        "miss_latency": rng.choice((40, 100)),
        "cache_lines": rng.choice((0, 4, 64)),
        "uniform_latency": rng.choice((1, 6)),
        "result_queue": rng.choice((1, 2, 8)),
    }
    scheme = str(changes.pop("scheme", rng.choice(NAMES)))
    return make(scheme, **drawn | changes)


def random_case(seed: int, **changes: object) -> tuple[PackedConfig, Trace]:
    """A random machine with a random program of any kind, or with one of few registers of changing sizes."""
    rng = random.Random(seed)
    if seed % 3:
        cfg = crowded(rng, **changes)
        trace = valued(*[[random_step(rng) for _ in range(60)] for _ in range(rng.choice((2, 4)))])
    else:
        cfg = random_packed(rng, **changes)
        sizes, registers = rng.choice(([4], [1, 4], [3, 2, 1])), rng.choice((8, 24))
        trace = stress_trace(
            seed, profile=rng.choice(list(PROFILES)), warps_per_cta=sizes, ctas=3, length=40, registers=registers
        )
    return cfg, hinted(cfg, told(cfg, trace, rng), rng)


def crowded(rng: random.Random, **changes: object) -> PackedConfig:
    """Four warps of eight registers, and room for no more."""
    banks = rng.choice((1, 2, 4))
    few = {"banks": banks, "rows": 32 // banks, "warps": 4, "register_names": rng.choice((8, 16)), "ports": 6}
    quick = {"write_back_ports": rng.choice((3, 6, 6)), "alu_latency": 3, "collectors": rng.choice((4, 8))}
    return random_packed(rng, **few | quick | {"source_slots": rng.choice((2, 3))} | changes)


def random_step(rng: random.Random) -> Valued:
    """An instruction over eight registers; sizes change all the time, and lanes are often missing."""
    if rng.random() < 0.1:
        return rng.choice((NOP, NOP, BAR)), FULL, 0
    count = rng.choice((1, 1, 1, 1, 2, 4))
    dest, sources = rng.randrange(0, 8, count), rng.sample(range(8), rng.randint(0, 3))
    values = [rng.choice(list(OF_SIZE.values())) for _ in range(count)]
    mask = rng.choice((FULL, FULL, FULL, rng.choice(PARTLY), 0))
    if rng.random() < 0.2:
        return op(sources), mask, 0
    load = {"space": Space.SHARED, "access": Access.LOAD, "bytes": 4}
    where = rng.choice(({}, {}, {"port": Port.FMA}, {"port": Port.SFU}, {"port": Port.LSU, **load}))
    return put(dest, values, mask, sources, **where)


def watch_packed(cfg: PackedConfig, trace: Trace, model: type[Packed] = Packed, limit: int = 60_000) -> Packed:
    """Run to the end under the watcher, and compare the counters with those of the probes."""
    layout, workload = layout_of("corf", cfg), prepare(cfg, trace)
    environment, machine = Environment(cfg, workload, layout), model(cfg, layout)
    observed = ObservedCounters(layout, events_of("corf", cfg))
    for word in watched(machine, environment, layout, PackedWatcher(cfg, workload), limit):
        observed.add(word)
    counters, totals = machine.counters, observed.totals()
    assert set(counters) == {*totals, "instructions"}
    assert {name: counters[name] for name in totals} == totals
    assert counters["bank_writes"] == environment.writes
    return machine


def test_random_programs_keep_every_invariant_and_meet_every_event() -> None:
    total: Counter[str] = Counter()
    for seed in range(30):
        print(f"seed {seed}")
        machine = watch_packed(*random_case(seed))
        assert machine.operands_checked
        total.update(machine.counters)
    print(total)
    assert {name for name, count in total.items() if not count} == set(NEVER)


@pytest.mark.parametrize("suspend", ["pending", "outstanding"])
def test_random_programs_run_under_a_scheduler_with_places(suspend: str) -> None:
    places = {"scheduler": "two_level", "suspend": suspend, "resume": "all", "notice_latency": 1, "miss_latency": 40}
    for seed in range(12):
        told_of = {"active_warps": 1 + seed % 3, "long_from": ("issue", "miss")[seed % 2]}
        cfg, trace = random_case(seed, **places | told_of)
        machine = run_packed(cfg, trace, limit=60_000).model
        assert isinstance(machine, Packed) and machine.operands_checked
        assert not (machine.file.free.used_rows or machine.counters["error_cycles"])


@pytest.mark.regress
@pytest.mark.parametrize("start", range(30, 1030, 100))
def test_many_random_programs_keep_every_invariant(start: int) -> None:
    for seed in range(start, start + 100):
        print(f"seed {seed}")
        watch_packed(*random_case(seed))
