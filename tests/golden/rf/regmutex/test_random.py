"""Random sound kernels on random machines with a pool, every cycle under the eye of the watcher."""

from __future__ import annotations

import dataclasses
import random
from collections import Counter
from functools import partial

import pytest

from tests.golden.machines import RegMutex
from tests.golden.rf.regmutex.invariants import SectionWatcher, SharingWatcher
from tests.golden.rf.regmutex.scenario import make, random_shared
from tests.golden.watching import watch_counters, watched
from warpfile.schemes import find
from warpfile.spec.environment import Environment
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.regmutex import RegMutexConfig
from warpfile.spec.trace import Trace
from warpfile.spec.workload import prepare

#: Events that the random kernels must meet in all.
MET = (
    *("acq_ok", "acq_nop", "acq_fail", "rel_ok", "rel_nop", "acq_wait_cycles", "sections_in_use"),
    *("rel_drain_stall", "extended_accesses", "base_accesses"),
)

#: Machines with other parts around the file, and what these parts need.
OTHERS: dict[str, dict[str, object]] = {
    "bow+regmutex": {"collect": "lowest", "source_slots": 3},
    "bow_wr+regmutex": {"collect": "lowest", "source_slots": 3},
    "malekeh+regmutex": {"collect": "one", "source_slots": 3, "scheduler": "oldest"},
    "regmutex+two_level": {"scheduler": "two_level"},
    "bow_wr+regmutex+two_level": {"collect": "lowest", "source_slots": 3, "scheduler": "two_level"},
}


def random_pool(rng: random.Random, scheme: str = "regmutex", **changes: object) -> RegMutexConfig:
    """A machine with small and awkward numbers in any of the modes."""
    mode = rng.choice(("pool", "pool", "fair", "pairs", "pair"))
    drawn = {
        "sharing": "pairs" if mode.startswith("pair") else "pool",
        "fair": int(mode == "fair"),
        "pair_state": "pair" if mode == "pair" else "warp",
        "warps": rng.choice((2, 3, 5, 8)),
        "ctas": rng.choice((2, 8)),
        "buffer_depth": rng.randint(1, 4),
        "banks": rng.choice((1, 2, 4)),
        "bank_ports": rng.choice(("1RW", "1R1W")),
        "bank_cycles": rng.choice((1, 1, 2)),
        "collect": rng.choice(("lowest", "one", "all")),
        "source_slots": rng.choice((1, 2, 3)),
        "scheduler": rng.choice(("gto", "lrr", "oldest")),
        "hit_latency": rng.choice((2, 30)),
        "ports": rng.choice((1, 3)),
        "write_back_ports": rng.choice((1, 3)),
    }
    return make(scheme, **drawn | changes)


def random_case(seed: int) -> tuple[RegMutexConfig, Trace]:
    """A random machine and kernel."""
    rng = random.Random(seed)
    cfg = random_pool(rng)
    return cfg, random_shared(cfg, rng)


def watch_shared(cfg: RegMutexConfig, trace: Trace, model: type[RegMutex] = RegMutex, limit: int = 9_000) -> RegMutex:
    """Run to the end under the watcher, and compare the counters with those of the probes."""
    scheme = find("regmutex")
    layout, workload = ProbeLayout(scheme.probes(cfg)), prepare(cfg, trace)
    environment, machine = Environment(cfg, workload, layout), model(cfg, layout)
    watch_counters(machine, environment, layout, partial(scheme.events, cfg), SharingWatcher(cfg, workload), limit)
    return machine


def test_random_kernels_keep_every_invariant_and_meet_every_event() -> None:
    total: Counter[str] = Counter()
    for seed in range(60):
        print(f"seed {seed}")
        machine = watch_shared(*random_case(seed))
        assert machine.counters["instructions"]
        total += Counter({name: machine.counters[name] for name in MET})
    print(total)
    assert all(total[name] for name in MET)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", OTHERS)
def test_other_collectors_and_places_keep_the_pool(name: str, seed: int) -> None:
    rng = random.Random(seed + 100)
    suspends = {"active_warps": rng.choice((1, 2)), "suspend_barrier": rng.choice(("always", "needed"))}
    scheme = find(name)
    cfg = random_pool(rng, name, **suspends | OTHERS[name])
    plain = random_shared(cfg, rng)
    trace = dataclasses.replace(scheme.annotated(cfg, plain), descriptor=plain.descriptor)
    layout, workload = ProbeLayout(scheme.probes(cfg)), prepare(cfg, trace)
    environment, machine = Environment(cfg, workload, layout), scheme.golden(cfg, layout)
    for _ in watched(machine, environment, layout, SectionWatcher(cfg, workload), 9_000):
        pass
    assert machine.operands_checked and machine.counters["acq_ok"]
