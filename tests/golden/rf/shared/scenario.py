"""Machines and random programs of loads that meet, and runs of the shared file under its invariants."""

from __future__ import annotations

import random
from typing import Any

from tests.golden.machines import Shared, events_of, layout_of
from tests.golden.rf.shared.invariants import SharedWatcher
from tests.golden.scenario import Run
from tests.golden.watching import watched
from warpfile.golden.run import observations
from warpfile.schemes import find
from warpfile.sim.counters import ObservedCounters
from warpfile.spec.environment import Environment
from warpfile.spec.schemes.shared import SharedConfig
from warpfile.spec.stress.random_sharing import random_warps
from warpfile.spec.stress.warp_programs import stores_of, trace_of
from warpfile.spec.trace import Trace
from warpfile.spec.workload import prepare

#: By record of a trace, the bytes that it writes.
Stores = dict[int, dict[int, int]]


def make(scheme: str = "larf", **changes: Any) -> SharedConfig:
    """The ``tiny`` preset with four warps of eight lanes, unless ``changes`` say otherwise."""
    small = {"warps": 4, "lanes": 8, "source_slots": 3, "rows": 32, "alu_latency": 2, "register_names": 16}
    cfg = find(scheme).configuration("tiny", **small | changes)
    assert isinstance(cfg, SharedConfig)
    return cfg


def scheme_of(cfg: SharedConfig) -> str:
    """The scheme of a machine."""
    return "larf+las" if cfg.lookahead else "larf"


def random_shared(rng: random.Random, **changes: object) -> SharedConfig:
    """A machine with small and awkward numbers."""
    banks = rng.choice((1, 2, 4))
    drawn = {
        "lanes": rng.choice((1, 4, 8, 8, 8, 32)),
        "warps": rng.choice((4, 5, 8)),
        "ctas": rng.choice((1, 2, 8)),
        "buffer_depth": rng.randint(1, 4),
        "register_names": rng.choice((16, 32)),
        "banks": banks,
        "rows": rng.choice((64, 128)) // banks,
        "collectors": rng.choice((2, 4, 8)),
        "source_slots": rng.choice((2, 3, 8)),
        "bank_arbitration": rng.choice(("round_robin", "oldest")),
        "dispatch_arbitration": rng.choice(("round_robin", "oldest")),
        "scheduler": rng.choice(("gto", "lrr")),
        "ports": rng.choice((3, 4, 6)),
        "write_back_ports": rng.choice((1, 3, 6)),
        "alu_latency": rng.choice((2, 3, 6)),
        "hit_latency": rng.choice((2, 12)),
        "miss_latency": rng.choice((40, 100)),
        "cache_lines": rng.choice((0, 4, 64)),
        "result_queue": rng.choice((1, 2, 8)),
        "table_entries": rng.choice((1, 3, 8, 8, 30, 30)),
        "search": rng.choice(("merge", "merge", "merge", "perfect")),
        "strides": rng.choice(("any", "any", "powers")),
        "merge_wait": rng.choice((0, 1, 8)),
        "absorbed_loads": rng.choice((1, 2, 16)),
        "count_bits": rng.choice((1, 2, 6, 6)),
    }
    return make(**drawn | changes)


def random_case(seed: int, led: bool = False, **changes: object) -> tuple[SharedConfig, Trace, Stores]:
    """A random machine, a random program, and what its stores write; every second one aims at words that are there."""
    rng, calm = random.Random(seed), seed % 2 == 0
    aimed: dict[str, object] = {"lanes": 8, "search": "merge", "table_entries": rng.choice((8, 30, 60))} if calm else {}
    if seed % 4 == 0:
        aimed |= {"banks": 1, "rows": 64, "merge_wait": rng.choice((0, 1, 8)), "collectors": 8, "scheduler": "lrr"}
    if seed % 16 == 13:
        aimed["search"] = "none"
    cfg = random_shared(rng, **aimed | changes)
    warps, owners = random_warps(rng, cfg.lanes, rng.choice((2, 4)), rng.choice((1, 3)), calm=calm, led=led)
    trace = find(scheme_of(cfg)).annotated(cfg, trace_of(warps, owners), seed if seed % 3 == 0 else None)
    return cfg, trace, stores_of(warps)


def run_shared(cfg: SharedConfig, trace: Trace, model: type[Shared] = Shared, limit: int = 60_000) -> Run:
    """Simulate a trace, which may have to be annotated, to its end."""
    layout = layout_of(scheme_of(cfg), cfg)
    result = Run(model(cfg, layout))
    environment = Environment(cfg, prepare(cfg, annotated(cfg, trace)), layout)
    result.fields = [layout.unpack(word) for word in observations(result.model, environment, limit)]
    return result


def annotated(cfg: SharedConfig, trace: Trace) -> Trace:
    """The trace with hints."""
    return trace if trace.annotation else find(scheme_of(cfg)).annotated(cfg, trace)


def watch_shared(
    cfg: SharedConfig,
    trace: Trace,
    stores: Stores | None = None,
    model: type[Shared] = Shared,
    limit: int = 60_000,
) -> Shared:
    """Run to the end under the watcher, and compare the counters with those of the probes."""
    layout, workload = layout_of(scheme_of(cfg), cfg), prepare(cfg, annotated(cfg, trace))
    environment, machine = Environment(cfg, workload, layout), model(cfg, layout)
    observed = ObservedCounters(layout, events_of(scheme_of(cfg), cfg))
    watcher = SharedWatcher(cfg, workload, machine, stores)
    for word in watched(machine, environment, layout, watcher, limit, watcher.look):
        observed.add(word)
    counters, totals = machine.counters, observed.totals()
    assert set(counters) == {*totals, "instructions"}
    assert {name: counters[name] for name in totals} == totals
    return machine
