"""Traces with hints, and runs of the register hierarchy over them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tests.golden.machines import Shrf, layout_of
from tests.golden.scenario import Run, Step, hand_trace
from warpfile.golden.run import observations
from warpfile.schemes import find
from warpfile.spec.config import Config
from warpfile.spec.environment import Environment
from warpfile.spec.schemes.shrf import ShrfConfig
from warpfile.spec.trace import Trace
from warpfile.spec.workload import prepare


def shrf_config(preset: str = "isca2011", **changes: Any) -> ShrfConfig:
    """The scheme at a preset."""
    cfg = find("shrf").configuration(preset, **changes)
    assert isinstance(cfg, ShrfConfig)
    return cfg


def hint(
    cfg: ShrfConfig,
    sources: Mapping[int, int] | None = None,
    bring: int = 0,
    result: int = 0,
    skipped: bool = False,
    begins: bool = False,
) -> int:
    """Hints of one beat as docs/schemes/shrf.md, section 3, has them: of ``sources`` the value of each slot."""
    word = begins << cfg.hint_at("suspend") | bring << cfg.hint_at("bring") if cfg.orf_entries else 0
    for slot, value in (sources or {}).items():
        word |= value << cfg.hint_at("source_entry") + slot * cfg.source_entry_bits
    return word | result << cfg.hint_at("result_entry") | skipped << cfg.hint_at("mrf_skipped")


def run_shrf(cfg: Config, trace: Trace, model: type[Shrf] = Shrf, limit: int = 100_000) -> Run:
    """Simulate a trace to its end."""
    layout = layout_of("shrf", cfg)
    result = Run(model(cfg, layout))
    environment = Environment(cfg, prepare(cfg, trace), layout)
    result.fields = [layout.unpack(word) for word in observations(result.model, environment, limit)]
    return result


def one_warp(cfg: ShrfConfig, program: Sequence[Step], hints: Mapping[int, int], model: type[Shrf] = Shrf) -> Run:
    """Run one warp; hints are given by number of the instruction, each of which must be one beat."""
    words = np.array([hints.get(number, 0) for number in range(len(program) + 1)], dtype=np.uint64)
    return run_shrf(cfg, dataclasses.replace(hand_trace(program), annotation="test", hints=words), model)


def relative(result: Run, probe: str) -> list[tuple[int, int]]:
    """Cycles, counted from the first issue, and values wherever a probe is not zero."""
    start = result.issues()[0][0]
    return [(cycle - start, value) for cycle, value in result.events(probe)]
