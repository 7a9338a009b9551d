"""ACQ and REL in streams without a listing: a warp has its section while a register behind the base set is in use.

What is in use is known from the stream: from a write, or the start, to the last read before a write of all live lanes.
No register changes its name.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from warpfile.compiler.passes.regmutex.choice import Limits, choose, overridden
from warpfile.compiler.passes.regmutex.copies import acquire, release
from warpfile.spec.rewrite import Insertion, rewritten
from warpfile.spec.schemes.regmutex import RegMutexConfig
from warpfile.spec.trace import Kind, Trace


@dataclass(frozen=True)
class Sets:
    """Sizes of both sets, the first place behind the base sets and the number of sections."""

    base: int
    extended: int = 0
    pool: int = 0
    sections: int = 0

    @property
    def descriptor(self) -> dict[str, int]:
        """The fields by name."""
        return {
            "base_registers": self.base,
            "extended_registers": self.extended,
            "pool": self.pool,
            "sections": self.sections,
        }


def borrowed(cfg: RegMutexConfig, trace: Trace, limits: Limits, loosened: int | None) -> Trace:
    """The trace with ACQ and REL where its streams need them; with a seed also elsewhere, and with any sound sizes.

    Raises ``ValueError`` for an ``es_override`` that cannot be.
    """
    high = in_use(trace)
    least = _least(trace, high)
    rng = None if loosened is None else random.Random(f"{loosened} {trace.kernel} {trace.records}")
    if rng is None or cfg.es_override or cfg.es_rule == "off":
        found = _chosen(cfg, trace, limits, least)
    else:
        found = random_sets(rng, cfg, trace.registers, limits, least)
    trace = replace(trace, descriptor=trace.descriptor | found.descriptor)
    if not found.extended:
        return trace
    insertions: list[Insertion] = []
    for start, end in zip(trace.warp_start[:-1].tolist(), trace.warp_start[1:].tolist(), strict=True):
        held = [top >= found.base for top in high[start:end].tolist()]
        kinds = [trace.program[index].kind for index in trace.instruction[start:end].tolist()]
        if rng is not None:
            held = stretched(rng, held, kinds, proven=cfg.pair_state == "pair")
        insertions += _code(start, held, rng if cfg.pair_state == "warp" else None)
    return rewritten(trace, insertions, descriptor=trace.descriptor)


def in_use(trace: Trace) -> np.ndarray:
    """By record, the highest register that the warp must keep over it or that it accesses; -1 for none."""
    found = np.full(trace.records, -1, dtype=np.int64)
    operands = [(static.sources, static.dests) for static in trace.program]
    rows = list(zip(trace.instruction.tolist(), trace.execute.tolist(), trace.live.tolist(), strict=True))
    for start, end in zip(trace.warp_start[:-1].tolist(), trace.warp_start[1:].tolist(), strict=True):
        live: set[int] = set()
        for record in range(end - 1, start - 1, -1):
            instruction, execute, lanes = rows[record]
            sources, dests = operands[instruction] if execute else ((), ())
            used = live | set(dests)
            if execute == lanes:
                live -= set(dests)
            live |= set(sources)
            found[record] = max(used | live, default=-1)
    return found


def _least(trace: Trace, high: np.ndarray) -> int:
    """Registers that a base set must have, because they are in use at a barrier."""
    barriers = np.array([static.kind == Kind.BARRIER for static in trace.program], dtype=bool)[trace.instruction]
    return 1 + int(high[barriers].max(initial=-1))


def _chosen(cfg: RegMutexConfig, trace: Trace, limits: Limits, least: int) -> Sets:
    """Sizes by the rule of the configuration."""
    if cfg.es_override:
        base = overridden(trace.registers, limits, cfg.es_override)
        if base < least:
            raise ValueError(
                f"es_override must leave a base set of {least} for the barriers of {trace.kernel}, not of {base}"
            )
    else:
        base = cfg.allocated(trace.registers) - choose(trace.registers, limits, cfg, lambda base: base >= least)
    extended = cfg.allocated(trace.registers) - base
    if not extended:
        return Sets(cfg.allocated(trace.registers))
    pool = 0 if limits.paired else base * limits.occupancy(base, extended)
    return Sets(base, extended, pool, limits.sections(base, extended))


def random_sets(rng: random.Random, cfg: RegMutexConfig, registers: int, limits: Limits, least: int) -> Sets:
    """Sizes that are sound, any of them: one to all sections, more registers than are needed, fewer warps."""
    for _ in range(20):
        base = rng.randint(min(max(1, least), registers), registers)
        extended = max(1, registers - base) + rng.choice((0, 0, 0, 1, 3))
        warps = limits.occupancy(base, extended)
        if max(base, extended) > cfg.register_names or base < max(1, least) or not warps:
            continue
        if limits.paired:
            return Sets(base, extended, 0, limits.sections(base, extended))
        warps = rng.choice((warps, rng.randint(limits.cta_warps, warps)))
        most = min(limits.warps, (limits.places - warps * base) // extended)
        if most:
            return Sets(base, extended, base * warps, rng.choice((1, most, rng.randint(1, most))))
    return Sets(registers)


def stretched(rng: random.Random, held: Sequence[bool], kinds: Sequence[Kind], *, proven: bool) -> list[bool]:
    """Longer and more stretches, none of them over a barrier; with ``proven`` none at the end either."""
    found, chance = list(held), rng.choice((0.0, 0.02, 0.1))
    free = [kind != Kind.BARRIER for kind in kinds[:-1]] + [not proven]
    for place in range(len(held)):
        near = (held[place - 1] if place else False) or (place + 1 < len(held) and held[place + 1])
        if free[place] and rng.random() < (0.3 if near else chance):
            found[place] = True
    return found


def _code(start: int, held: Sequence[bool], rng: random.Random | None) -> Iterator[Insertion]:
    """ACQ and REL at the edges of the stretches; with ``rng`` here and there once more."""
    before = False
    for place, now in enumerate(held):
        again = rng is not None and rng.random() < 0.03
        if now != before or again:
            yield Insertion(start + place, acquire() if now else release())
        if again and now != before:
            yield Insertion(start + place, acquire() if now else release())
        before = now
