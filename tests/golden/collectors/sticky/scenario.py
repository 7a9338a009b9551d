"""Configurations of ``sticky`` and runs of its model over traces written by hand."""

from __future__ import annotations

from typing import Any

from tests.golden.machines import Sticky, layout_of
from tests.golden.scenario import Run
from warpfile.golden.run import observations
from warpfile.schemes import find
from warpfile.spec.environment import Environment
from warpfile.spec.schemes.sticky import StickyConfig
from warpfile.spec.trace import Trace
from warpfile.spec.workload import prepare


def make(**changes: Any) -> StickyConfig:
    """The ``tiny`` preset unless ``changes`` say otherwise."""
    cfg = find("sticky").configuration("tiny", **changes)
    assert isinstance(cfg, StickyConfig)
    return cfg


def run_sticky(cfg: StickyConfig, trace: Trace, model: type[Sticky] = Sticky, limit: int = 20_000) -> Run:
    """Simulate a trace to its end."""
    layout = layout_of("sticky", cfg)
    result = Run(model(cfg, layout))
    environment = Environment(cfg, prepare(cfg, trace), layout)
    result.fields = [layout.unpack(word) for word in observations(result.model, environment, limit)]
    return result
