"""Hand-written traces, and runs of a model over them with every cycle's probes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import numpy as np

from tests.golden.machines import Baseline, layout_of
from warpfile.golden import Machine
from warpfile.golden.run import observations
from warpfile.spec.config import Config
from warpfile.spec.environment import Environment
from warpfile.spec.trace import LANES, NO_ROW, Kind, Port, StaticInstruction, Trace
from warpfile.spec.workload import prepare

FULL = (1 << LANES) - 1

#: A masked instruction, or one that all lanes execute.
Step = StaticInstruction | tuple[StaticInstruction, int]


def op(sources: tuple[int, ...] = (), dest: int | None = None, **more: Any) -> StaticInstruction:
    """An ALU instruction unless ``more`` says otherwise."""
    values: dict[str, Any] = {"port": Port.ALU, "kind": Kind.NORMAL, "opcode": "TEST", "text": "TEST"} | more
    if dest is not None:
        values = {"dest": dest, "dest_count": 1} | values
    return StaticInstruction(offset=values.pop("offset", 0), sources=tuple(sources), **values)


NOP = op(port=Port.NONE, text="NOP")
BAR = op(port=Port.NONE, kind=Kind.BARRIER, text="BAR")
BRA = op(port=Port.NONE, kind=Kind.BRANCH, text="BRA")
EXIT = op(port=Port.NONE, kind=Kind.EXIT, text="EXIT")


def hand_trace(*warps: Sequence[Step], ctas: Sequence[int] | None = None, **fields: Any) -> Trace:
    """A trace of these warps, each ended by an EXIT. ``ctas`` names the CTA of each warp (default: all in one)."""
    streams = [[step if isinstance(step, tuple) else (step, FULL) for step in (*warp, EXIT)] for warp in warps]
    program = [static for stream in streams for static, _ in stream]
    values = {
        "kernel": "hand",
        "grid": (1, 1, 1),
        "block": (LANES * len(warps), 1, 1),
        "shared_bytes": 0,
        "registers": max((r for i in program for r in (*i.sources, *i.dests)), default=0) + 1,
        "source": "emulated",
        "listing": "",
        "program": tuple(program),
        "warp_start": np.array([0, *accumulate(map(len, streams))], dtype=np.int64),
        "warp_cta": np.array(ctas or [0] * len(warps), dtype=np.int32),
    }
    return Trace(**(values | _columns([step for stream in streams for step in stream]) | fields))


def _columns(steps: list[tuple[StaticInstruction, int]]) -> dict[str, np.ndarray]:
    """One element per executed instruction; every result is a value of its own."""
    counts = [static.dest_count if mask else 0 for static, mask in steps]
    starts = [0, *accumulate(counts)]
    masks = np.array([mask for _, mask in steps], dtype=np.uint32)
    value_row = [start if count else NO_ROW for start, count in zip(starts, counts, strict=False)]
    return {
        "instruction": np.arange(len(steps), dtype=np.int32),
        "active": masks,
        "execute": masks,
        "live": np.full(len(steps), FULL, dtype=np.uint32),
        "value_row": np.array(value_row, dtype=np.int64),
        "values": np.zeros((starts[-1], LANES), dtype=np.uint32),
        "written": np.full(starts[-1], FULL, dtype=np.uint32),
        "address_row": np.full(len(steps), NO_ROW, dtype=np.int64),
        "addresses": np.zeros((0, LANES), dtype=np.uint64),
    }


@dataclass
class Run:
    """Every cycle's probes by name, and the model that made them."""

    model: Machine
    fields: list[dict[str, int]] = field(default_factory=list)

    @property
    def cycles(self) -> int:
        """Length of the run."""
        return len(self.fields)

    def events(self, probe: str) -> list[tuple[int, int]]:
        """Cycle and value wherever a probe is not zero."""
        return [(cycle, f[probe]) for cycle, f in enumerate(self.fields) if f[probe]]

    def when(self, probe: str) -> list[int]:
        """Cycles in which a probe is not zero."""
        return [cycle for cycle, _ in self.events(probe)]

    def issues(self) -> list[tuple[int, int]]:
        """Cycle and warp of every issue."""
        return [(cycle, f["issue_warp"]) for cycle, f in enumerate(self.fields) if f["issue"]]


def run(cfg: Config, trace: Trace, model: type[Baseline] = Baseline, limit: int = 100_000) -> Run:
    """Simulate a trace to its end."""
    layout = layout_of("baseline", cfg)
    result = Run(model(cfg, layout))
    environment = Environment(cfg, prepare(cfg, trace), layout)
    result.fields = [layout.unpack(word) for word in observations(result.model, environment, limit)]
    return result
