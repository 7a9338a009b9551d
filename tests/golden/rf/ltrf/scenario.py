"""Programs with PREFETCHes, written by hand or inserted into others, and runs of the cache over them."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterable
from typing import Any

import numpy as np

from tests.golden.machines import Ltrf, layout_of
from tests.golden.scenario import Run, op
from warpfile.golden.run import observations
from warpfile.schemes import find
from warpfile.spec.beat import source_groups
from warpfile.spec.environment import Environment
from warpfile.spec.rewrite import Insertion, rewritten
from warpfile.spec.schemes.ltrf import PARTS, LtrfConfig
from warpfile.spec.trace import Access, Drain, Kind, Port, Space, StaticInstruction, Trace
from warpfile.spec.workload import prepare


def make(scheme: str = "ltrf", **changes: Any) -> LtrfConfig:
    """The ``tiny`` preset with one active warp of four banks, unless ``changes`` say otherwise."""
    small = {"warps": 4, "active_warps": 1, "interval_registers": 4, "lanes": 4, "bank_skew": "none", "banks": 4}
    cfg = find(scheme).configuration("tiny", **small | changes)
    assert isinstance(cfg, LtrfConfig)
    return cfg


def plus(**changes: Any) -> LtrfConfig:
    """The same that does not move dead registers."""
    return make("ltrf_plus", **changes)


def prefetch(*registers: int) -> StaticInstruction:
    """PREFETCH of these registers."""
    operand = sum(1 << register for register in set(registers))
    values: dict[str, Any] = {"port": Port.NONE, "kind": Kind.SCHEME, "text": "PREFETCH", "drain": Drain.EMPTY}
    return op(operand=operand, inserted=True, **values)


def load(dest: int, sources: tuple[int, ...] = (), count: int = 1) -> StaticInstruction:
    """A load from global memory."""
    values: dict[str, Any] = {"port": Port.LSU, "space": Space.GLOBAL, "access": Access.LOAD, "bytes": 4}
    return op(sources, dest, **values | {"dest_count": count})


def run_ltrf(cfg: LtrfConfig, trace: Trace, model: type[Ltrf] = Ltrf, limit: int = 20_000) -> Run:
    """Simulate a trace to its end."""
    layout = layout_of("ltrf", cfg)
    result = Run(model(cfg, layout))
    environment = Environment(cfg, prepare(cfg, trace), layout)
    result.fields = [layout.unpack(word) for word in observations(result.model, environment, limit)]
    return result


def registers_of(static: StaticInstruction) -> set[int]:
    """Everything that an instruction names."""
    return {*static.sources, *static.dests}


def with_prefetches(trace: Trace, most: int, rng: random.Random | None = None) -> Trace:
    """The trace with PREFETCHes of at most ``most`` registers, by what each warp executes next.

    An interval is as long as possible. With ``rng`` some end earlier, some name more registers than they need, and
    some PREFETCHes stand where none is needed.
    """
    insertions = []
    for start, end in zip(trace.warp_start[:-1].tolist(), trace.warp_start[1:].tolist(), strict=True):
        stream = [registers_of(trace.program[index]) for index in trace.instruction[start:end].tolist()]
        held: set[int] = set()
        for record, names in enumerate(stream):
            if not names <= held or (rng is not None and rng.random() < 0.05):
                held = _interval(stream[record:], most, rng)
                if rng is not None and rng.random() < 0.3:
                    held |= set(rng.sample(range(trace.registers), min(trace.registers, most - len(held))))
                insertions.append(Insertion(start + record, prefetch(*held)))
    return rewritten(trace, insertions)


def _interval(stream: Iterable[set[int]], most: int, rng: random.Random | None) -> set[int]:
    held: set[int] = set()
    for count, names in enumerate(stream):
        if len(held | names) > most or (count and rng is not None and rng.random() < 0.1):
            break
        held |= names
    return held


def hinted(cfg: LtrfConfig, trace: Trace, rng: random.Random | None = None) -> Trace:
    """The trace with dead hints where no later instruction of the warp reads the register; ``rng`` drops some."""
    if not cfg.liveness:
        return trace
    dead, words = dead_sources(trace), []
    for record, index in enumerate(trace.instruction.tolist()):
        for sources in source_groups(trace.program[index], cfg.source_slots):
            last = [register in dead[record] and (rng is None or rng.random() < 0.8) for register in sources]
            words.append(sum(bit << slot for slot, bit in enumerate(last)) << cfg.hint_at("dead"))
    return dataclasses.replace(trace, annotation="test", hints=np.array(words, dtype=np.uint32))


def dead_sources(trace: Trace) -> list[set[int]]:
    """Of every record the sources that no later record of the warp reads before all live lanes write them."""
    dead: list[set[int]] = [set() for _ in range(trace.records)]
    for start, end in zip(trace.warp_start[:-1].tolist(), trace.warp_start[1:].tolist(), strict=True):
        read: set[int] = set()
        for record in range(end - 1, start - 1, -1):
            static = trace.program[trace.instruction[record]]
            if not trace.execute[record]:
                continue
            if trace.execute[record] == trace.live[record]:
                read -= set(static.dests)
            dead[record] = set(static.sources) - read
            read |= set(static.sources)
    return dead


def since(result: Run, start: int, probe: str, end: int = 40) -> dict[int, int]:
    """Cycles after ``start`` in which a probe is not zero."""
    return {cycle - start: value for cycle, value in result.events(probe) if start <= cycle < start + end}


def states(result: Run, start: int, count: int, place: int = 0) -> list[int]:
    """States of a place from a cycle on."""
    return [f["place_state"] >> 3 * place & 7 for f in result.fields[start : start + count]]


def steps(result: Run, start: int, end: int) -> list[tuple[int, str, int, bool]]:
    """Steps of the only place between two cycles: how long after the first, out or in, register, and if it moves."""
    found, width = [], make().register_bits
    for cycle in range(start, end):
        f = result.fields[cycle]
        for part in range(PARTS):
            for kind in ("out", "in"):
                if f[f"step_{kind}"] >> part & 1:
                    register = f["step_register"] >> part * width & (1 << width) - 1
                    found.append((cycle - start, kind, register, bool(f["step_moves"] >> part & 1)))
    return found
