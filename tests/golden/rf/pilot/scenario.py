"""Runs of the partitioned file over traces whose hot registers are given or drawn."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence
from typing import Any

from tests.golden.machines import Pilot, layout_of
from tests.golden.scenario import Run
from warpfile.golden.run import observations
from warpfile.schemes import SCHEMES
from warpfile.spec.environment import Environment
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.pilot import PilotConfig
from warpfile.spec.trace import Trace
from warpfile.spec.workload import prepare


def pilot_config(preset: str = "kepler", **changes: Any) -> PilotConfig:
    """A preset with the partitioned file, in an SM of one domain unless ``changes`` say otherwise."""
    cfg = SCHEMES["pilot"].configuration(preset, **{"domains": 1} | changes)
    assert isinstance(cfg, PilotConfig)
    return cfg


def pilot_layout(cfg: PilotConfig) -> ProbeLayout:
    """All probes of the scheme."""
    return layout_of("pilot", cfg)


def listed(cfg: PilotConfig, trace: Trace, hot: Sequence[int] = ()) -> Trace:
    """The trace with this list of hot registers, if the configuration takes one."""
    names = (*hot, *[cfg.marker] * (cfg.fast_registers - len(hot))) if cfg.listed else ()
    return dataclasses.replace(trace, descriptor={f"hot{k}": name for k, name in enumerate(names)})


def drawn(cfg: PilotConfig, trace: Trace, rng: random.Random) -> Trace:
    """The trace with any distinct registers of its own, and with places between them that are not used."""
    names = rng.sample(range(trace.registers), min(cfg.fast_registers, trace.registers))
    return listed(cfg, trace, [name if rng.random() < 0.8 else cfg.marker for name in names])


def run_pilot(cfg: PilotConfig, trace: Trace, model: type[Pilot] = Pilot, limit: int = 100_000) -> Run:
    """Simulate a trace to its end."""
    layout = pilot_layout(cfg)
    result = Run(model(cfg, layout))
    environment = Environment(cfg, prepare(cfg, trace), layout)
    result.fields = [layout.unpack(word) for word in observations(result.model, environment, limit)]
    return result
