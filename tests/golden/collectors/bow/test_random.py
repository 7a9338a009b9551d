"""Random programs on random machines with operand windows, every cycle under the eye of the watcher."""

from __future__ import annotations

import random

import pytest

from tests.golden.collectors.bow.invariants import make_watcher
from tests.golden.collectors.bow.scenario import MODES, bow_layout, exactly_hinted, random_bow_config
from tests.golden.machines import Bow, events_of
from tests.golden.watching import watched
from warpfile.sim.counters import ObservedCounters
from warpfile.spec.environment import Environment
from warpfile.spec.schemes.bow import BowConfig
from warpfile.spec.stress import PROFILES, stress_trace
from warpfile.spec.trace import Trace
from warpfile.spec.workload import prepare


def watch_bow(cfg: BowConfig, trace: Trace, model: type[Bow] = Bow, limit: int = 60_000) -> Bow:
    """Run to the end under the watcher; the sums over the probes must be the model's counters."""
    layout = bow_layout(cfg)
    workload = prepare(cfg, trace)
    environment, machine = Environment(cfg, workload, layout), model(cfg, layout)
    watcher, observed = make_watcher(cfg, workload, machine), ObservedCounters(layout, events_of("bow", cfg))
    for word in watched(machine, environment, layout, watcher, limit, watcher.look):
        observed.add(word)
    totals = observed.totals()
    assert {name: machine.counters[name] for name in totals} == totals
    assert set(machine.counters) - set(totals) == {"instructions"}
    return machine


def random_run(seed: int, mode: str, model: type[Bow] = Bow, **changes: object) -> Bow:
    """One random machine with one random program, and with sound hints where the machine uses them."""
    rng = random.Random(f"{seed} {mode}")
    cfg, profile = random_bow_config(rng, mode), rng.choice(list(PROFILES))
    sizes = rng.choice(([4], [1, 4], [3, 2, 1]))
    trace = stress_trace(seed, profile=profile, warps_per_cta=sizes, ctas=4, length=40)
    cfg = cfg.replace(**changes)
    return watch_bow(cfg, exactly_hinted(cfg, trace, rng.choice((None, seed))), model)


@pytest.mark.check
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(10))
def test_a_random_program_keeps_every_invariant(seed: int, mode: str) -> None:
    print(f"seed {seed}")
    random_run(seed, mode)
