"""Programs with ACQ and REL, written by hand or drawn, and runs of the file over them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from tests.golden.machines import RegMutex
from tests.golden.scenario import BAR, NOP, Run, Step, hand_trace, op
from warpfile.golden.run import observations
from warpfile.schemes import find
from warpfile.spec.config import Config
from warpfile.spec.environment import Environment
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.regmutex import RegMutexConfig
from warpfile.spec.trace import Access, Drain, Kind, Port, Space, StaticInstruction, Trace
from warpfile.spec.workload import prepare

ACQ = op(port=Port.NONE, kind=Kind.SCHEME, text="ACQ", operand=1, inserted=True)
REL = op(port=Port.NONE, kind=Kind.SCHEME, text="REL", operand=0, drain=Drain.DISPATCHED, inserted=True)


def load(dest: int, sources: tuple[int, ...] = ()) -> StaticInstruction:
    """A load from global memory."""
    return op(sources, dest, port=Port.LSU, space=Space.GLOBAL, access=Access.LOAD, bytes=4)


def make(scheme: str = "regmutex", **changes: Any) -> RegMutexConfig:
    """The ``tiny`` preset with four warps in turn, unless ``changes`` say otherwise."""
    cfg = find(scheme).configuration("tiny", **{"warps": 4, "scheduler": "lrr", "lanes": 1} | changes)
    assert isinstance(cfg, RegMutexConfig)
    return cfg


def paired(**changes: Any) -> RegMutexConfig:
    """The same in paired mode."""
    return make("regmutex_paired", **changes)


def shared(
    cfg: Config, *warps: Sequence[Step], sections: int = 1, sets: tuple[int, int] = (4, 2), **more: Any
) -> Trace:
    """A kernel with these sizes of base and extended set, whose sections stand behind as many base sets as fit."""
    base, extended = sets
    assert isinstance(cfg, RegMutexConfig)
    places = cfg.banks * cfg.rows - sections * extended
    pool = 0 if cfg.paired else min(cfg.warps, places // base) * base
    sizes = {"base_registers": base, "extended_registers": extended, "pool": pool, "sections": sections}
    return hand_trace(*warps, **{"registers": base + extended, "descriptor": sizes} | more)


def run_shared(cfg: RegMutexConfig, trace: Trace, model: type[RegMutex] = RegMutex, limit: int = 20_000) -> Run:
    """Simulate a trace to its end."""
    layout = ProbeLayout(find("regmutex").probes(cfg))
    result = Run(model(cfg, layout))
    environment = Environment(cfg, prepare(cfg, trace), layout)
    result.fields = [layout.unpack(word) for word in observations(result.model, environment, limit)]
    return result


def random_stream(rng: random.Random, base: int, extended: int, exact: bool) -> list[Step]:
    """A warp's program that is sound: what it has in its extended set it wrote there since its last ACQ.

    ``exact``: no ACQ that changes nothing, no such REL, and no EXIT with a section. Barriers stand outside of sections.
    """
    steps: list[Step] = []
    for _ in range(rng.randint(1, 6)):
        steps += [_within(rng, base, range(base)) for _ in range(rng.randint(0, 3))]
        steps += rng.choice(([], [BAR], [BAR, BAR])) + ([] if exact else rng.choice(([], [REL])))
        if rng.random() < 0.7:
            steps += _borrowed(rng, base, extended, exact)
            steps += rng.choice(([], [BAR], [REL], [])) if not exact else rng.choice(([], [BAR]))
    return steps if exact or rng.random() < 0.6 else [*steps, *_borrowed(rng, base, extended, exact)[:-1]]


def _borrowed(rng: random.Random, base: int, extended: int, exact: bool) -> list[Step]:
    """From ACQ to REL."""
    steps: list[Step] = [ACQ] if exact else [ACQ] * rng.choice((1, 1, 2))
    written: list[int] = []
    for _ in range(rng.randint(0, 6)):
        if rng.random() < 0.5:
            written.append(base + rng.randrange(extended))
            steps.append(_writing(rng, written[-1], rng.sample(range(base), min(2, base))))
        else:
            steps.append(_within(rng, base, [*range(base), *written]))
        if not exact and rng.random() < 0.1:
            steps.append(ACQ)
    return [*steps, REL]


def _writing(rng: random.Random, dest: int, sources: tuple[int, ...]) -> StaticInstruction:
    kind = rng.choice(("alu", "alu", "load", "sfu"))
    if kind == "load":
        return load(dest, sources[:1])
    return op(sources, dest, **({"port": Port.SFU} if kind == "sfu" else {}))


def _within(rng: random.Random, base: int, readable: Sequence[int]) -> Step:
    if rng.random() < 0.2:
        return NOP
    sources = [rng.choice(readable) for _ in range(rng.randint(0, 3))]
    step = _writing(rng, rng.randrange(base), sources)
    return step if rng.random() < 0.8 else (step, rng.choice((0, 0xFFFFFFFF)))


def random_shared(cfg: RegMutexConfig, rng: random.Random, ctas: int = 5) -> Trace:
    """A random sound kernel of CTAs of one or two warps."""
    exact = cfg.pair_state == "pair"
    sets = rng.randint(2, 7), rng.randint(1, 5)
    sizes = [rng.randint(1, 2) for _ in range(ctas)]
    streams = [random_stream(rng, *sets, exact) for _ in range(sum(sizes))]
    owners = [cta for cta, size in enumerate(sizes) for _ in range(size)]
    sections = rng.randint(1, min(3, cfg.warps))
    return shared(cfg, *streams, sections=sections, sets=sets, ctas=owners)
