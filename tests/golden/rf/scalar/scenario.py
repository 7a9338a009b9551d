"""Programs whose values are chosen, written by hand or drawn, and runs of the file over them."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from tests.golden.machines import Scalar, layout_of
from tests.golden.scenario import BAR, FULL, NOP, Run, Step, hand_trace, op
from warpfile.golden.run import observations
from warpfile.schemes import find
from warpfile.spec.environment import Environment
from warpfile.spec.schemes.scalar import ScalarConfig
from warpfile.spec.trace import LANES, NO_ROW, Access, Port, Space, Trace
from warpfile.spec.workload import prepare

LANE = np.arange(LANES, dtype=np.uint32)
Words = int | np.ndarray  #: one word for all lanes, or one per lane


def make(**changes: Any) -> ScalarConfig:
    """The ``tiny`` preset unless ``changes`` say otherwise."""
    cfg = find("scalar").configuration("tiny", **changes)
    assert isinstance(cfg, ScalarConfig)
    return cfg


def valued(trace: Trace, results: Iterable[Words]) -> Trace:
    """The trace whose results, in their order, write these words into the lanes that execute them."""
    values, words = trace.values.copy(), iter(results)
    for warp in range(trace.warps):
        held: dict[int, np.ndarray] = {}
        for record in range(trace.warp_start[warp], trace.warp_start[warp + 1]):
            row, static = int(trace.value_row[record]), trace.program[trace.instruction[record]]
            lanes = int(trace.execute[record]) >> LANE & 1 == 1
            for register in static.dests if row != NO_ROW else ():
                before = held.get(register, np.zeros(LANES, np.uint32))
                held[register] = values[row] = np.where(lanes, next(words), before)
                row += 1
    return dataclasses.replace(trace, values=values)


def two_expansions() -> Trace:
    """R0 and R2 become scalar; some lanes of R0 by the SFU and of R2 by the ALU are shown in the same cycle."""
    partial: list[Step] = [(op((), 0, port=Port.SFU), 0b11), NOP, NOP, (op((), 2), 0b11)]
    return valued(hand_trace([op((), 0), op((), 2), *partial]), [7, 8, 9, 9])


def run_scalar(cfg: ScalarConfig, trace: Trace, model: type[Scalar] = Scalar, limit: int = 20_000) -> Run:
    """Simulate a trace to its end."""
    layout = layout_of("scalar", cfg)
    result = Run(model(cfg, layout))
    environment = Environment(cfg, prepare(cfg, trace), layout)
    result.fields = [layout.unpack(word) for word in observations(result.model, environment, limit)]
    return result


def _step(rng: random.Random, registers: int, full: float) -> Step:
    if rng.random() < 0.1:
        return rng.choice((NOP, NOP, BAR))
    sources = tuple(rng.randrange(registers) for _ in range(rng.randint(0, 3)))
    wide = rng.random() < 0.2
    dest = rng.randrange(registers // 2) * 2 if wide else rng.randrange(registers)
    more: dict[str, Any] = {"dest": dest, "dest_count": 1 + wide}
    kind = rng.choice(("alu", "load", "sfu"))
    if kind == "load":
        more |= {"port": Port.LSU, "space": Space.GLOBAL, "access": Access.LOAD, "bytes": 4}
    elif kind == "sfu":
        more |= {"port": Port.SFU}
    step = op(sources[:1] if kind == "load" else sources, **more)
    return step if rng.random() < full else (step, rng.choice((0, 1, 0b0110, 0xFFFF, 0xFFFF0000, FULL)))


def few_words(rng: random.Random) -> Iterator[Words]:
    """Few words, so that lanes are alike by chance and by some lanes only."""
    while True:
        word, odd = rng.choice((0, 1, 7, 0xFFFFFFFF)), rng.randrange(6)
        yield word if rng.random() < 0.6 else np.where(odd == LANE, word ^ 1 << rng.randrange(32), word)


def without_lanes(trace: Trace, rng: random.Random) -> Trace:
    """The trace, in which some lanes of some warps exit on the way."""
    live, execute = trace.live.copy(), trace.execute.copy()
    for warp in range(trace.warps):
        start, end = int(trace.warp_start[warp]), int(trace.warp_start[warp + 1])
        if rng.random() < 0.5 and end - start > 1:
            left = np.uint32(rng.choice((1, 0b1110, 0xFF, 0xFFFFFFF0)))
            first = rng.randrange(start, end - 1)
            live[first:end] &= left
            execute[first:end] &= left
    rows = np.where(execute == 0, NO_ROW, trace.value_row)
    return dataclasses.replace(trace, live=live, active=trace.active & live, execute=execute, value_row=rows)


def random_scalar(cfg: ScalarConfig, rng: random.Random, warps: int = 9) -> Trace:
    """A random kernel of few registers, in which full and partial results and reads follow each other closely."""
    registers, full = rng.choice((2, 4, 6)), rng.choice((0.4, 0.7))
    streams: list[Sequence[Step]] = [
        [_step(rng, registers, full) for _ in range(rng.randint(3, 25))] for _ in range(warps)
    ]
    size = rng.randint(1, min(3, cfg.warps))
    plain = hand_trace(*streams, registers=registers, ctas=[number // size for number in range(warps)])
    return valued(without_lanes(plain, rng), few_words(rng))
