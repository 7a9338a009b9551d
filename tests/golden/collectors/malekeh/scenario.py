"""Traces with hints, and runs of the caching units over them."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.golden.machines import Malekeh, layout_of
from tests.golden.scenario import Run
from warpfile.golden.run import observations
from warpfile.spec.annotation import beat_counts
from warpfile.spec.environment import Environment
from warpfile.spec.presets import PRESETS
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.malekeh import MalekehConfig
from warpfile.spec.trace import Trace
from warpfile.spec.workload import prepare

NEAR = 0x7F  #: four destinations and three sources, more than the hand-written traces have, are near


def malekeh_config(preset: str = "turing", **changes: Any) -> MalekehConfig:
    """A preset with caching units, and with all warps of every CTA, so that short traces fill them.

    A unit is taken again in the cycle after its dispatch, and no beat waits behind a port, unless ``changes`` say so.
    """
    simple = {"domains": 1, "retake": "next", "port_queue": 0}
    values = PRESETS[preset].config.to_json() | simple | changes
    return MalekehConfig(**MalekehConfig.adapted(values | {"scheduler": "oldest"}))  # type: ignore[arg-type]


def malekeh_layout(cfg: MalekehConfig) -> ProbeLayout:
    """All probes of the scheme."""
    return layout_of("malekeh", cfg)


def hinted(trace: Trace, hints: Sequence[int] | np.ndarray) -> Trace:
    """The trace with these hints, one word per beat."""
    return dataclasses.replace(trace, annotation="test", hints=np.array(hints, dtype=np.uint32))


def randomly_hinted(cfg: MalekehConfig, trace: Trace, seed: int, near: float = 0.5) -> Trace:
    """The trace with near bits drawn at random: any hints are right."""
    rng = random.Random(seed)
    beats = int(beat_counts(trace, cfg.source_slots).sum())
    words = [sum((rng.random() < near) << bit for bit in range(cfg.hint_bits)) for _ in range(beats)]
    return hinted(trace, words)


def run_malekeh(cfg: MalekehConfig, trace: Trace, model: type[Malekeh] = Malekeh, limit: int = 100_000) -> Run:
    """Simulate a trace to its end."""
    layout = malekeh_layout(cfg)
    result = Run(model(cfg, layout))
    environment = Environment(cfg, prepare(cfg, trace), layout)
    result.fields = [layout.unpack(word) for word in observations(result.model, environment, limit)]
    return result
