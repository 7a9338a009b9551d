"""The bits of a generated design by the structures of its scheme, beside what the papers say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from warpfile.schemes import TOP, Scheme
from warpfile.spec.config import Config
from warpfile.spec.structure import Structure
from warpfile.synth.netlist import instance_counts, read_modules

#: Flip-flops that no structure of the scheme claims.
REST = Structure("other flip-flops", "flip-flops", "")


@dataclass(frozen=True)
class StructureBits:
    """Bits of one structure in the design; ``published`` is what paper or sheet say, None if nothing."""

    name: str
    kind: str
    bits: int
    published: int | None
    why: str

    @property
    def ratio(self) -> float | None:
        """Bits over published bits."""
        return self.bits / self.published if self.published else None


def storage(scheme: Scheme, cfg: Config, verilog: str) -> tuple[StructureBits, ...]:
    """Bits by structure of a design without probes; together they are all its flip-flops and memories.

    A published structure that the design does without has 0 bits; one that is neither there nor published is left out.
    """
    structures = (*scheme.stored, REST)
    bits = dict.fromkeys(structures, 0)
    for name, kind, found in _stored(verilog):
        kinds = ("memory",) if kind == "memory" else ("flip-flops", "cam")
        bits[next(one for one in structures if one.kind in kinds and re.match(one.registers, name))] += found
    rows = ((one, found, one.published and one.published(cfg)) for one, found in bits.items())
    return tuple(
        StructureBits(one.name, one.kind, found, published or None, one.why if published != found else "")
        for one, found, published in rows
        if found or published
    )


def _stored(verilog: str) -> Iterator[tuple[str, str, int]]:
    """Place, kind and bits, of all instances together, of every register and memory."""
    modules = read_modules(verilog)
    for name, instances in instance_counts(modules, TOP).items():
        for register, width in modules[name].registers.items():
            yield f"{name}.{register}", "flip-flops", width * instances
        if memories := modules[name].memories:
            yield name, "memory", sum(memory.bits for memory in memories) * instances
