"""Random programs of loads that share words: warps whose accesses lie near those of all others."""

from __future__ import annotations

import random
from collections.abc import Sequence

from warpfile.spec.stress.warp_programs import FULL, Memory, WarpProgram, trace_of
from warpfile.spec.trace import LANES, Port, Trace

PAIR, LOW, FIRST, LAST = 0, 2, 3, 14  # registers: an address, a short one, data
KEPT = 4  #: registers of a calm warp that keep what it loaded first
STRIDES = (*(4,) * 24, 0, 0, 8, 12, 1020, 1024, -4, 6)
#: Lanes of a load that not all execute, and those that a warp may have.
PARTLY = (0x0000FFFF, 0x00000005, 0xFFFFFFFA, 0xFFFF0000, 0)
LIVE = (FULL,) * 8 + (0x3F, 0x3F, 0x7, 0x5, 0xFFFFFFFE)
SIZES = (1, 4, 4, 16)  #: bytes of a store
BASES = (0x10000000,) * 40 + (0xFFFFFFE0, 0x110000000, 0x10000002)


class RandomWarp:
    """A warp of which about every second instruction is an access near those of all others.

    ``calm``: addresses stay where the words of others are, and little is stored. ``sizes`` are those of stores.
    ``led``: many loads come right behind what makes their address.
    """

    def __init__(
        self,
        rng: random.Random,
        memory: Memory,
        lanes: int,
        own: int,
        shared: int,
        calm: bool = False,
        sizes: Sequence[int] = SIZES,
        led: bool = False,
    ) -> None:
        self.program = WarpProgram(memory, rng.choice(LIVE))
        self._rng, self._lanes, self._bases, self._calm = rng, lanes, (own, *(shared,) * 6), calm
        self._sizes, self._led = sizes, led
        self._point(not calm)

    def _data(self) -> int:
        return self._rng.randint(FIRST, LAST - KEPT if self._calm else LAST)

    def keep(self) -> None:
        """Load what many others lie between, into registers that no other instruction writes."""
        for number in range(KEPT):
            self.program.load(LAST - number, (PAIR, PAIR + 1), 4 * self._lanes * (number - 1))
        self.program.barrier()

    def fill(self, count: int) -> None:
        """Values in so many registers without a user: rows that are taken."""
        for number in range(count):
            self.program.put(LAST + 1 + number, [self._rng.getrandbits(32) for _ in range(LANES)])

    def crowd(self) -> None:
        """Load one vector into all registers of data."""
        self._point(False)
        for register in range(FIRST, LAST + 1):
            self.program.load(register, (PAIR, PAIR + 1))

    def _point(self, wild: bool) -> None:
        """The pair and the short register become addresses."""
        rng = self._rng
        at = rng.choice(BASES) + rng.choice(self._bases) + 4 * rng.choice((0, 0, 0, self._lanes)) if wild else BASES[0]
        self.program.address(PAIR, at, rng.choice(STRIDES) if wild else 4)
        if wild and rng.random() < 0.05:
            self.program.put(PAIR, [rng.getrandbits(6) * 4 for _ in range(LANES)])
        self.program.put(LOW, [(at & 0x0FFFFFFF) + 4 * lane for lane in range(LANES)])

    def _where(self) -> tuple[tuple[int, ...], int]:
        """Registers of an address, and what is added to them."""
        rng, lanes = self._rng, self._lanes
        offset = 4 * rng.choice((0, 0, lanes, rng.randint(-lanes, 2 * lanes)))
        if rng.random() < 0.8:
            return (PAIR, PAIR + 1), offset
        return ((LOW,) if rng.random() < 0.8 else ()), 0x10000000 + offset

    def step(self) -> None:
        """One more instruction, or an address and its load."""
        rng, program = self._rng, self.program
        if self._led and rng.random() < 0.5:
            offset = 4 * rng.choice((0, 0, self._lanes, rng.randint(-self._lanes, 2 * self._lanes)))
            program.address(PAIR, BASES[0] - offset + 4 * rng.choice((0, 0, 0, 1, self._lanes)), rng.choice(STRIDES))
            program.load(self._data(), (PAIR, PAIR + 1), offset)
            return
        often = (50, 0.3, 25, 1, 5, 0.1, 0.1) if self._calm else (40, 2, 12, 4, 12, 0.2, 0.2)
        kind = rng.choices(("load", "store", "alu", "point", "read", "strong", "surface"), often)[0]
        mask, diverged = (rng.choice(PARTLY), rng.random() < 0.5) if rng.random() < 0.1 else (None, False)
        if kind in ("load", "strong"):
            where, offset = self._where()
            opcode = "LDG.E" if kind == "load" else "LDG.E.STRONG.GPU"
            program.load(self._data(), where, offset, mask, diverged, opcode)
        elif kind == "store":
            where, offset = self._where()
            size = rng.choice(self._sizes)
            program.store(where, [FIRST, FIRST + 1, FIRST + 2, FIRST + 3][: max(1, size // 4)], offset, size, mask)
        elif kind == "alu":
            values = [rng.getrandbits(32) for _ in range(LANES)]
            sources = rng.sample(range(LAST + 1), rng.randint(0, 3))
            program.put(self._data(), values, sources, mask, diverged, rng.choice((Port.ALU, Port.FMA, Port.SFU)))
        elif kind == "point":
            self._point(not self._calm or rng.random() < 0.1)
        elif kind == "read":
            program.get(*rng.sample(range(LAST + 1), rng.randint(1, 3)))
        elif len(program.steps) % 2:
            program.fence()
        else:
            program.surface()


def random_warps(
    rng: random.Random,
    lanes: int,
    warps: int = 4,
    ctas: int = 2,
    length: int = 40,
    calm: bool = False,
    led: bool = False,
) -> tuple[list[WarpProgram], list[int]]:
    """CTAs whose warps, between barriers, do what they like, some of it racing; and the CTA of each warp.

    ``lanes`` are those that loads move by to meet; ``length`` is in instructions of a warp.
    """
    memory, programs, owners = Memory(), list[WarpProgram](), list[int]()
    for cta in range(ctas):
        shared = 0 if calm else 0x2000 * rng.randrange(2)
        mates = [RandomWarp(rng, memory, lanes, 0x400 * (warp + 1), shared, calm, led=led) for warp in range(warps)]
        for mate in mates if calm else ():
            mate.keep()
        for _ in range(2):
            for mate in mates:
                for _ in range(length // 2):
                    mate.step()
                mate.program.barrier()
        for mate in mates:
            mate.program.get(*range(FIRST, LAST + 1))
        programs += [mate.program for mate in mates]
        owners += [cta] * warps
    return programs, owners


def share_trace(seed: int, lanes: int = 4) -> Trace:
    """A trace of :func:`random_warps`, calm with even seeds. It depends on the arguments only."""
    rng = random.Random(f"share {seed} {lanes}")
    return trace_of(*random_warps(rng, lanes, ctas=rng.randint(2, 8), length=rng.choice((40, 80)), calm=seed % 2 == 0))


def crowd_trace(seed: int, lanes: int = 4) -> Trace:
    """CTAs of four warps of up to 63 registers whose loads meet in high rows. It depends on the arguments only.

    With even seeds they are calm. At first, and again half way, every warp has one vector in all registers of data.
    """
    rng = random.Random(f"crowd {seed} {lanes}")
    memory, programs, owners = Memory(), list[WarpProgram](), list[int]()
    calm, filled = seed % 2 == 0, rng.choice((0, 0, 36, 42, 48))
    for cta in range(rng.randint(2, 8)):
        mates = [RandomWarp(rng, memory, lanes, 0x400 * warp, 0, calm, (1, 2, 4, 4, 8, 16)) for warp in range(1, 5)]
        for mate in mates:
            mate.fill(filled)
        for _ in range(2):
            for mate in mates:
                mate.crowd()
                for _ in range(rng.choice((20, 40))):
                    mate.step()
                mate.program.barrier()
        programs += [mate.program for mate in mates]
        owners += [cta] * len(mates)
    return trace_of(programs, owners)
