"""Other units and PREFETCH, chosen at random, under which every register is still found near."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from warpfile.compiler.passes.ltrf.code import Code
from warpfile.compiler.passes.ltrf.placement import prefetch
from warpfile.compiler.passes.ltrf.units import NONE, Units
from warpfile.spec.rewrite import Insertion
from warpfile.spec.trace import Trace


def with_heads(rng: random.Random, code: Code) -> Code:
    """The code, with more instructions at which units begin."""
    chance = rng.choice((0.0, 0.05, 0.3))
    return code.headed(index for index in range(len(code.registers)) if rng.random() < chance)


def with_registers(rng: random.Random, units: Units, limit: int, registers: int) -> Units:
    """The units, some with registers that they do not name."""
    return replace(units, sets=tuple(_grown(rng, one, limit, registers) for one in units.sets))


def _grown(rng: random.Random, registers: int, limit: int, names: int) -> int:
    for _ in range(rng.choice((0, 0, 1, limit))):
        more = registers | 1 << rng.randrange(names)
        registers = more if more.bit_count() <= limit else registers
    return registers


def again(rng: random.Random, trace: Trace, units: Units, places: Sequence[int]) -> Iterator[Insertion]:
    """Here and there what is near is fetched once more."""
    chance = rng.choice((0.0, 0.02))
    for record, instruction in enumerate(trace.instruction.tolist()):
        unit = units.of[places[instruction]]
        if unit != NONE and unit not in units.silent and rng.random() < chance:
            yield Insertion(record, prefetch(units.sets[unit]))
