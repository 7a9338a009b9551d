"""Runs of a machine with a read window, every cycle under the eye of the watcher."""

from __future__ import annotations

from tests.golden.collectors.read_window.invariants import WindowWatcher
from tests.golden.machines import Modern, events_of, layout_of
from tests.golden.watching import watched
from warpfile.schemes import find
from warpfile.sim.counters import ObservedCounters
from warpfile.spec.environment import Environment
from warpfile.spec.schemes.modern import ReadWindowConfig
from warpfile.spec.trace import Trace
from warpfile.spec.workload import prepare


def watch(
    cfg: ReadWindowConfig, trace: Trace, loosened: int | None = None, model: type[Modern] = Modern, limit: int = 60_000
) -> Modern:
    """Run a trace, which gets its hints here, to the end; the sums over the probes must be the model's counters."""
    layout = layout_of("modern", cfg)
    work = prepare(cfg, find("modern").annotated(cfg, trace, loosened))
    environment, machine = Environment(cfg, work, layout), model(cfg, layout)
    watcher, observed = WindowWatcher(cfg, machine, trace), ObservedCounters(layout, events_of("modern", cfg))
    for word in watched(machine, environment, layout, watcher, limit, watcher.look):
        observed.add(word)
    totals = observed.totals()
    assert {name: machine.counters[name] for name in totals} == totals
    assert set(machine.counters) - set(totals) == {"instructions", "bank_writes"}
    return machine
