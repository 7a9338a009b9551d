"""Random programs on random machines with operand windows over packed rows, every cycle under a second reading."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.golden.collectors.bow.rows import RowsWatcher
from tests.golden.machines import BowRows, events_of, layout_of
from tests.golden.rf.packed.scenario import make
from tests.golden.watching import watched
from warpfile.schemes import find
from warpfile.sim.counters import ObservedCounters
from warpfile.spec.environment import Environment
from warpfile.spec.schemes.packed import PackedConfig
from warpfile.spec.stress import PROFILES, stress_trace
from warpfile.spec.trace import Trace
from warpfile.spec.workload import prepare

SCHEME = "bow_wr+packed"


def watch_rows(cfg: PackedConfig, trace: Trace, model: type[BowRows] = BowRows, limit: int = 30_000) -> Counter[str]:
    """Run to the end under the watcher; returns the counters, and how often who waited for an eviction under way."""
    layout, workload = layout_of(SCHEME, cfg), prepare(cfg, trace)
    environment, machine = Environment(cfg, workload, layout), model(cfg, layout)
    watcher = RowsWatcher(cfg, workload, refuses=True, model=machine)
    observed, waits = ObservedCounters(layout, events_of(SCHEME, cfg)), Counter[str]()
    for word in watched(machine, environment, layout, watcher, limit, watcher.look):
        observed.add(word)
        waits.update(waiting(cfg, layout.unpack(word)))
    totals = observed.totals()
    assert {name: machine.counters[name] for name in totals} == totals
    assert set(machine.counters) - set(totals) == {"instructions"}
    assert machine.operands_checked or not trace.instructions
    return waits + Counter(machine.counters)


def waiting(cfg: PackedConfig, f: dict[str, int]) -> dict[str, int]:
    """Who waits for an eviction that is under way."""
    word, ports = f.get("underway_wait", 0), cfg.write_ports
    looks = word >> ports & (1 << cfg.warps) - 1
    return {
        "result waits": (word & (1 << ports) - 1).bit_count(),
        "look-up waits": looks.bit_count(),
        "eviction waits": word >> ports + cfg.warps,
    }


def random_rows(seed: int, **changes: object) -> tuple[PackedConfig, Trace]:
    """One random machine with one random program, with hints and metadata where the machine uses them."""
    rng = random.Random(f"rows {seed}")
    drawn: dict[str, object] = {
        "lanes": rng.choice((1, 4)),
        "warps": rng.choice((4, 5, 8)),
        "ctas": rng.choice((1, 2, 8)),
        "register_names": 32,
        "banks": rng.choice((1, 2, 4)),
        "rows": 128,
        "source_slots": rng.choice((2, 3)),
        "scheduler": rng.choice(("gto", "lrr")),
        "ports": rng.choice((1, 3, 6)),
        "write_back_ports": rng.choice((1, 3, 6)),
        "alu_latency": rng.choice((3, 4, 6)),
        "shared_latency": rng.choice((3, 12)),
        "hit_latency": rng.choice((3, 12)),
        "miss_latency": 40,
        "cache_lines": rng.choice((0, 64)),
        "result_queue": rng.choice((1, 2)),
        "window": rng.choice((2, 3, 4)),
        "window_entries": rng.choice((3, 4, 6, 12)),
        "window_writes": rng.choice(("hints", "hints", "back", "through")),
        "packing": rng.choice((0, 1, 1, 1)),
    }
    if drawn["packing"]:
        drawn["allocation"] = rng.choice(("first_fit", "pairs", "sides"))
    cfg = make(SCHEME, **drawn | changes)
    sizes, registers = rng.choice(([4], [1, 4], [3, 2, 1])), rng.choice((6, 12, 24))
    profile = rng.choice(list(PROFILES))
    trace = stress_trace(seed, profile=profile, warps_per_cta=sizes, ctas=3, length=30, registers=registers)
    return cfg, find(SCHEME).annotated(cfg, trace, loosened=rng.choice((None, seed)))


#: Small windows and many ports in front of few banks: evictions meet results and one another.
CROWDED = {
    **{"ports": 6, "write_back_ports": 6, "source_slots": 2, "window": 2, "window_entries": 3, "banks": 1},
    **{"alu_latency": 3, "sfu_latency": 3, "shared_latency": 3, "hit_latency": 3, "cache_lines": 64},
}
#: What cannot happen: see ``tests.golden.rf.packed.test_random``.
NEVER = {"error_cycles", "side_missed"}
WAITS = {"result waits", "look-up waits", "eviction waits"}


def test_random_programs_keep_every_invariant_and_meet_every_wait() -> None:
    total: Counter[str] = Counter()
    for seed in range(3, 12):
        print(f"seed {seed}")
        total += watch_rows(*random_rows(seed, **CROWDED if seed % 3 == 2 else {}))
    print(total)
    assert not total.keys() & NEVER
    assert {
        "evictions",
        "shrinks",
        "resizes",
        "merges",
        "unmapped_reads",
        "saved_writes",
        "pair_packed",
    } <= total.keys()


@pytest.mark.regress
@pytest.mark.parametrize("start", range(100, 500, 100))
def test_many_random_programs_keep_every_invariant(start: int) -> None:
    total: Counter[str] = Counter()
    for seed in range(start, start + 100):
        print(f"seed {seed}")
        total += watch_rows(*random_rows(seed, **CROWDED if seed % 3 == 2 else {}))
    assert total.keys() >= WAITS
