"""Programs of CTAs that share registers, written by hand or drawn, and runs of the file over them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from tests.golden.machines import Owf
from tests.golden.scenario import BAR, NOP, Run, Step, hand_trace, op
from warpfile.golden.run import observations
from warpfile.schemes import find
from warpfile.spec.environment import Environment
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.owf import OwfConfig
from warpfile.spec.trace import Access, Port, Space, Trace
from warpfile.spec.workload import prepare


def make(scheme: str = "owf", **changes: Any) -> OwfConfig:
    """The ``tiny`` preset with four warps, unless ``changes`` say otherwise."""
    cfg = find(scheme).configuration("tiny", **{"warps": 4, "lanes": 1} | changes)
    assert isinstance(cfg, OwfConfig)
    return cfg


def paired(
    *warps: Sequence[Step], sets: tuple[int, int] = (2, 2), members: int = 2, slots: int = 4, **more: Any
) -> Trace:
    """A kernel with these numbers of private and shared registers, whose CTAs have up to ``members`` warps."""
    private, shared = sets
    numbers = {"private_registers": private, "shared_registers": shared, "cta_warps": members, "paired_warps": slots}
    owners = [number // members for number in range(len(warps))]
    return hand_trace(*warps, **{"registers": private + shared, "descriptor": numbers, "ctas": owners} | more)


def run_paired(cfg: OwfConfig, trace: Trace, model: type[Owf] = Owf, limit: int = 20_000) -> Run:
    """Simulate a trace to its end."""
    layout = ProbeLayout(find("owf").probes(cfg))
    result = Run(model(cfg, layout))
    environment = Environment(cfg, prepare(cfg, trace), layout)
    result.fields = [layout.unpack(word) for word in observations(result.model, environment, limit)]
    return result


def random_stream(rng: random.Random, private: int, registers: int) -> list[Step]:
    """A warp's program: private registers only, then more and more of all; some warps never need a shared one."""
    steps: list[Step] = []
    alone = rng.random() < 0.2
    for _ in range(rng.randint(2, 5)):
        every = private if alone or rng.random() < 0.4 else registers
        steps += [_step(rng, every) for _ in range(rng.randint(1, 6))]
        steps += rng.choice(([], [BAR], [BAR], [BAR, BAR]))
    return steps


def _step(rng: random.Random, registers: int) -> Step:
    if rng.random() < 0.2:
        return NOP
    sources = tuple(rng.randrange(registers) for _ in range(rng.randint(0, 3)))
    dest = rng.randrange(registers)
    kind = rng.choice(("alu", "alu", "load", "sfu"))
    if kind == "load":
        step = op(sources[:1], dest, port=Port.LSU, space=Space.GLOBAL, access=Access.LOAD, bytes=4)
    else:
        step = op(sources, dest, **({"port": Port.SFU} if kind == "sfu" else {}))
    return step if rng.random() < 0.8 else (step, rng.choice((0, 0xFFFFFFFF)))


def random_paired(cfg: OwfConfig, rng: random.Random, ctas: int = 6) -> Trace:
    """A random kernel of CTAs of up to three warps, of which two to four CTAs share."""
    members = rng.randint(1, min(3, cfg.warps // 2))
    groups = rng.randint(1, cfg.warps // (2 * members))
    sets = rng.randint(1, 4), rng.randint(1, 5)
    while (2 * sets[0] + sets[1]) * groups * members > cfg.banks * cfg.rows:
        groups, sets = 1, (1, 1)
    sizes = [rng.randint(1, members) for _ in range(ctas)]
    owners = [cta for cta, size in enumerate(sizes) for _ in range(size)]
    streams = [random_stream(rng, sets[0], sum(sets)) for _ in owners]
    return paired(*streams, sets=sets, members=members, slots=2 * groups * members, ctas=owners)
