"""The bits of a generated design by the structures of its scheme, beside what the papers say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from warpfile.schemes import TOP, Scheme
from warpfile.spec.config import Config
from warpfile.spec.structure import ARRAYS, Structure
from warpfile.synth.netlist import ModuleFacts, instance_counts, read_modules

#: What latches of operands take at the beginning of a cycle.
STAGED = Structure("words in flight to latches", "flip-flops", r"[^.]+\.array_in\d")
#: Flip-flops that no structure of the scheme claims.
REST = Structure("other flip-flops", "flip-flops", "")


@dataclass(frozen=True)
class StructureBits:
    """Bits of one structure in the design; ``published`` are those of the paper or the reference design, or None.

    ``gated`` of them are behind clock gates.
    """

    name: str
    kind: str
    bits: int
    published: int | None
    why: str
    gated: int = 0

    @property
    def ratio(self) -> float | None:
        """Bits over published bits."""
        return self.bits / self.published if self.published else None


def storage(scheme: Scheme, cfg: Config, verilog: str) -> tuple[StructureBits, ...]:
    """Bits by structure of a design without probes; together they are all its flip-flops and memories.

    A published structure that the design does without has 0 bits; one that is neither there nor published is left out.
    """
    structures = (STAGED, *scheme.stored, REST)
    bits, kind_of = dict.fromkeys(structures, 0), {one: one.kind for one in structures}
    behind = dict.fromkeys(structures, 0)
    for name, kind, found, gated in _stored(verilog):
        array = "." in name and kind != "flip-flops"
        kinds = ("flip-flops", "cam") if array or kind == "flip-flops" else ("memory",)
        structure = next(one for one in structures if one.kind in kinds and re.match(one.registers, name))
        bits[structure] += found
        behind[structure] += found if gated else 0
        if array:
            kind_of[structure] = kind
    rows = ((one, found, one.published and one.published(cfg)) for one, found in bits.items())
    return tuple(
        StructureBits(
            one.name, kind_of[one], found, published or None, one.why if published != found else "", behind[one]
        )
        for one, found, published in rows
        if found or published
    )


def _stored(verilog: str) -> Iterator[tuple[str, str, int, bool]]:
    """Place, kind and bits, of all instances together, of every register and memory, and whether it is clock-gated.

    The place of an array of operands is in the module that has it, as that of a register.
    """
    modules = read_modules(verilog)
    for name, instances in instance_counts(modules, TOP).items():
        facts = modules[name]
        for register, width in facts.registers.items():
            yield f"{name}.{register}", "flip-flops", width * instances, register in facts.gated
        for place, array in facts.arrays.items():
            inner = modules[array]
            kind = "latches" if inner.latches else "memory"
            yield f"{name}.{place}", kind, _held(inner) * instances, bool(inner.latches)
        if facts.memories and name not in ARRAYS:
            yield name, "memory", _held(facts) * instances, False


def _held(facts: ModuleFacts) -> int:
    return facts.latches + sum(memory.bits for memory in facts.memories)
