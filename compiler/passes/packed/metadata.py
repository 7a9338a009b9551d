"""Pseudo-instructions that tell the register file pairs or sides, and the form of their operands."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence

from warpfile.compiler.passes.packed.affinity import Edge, Graph
from warpfile.compiler.passes.packed.pairs import exclusive_pairs
from warpfile.compiler.passes.packed.sides import sides
from warpfile.spec.schemes.packed import CHUNK, PAIRS, PackedConfig
from warpfile.spec.trace import Kind, Port, StaticInstruction


def tell_instruction(operand: int) -> StaticInstruction:
    """The instruction that tells an operand; it waits for nothing."""
    return StaticInstruction(0, "TELL", f"TELL {operand:#x}", Port.NONE, Kind.SCHEME, operand=operand)


def operands(cfg: PackedConfig, graph: Graph) -> tuple[int, ...]:
    """What a warp is told when it begins; nothing where every value goes to the first place."""
    if cfg.allocation == "pairs":
        return pair_operands(cfg, exclusive_pairs(graph))
    return side_operands(sides(graph)) if cfg.allocation == "sides" else ()


def pair_operands(cfg: PackedConfig, pairs: Sequence[Edge]) -> tuple[int, ...]:
    """Four pairs each, the lowest bits first; R0 with itself is no pair."""
    return tuple(_packed(cfg, pairs[at : at + PAIRS]) for at in range(0, len(pairs), PAIRS))


def _packed(cfg: PackedConfig, pairs: Sequence[Edge]) -> int:
    registers = [register for pair in pairs for register in pair]
    return sum(register << cfg.register_bits * place for place, register in enumerate(registers))


def side_operands(found: Mapping[int, int]) -> tuple[int, ...]:
    """The sides of 26 neighbours each, two bits per register, and above them which of all neighbours these are."""
    return tuple(_chunk(found, number) for number in sorted({register // CHUNK for register in found}))


def _chunk(found: Mapping[int, int], number: int) -> int:
    codes = (found.get(number * CHUNK + place, 0) << 2 * place for place in range(CHUNK))
    return sum(codes) | number << 2 * CHUNK


def random_operands(cfg: PackedConfig, rng: random.Random, registers: int) -> Iterator[int]:
    """Operands that tell anything of some registers, what others contradict as well."""
    names = range(max(1, registers))
    for _ in range(rng.randint(1, 6)):
        if cfg.allocation == "pairs":
            yield _packed(cfg, [(rng.choice(names), rng.choice(names)) for _ in range(PAIRS)])
        else:
            yield _chunk({register: rng.randrange(4) for register in names}, rng.choice(names) // CHUNK)
