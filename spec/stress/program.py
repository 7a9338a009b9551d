"""Random static instructions for stress traces."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from warpfile.spec.trace import Access, Kind, Port, Space, StaticInstruction


@dataclass(frozen=True)
class Profile:
    """A mixture: ``weights`` of the makers below and the habits of the operands.

    ``chain`` is the probability that a source is a recent destination, ``hot`` that a register is one of few that
    fall into one bank, ``repeat`` that a source repeats another or the destination repeats a source, ``guard`` that
    an instruction is predicated (its execution mask may then be partial or empty), ``divergent`` that a warp runs
    with some lanes only.
    """

    weights: dict[str, int] = field(default_factory=dict)
    chain: float = 0.2
    hot: float = 0.1
    repeat: float = 0.2
    guard: float = 0.2
    divergent: float = 0.3


_EVEN = {"alu": 30, "wide": 10, "sfu": 8, "load": 10, "store": 8, "atomic": 3, "test": 6, "token": 4, "nop": 2}
_ARITHMETIC = (Port.ALU, Port.ALU, Port.FMA, Port.FMA, Port.DOUBLE, Port.TENSOR)
_CONTROL = {"branch": 4, "indexed": 1, "barrier": 2, "exit": 1}

PROFILES = {
    "mixed": Profile(_EVEN | _CONTROL),
    "bank": Profile({"alu": 60, "wide": 15, "sfu": 5, "load": 5, "branch": 2}, hot=0.9, chain=0.0, guard=0.0),
    "chain": Profile({"alu": 50, "sfu": 10, "load": 5, "wide": 5, "branch": 2}, chain=0.9),
    "wide": Profile({"wide": 60, "load": 15, "store": 15, "alu": 5, "branch": 2}, repeat=0.4),
    "memory": Profile({"load": 40, "store": 25, "atomic": 10, "alu": 15, "barrier": 2, "branch": 2}),
    "control": Profile(_EVEN | {"branch": 25, "indexed": 10, "barrier": 15, "exit": 5, "nop": 10}),
    "predicate": Profile({"test": 30, "token": 25, "alu": 30, "load": 5, "branch": 5}, guard=0.9),
    "mask": Profile(_EVEN | {"branch": 3}, guard=0.7, divergent=0.9, chain=0.5),
}


class _Maker:
    """Makes one instruction after another; remembers recent destinations for chains."""

    def __init__(self, rng: random.Random, profile: Profile, registers: int) -> None:
        self._rng = rng
        self._profile = profile
        self._registers = registers
        self._recent = [0]
        # Multiples of the largest power of two that still leaves four: one bank, whatever the number of banks.
        self._stride = 1 << max(0, (registers // 4).bit_length() - 1)

    def _register(self) -> int:
        rng = self._rng
        if rng.random() < self._profile.hot:
            return rng.randrange(0, self._registers, self._stride)
        return rng.randrange(self._registers)

    def _sources(self, low: int, high: int) -> tuple[int, ...]:
        rng, profile, sources = self._rng, self._profile, list[int]()
        for _ in range(rng.randint(low, high)):
            if rng.random() < profile.chain:
                sources.append(rng.choice(self._recent))
            elif sources and rng.random() < profile.repeat:
                sources.append(rng.choice(sources))
            else:
                sources.append(self._register())
        return tuple(sources)

    def _dest(self, sources: tuple[int, ...], counts: tuple[int, ...]) -> dict[str, int]:
        """Aligned destination registers, often one of the sources."""
        rng, count = self._rng, self._rng.choice(counts)
        size = 1 << (count - 1).bit_length()
        low = rng.choice(sources) if sources and rng.random() < self._profile.repeat else self._register()
        low = min(low - low % size, (self._registers - size) // size * size)
        self._recent = [*self._recent[-3:], low + rng.randrange(count)]
        return {"dest": low, "dest_count": count}

    def _guard(self) -> int:
        return 1 << self._rng.randrange(7) if self._rng.random() < self._profile.guard else 0

    def alu(self) -> dict[str, Any]:
        sources = self._sources(0, 3)
        return {
            "port": self._rng.choice(_ARITHMETIC),
            "sources": sources,
            "token_reads": self._guard(),
            **self._dest(sources, (1,)),
        }

    def wide(self) -> dict[str, Any]:
        sources = self._sources(2, 7)
        return {
            "port": self._rng.choice(_ARITHMETIC),
            "sources": sources,
            "token_reads": self._guard(),
            **self._dest(sources, (1, 2, 2, 3, 4)),
        }

    def sfu(self) -> dict[str, Any]:
        """One source as a rule; FCHK and conversions from double precision have two."""
        sources = self._sources(1, 2)
        return {"port": Port.SFU, "sources": sources, "token_reads": self._guard(), **self._dest(sources, (1,))}

    def _memory(self, access: Access, spaces: tuple[Space, ...], low: int, high: int) -> dict[str, Any]:
        space = self._rng.choice(spaces)
        size = self._rng.choice((1, 4, 8, 16)) if space != Space.TEXTURE else 0
        values = {"port": Port.LSU, "space": space, "access": access, "bytes": size}
        return values | {"sources": self._sources(low, high), "token_reads": self._guard()}

    def load(self) -> dict[str, Any]:
        spaces = (Space.GLOBAL, Space.SHARED, Space.LOCAL, Space.CONSTANT, Space.TEXTURE)
        values = self._memory(Access.LOAD, spaces, 0, 2)
        return values | self._dest(values["sources"], (1, 1, 2, 4))

    def store(self) -> dict[str, Any]:
        return self._memory(Access.STORE, (Space.GLOBAL, Space.SHARED, Space.LOCAL), 0, 6)

    def atomic(self) -> dict[str, Any]:
        values = self._memory(Access.ATOMIC, (Space.GLOBAL, Space.SHARED), 1, 4)
        return values | (self._dest(values["sources"], (1, 2)) if self._rng.random() < 0.7 else {})

    def test(self) -> dict[str, Any]:
        """Sets predicates from vector registers, sometimes with a vector result beside them."""
        sources, rng = self._sources(1, 3), self._rng
        values = {"sources": sources, "token_reads": self._guard(), "token_writes": 1 << rng.randrange(8)}
        return values | (self._dest(sources, (1,)) if rng.random() < 0.2 else {})

    def token(self) -> dict[str, Any]:
        """Predicate logic and the uniform datapath: no vector register at all."""
        rng = self._rng
        reads, writes = rng.getrandbits(16) & rng.getrandbits(16) & rng.getrandbits(16), 1 << rng.randrange(16)
        return {"port": Port.NONE, "token_reads": reads, "token_writes": writes}

    def nop(self) -> dict[str, Any]:
        return {"port": Port.NONE}

    def branch(self) -> dict[str, Any]:
        return {"port": Port.NONE, "kind": Kind.BRANCH, "token_reads": self._guard()}

    def indexed(self) -> dict[str, Any]:
        return {"kind": Kind.BRANCH, "sources": self._sources(1, 2)}

    def barrier(self) -> dict[str, Any]:
        return {"port": Port.NONE, "kind": Kind.BARRIER, "token_reads": self._guard()}

    def exit(self) -> dict[str, Any]:
        """Ends some lanes: guarded (fetch waits as behind a branch), or in a divergent part of the program."""
        guard = self._guard()
        return {"port": Port.NONE, "kind": Kind.BRANCH if guard else Kind.EXIT, "token_reads": guard}

    def make(self, name: str, offset: int) -> StaticInstruction:
        """The instruction of that maker at ``offset``."""
        maker: Callable[[], dict[str, Any]] = getattr(self, name)
        values = {"port": Port.ALU, "kind": Kind.NORMAL} | maker()
        opcode = name.upper()
        return StaticInstruction(offset=offset, opcode=opcode, text=f"{opcode} {offset:#x}", **values)


def stress_program(rng: random.Random, profile: Profile, *, size: int, registers: int) -> list[StaticInstruction]:
    """``size`` random instructions, a branch back, and the EXIT that every warp reaches in the end."""
    if not 4 <= registers <= 255:
        raise ValueError(f"registers must be a number from 4 to 255, not {registers}")
    maker = _Maker(rng, profile, registers)
    names, weights = list(profile.weights), list(profile.weights.values())
    body = [maker.make(name, 16 * k) for k, name in enumerate(rng.choices(names, weights, k=size))]
    for opcode, kind in (("BRA", Kind.BRANCH), ("EXIT", Kind.EXIT)):
        offset = 16 * len(body)
        body.append(StaticInstruction(offset, opcode, f"{opcode} {offset:#x}", Port.NONE, kind))
    return body
