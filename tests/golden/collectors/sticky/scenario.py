"""Configurations of ``sticky`` and runs of its model over traces written by hand."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from tests.golden.machines import Sticky, layout_of
from tests.golden.scenario import BAR, FULL, NOP, Run, Step, hand_trace, op
from warpfile.golden.run import observations
from warpfile.schemes import find
from warpfile.spec.environment import Environment
from warpfile.spec.schemes.sticky import StickyConfig
from warpfile.spec.trace import Access, Port, Space, Trace
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


def _step(rng: random.Random, registers: int, full: float) -> Step:
    if rng.random() < 0.1:
        return rng.choice((NOP, NOP, BAR))
    sources = tuple(rng.randrange(registers) for _ in range(rng.randint(0, 4)))
    wide = rng.random() < 0.2
    dest = rng.randrange(registers // 2) * 2 if wide else rng.randrange(registers)
    more: dict[str, Any] = {"dest": dest, "dest_count": 1 + wide}
    kind = rng.choice(("alu", "alu", "fma", "load", "sfu", "store"))
    if kind in ("load", "store"):
        more |= {"port": Port.LSU, "space": Space.GLOBAL, "access": Access.LOAD, "bytes": 4}
    elif kind != "alu":
        more |= {"port": Port.SFU if kind == "sfu" else Port.FMA}
    if kind == "store":
        more |= {"access": Access.STORE, "dest_count": 0, "dest": 0}
    step = op(sources[:1] if kind == "load" else sources, **more)
    return step if rng.random() < full else (step, rng.choice((0, 1, 0b0110, 0xFFFF, 0xFFFF0000, FULL)))


def random_sticky(cfg: StickyConfig, rng: random.Random, warps: int = 9) -> Trace:
    """A random kernel of few registers, so that reads follow writes closely and slots meet their registers again."""
    registers, full = rng.choice((4, 6, 8)), rng.choice((0.6, 0.9))
    streams: list[Sequence[Step]] = [
        [_step(rng, registers, full) for _ in range(rng.randint(3, 25))] for _ in range(warps)
    ]
    size = rng.randint(1, min(3, cfg.warps))
    return hand_trace(*streams, registers=registers, ctas=[number // size for number in range(warps)])
