"""Machines and random programs of loads that meet, and runs of the shared file under its invariants."""

from __future__ import annotations

import random
from typing import Any

from tests.golden.machines import Shared, events_of, layout_of
from tests.golden.rf.shared.invariants import SharedWatcher
from tests.golden.rf.shared.programs import Memory, WarpProgram, stores_of, trace_of
from tests.golden.scenario import FULL, Run
from tests.golden.watching import watched
from warpfile.golden.run import observations
from warpfile.schemes import find
from warpfile.sim.counters import ObservedCounters
from warpfile.spec.environment import Environment
from warpfile.spec.schemes.shared import SharedConfig
from warpfile.spec.trace import Port, Trace
from warpfile.spec.workload import prepare

PAIR, LOW, FIRST, LAST = 0, 2, 3, 14  # registers: an address, a short one, data
KEPT = 4  #: registers of a calm warp that keep what it loaded first
STRIDES = (*(4,) * 24, 0, 0, 8, 12, 1020, 1024, -4, 6)
#: Lanes of a load that not all execute, and those that a warp may have.
PARTLY = (0x0000FFFF, 0x00000005, 0xFFFFFFFA, 0xFFFF0000, 0)
LIVE = (FULL,) * 8 + (0x3F, 0x3F, 0x7, 0x5, 0xFFFFFFFE)
BASES = (0x10000000,) * 40 + (0xFFFFFFE0, 0x110000000, 0x10000002)


#: By record of a trace, the bytes that it writes.
Stores = dict[int, dict[int, int]]


def make(scheme: str = "larf", **changes: Any) -> SharedConfig:
    """The ``tiny`` preset with four warps of eight lanes, unless ``changes`` say otherwise."""
    small = {"warps": 4, "lanes": 8, "source_slots": 3, "rows": 32, "alu_latency": 2, "register_names": 16}
    cfg = find(scheme).configuration("tiny", **small | changes)
    assert isinstance(cfg, SharedConfig)
    return cfg


def random_shared(rng: random.Random, **changes: object) -> SharedConfig:
    """A machine with small and awkward numbers."""
    banks = rng.choice((1, 2, 4))
    drawn = {
        "lanes": rng.choice((1, 4, 8, 8, 8, 32)),
        "warps": rng.choice((4, 5, 8)),
        "ctas": rng.choice((1, 2, 8)),
        "buffer_depth": rng.randint(1, 4),
        "register_names": rng.choice((16, 32)),
        "banks": banks,
        "rows": rng.choice((64, 128)) // banks,
        "collectors": rng.choice((2, 4, 8)),
        "source_slots": rng.choice((2, 3, 8)),
        "bank_arbitration": rng.choice(("round_robin", "oldest")),
        "dispatch_arbitration": rng.choice(("round_robin", "oldest")),
        "scheduler": rng.choice(("gto", "lrr")),
        "ports": rng.choice((3, 4, 6)),
        "write_back_ports": rng.choice((1, 3, 6)),
        "alu_latency": rng.choice((2, 3, 6)),
        "hit_latency": rng.choice((2, 12)),
        "miss_latency": rng.choice((40, 100)),
        "cache_lines": rng.choice((0, 4, 64)),
        "result_queue": rng.choice((1, 2, 8)),
        "table_entries": rng.choice((1, 3, 8, 8, 30, 30)),
        "search": rng.choice(("merge", "merge", "merge", "perfect")),
        "strides": rng.choice(("any", "any", "powers")),
        "merge_wait": rng.choice((0, 1, 8)),
        "absorbed_loads": rng.choice((1, 2, 16)),
        "count_bits": rng.choice((1, 2, 6, 6)),
    }
    return make(**drawn | changes)


class RandomWarp:
    """A warp of which about every second instruction is an access near those of all others.

    ``calm``: addresses stay where the words of others are, and little is stored.
    """

    def __init__(
        self, rng: random.Random, memory: Memory, lanes: int, own: int, shared: int, calm: bool = False
    ) -> None:
        self.program = WarpProgram(memory, rng.choice(LIVE))
        self._rng, self._lanes, self._bases, self._calm = rng, lanes, (own, *(shared,) * 6), calm
        self._point(not calm)

    def _data(self) -> int:
        return self._rng.randint(FIRST, LAST - KEPT if self._calm else LAST)

    def keep(self) -> None:
        """Load what many others lie between, into registers that nobody else writes."""
        for number in range(KEPT):
            self.program.load(LAST - number, (PAIR, PAIR + 1), 4 * self._lanes * (number - 1))
        self.program.barrier()

    def _point(self, wild: bool) -> None:
        """The pair and the short register become addresses."""
        rng = self._rng
        at = rng.choice(BASES) + rng.choice(self._bases) + 4 * rng.choice((0, 0, 0, self._lanes)) if wild else BASES[0]
        self.program.address(PAIR, at, rng.choice(STRIDES) if wild else 4)
        if wild and rng.random() < 0.05:
            self.program.put(PAIR, [rng.getrandbits(6) * 4 for _ in range(32)])
        self.program.put(LOW, [(at & 0x0FFFFFFF) + 4 * lane for lane in range(32)])

    def _where(self) -> tuple[tuple[int, ...], int]:
        """Registers of an address, and what is added to them."""
        rng, lanes = self._rng, self._lanes
        offset = 4 * rng.choice((0, 0, lanes, rng.randint(-lanes, 2 * lanes)))
        if rng.random() < 0.8:
            return (PAIR, PAIR + 1), offset
        return ((LOW,) if rng.random() < 0.8 else ()), 0x10000000 + offset

    def step(self) -> None:
        """One more instruction."""
        rng, program = self._rng, self.program
        often = (50, 0.3, 25, 1, 5, 0.1, 0.1) if self._calm else (40, 2, 12, 4, 12, 0.2, 0.2)
        kind = rng.choices(("load", "store", "alu", "point", "read", "strong", "surface"), often)[0]
        mask, diverged = (rng.choice(PARTLY), rng.random() < 0.5) if rng.random() < 0.1 else (None, False)
        if kind in ("load", "strong"):
            where, offset = self._where()
            opcode = "LDG.E" if kind == "load" else "LDG.E.STRONG.GPU"
            program.load(self._data(), where, offset, mask, diverged, opcode)
        elif kind == "store":
            where, offset = self._where()
            size = rng.choice((1, 4, 4, 16))
            program.store(where, [FIRST, FIRST + 1, FIRST + 2, FIRST + 3][: max(1, size // 4)], offset, size, mask)
        elif kind == "alu":
            values = [rng.getrandbits(32) for _ in range(32)]
            sources = rng.sample(range(LAST + 1), rng.randint(0, 3))
            program.put(self._data(), values, sources, mask, diverged, rng.choice((Port.ALU, Port.FMA, Port.SFU)))
        elif kind == "point":
            self._point(not self._calm or rng.random() < 0.1)
        elif kind == "read":
            program.get(*rng.sample(range(LAST + 1), rng.randint(1, 3)))
        else:
            program.surface()


def random_program(
    rng: random.Random, lanes: int, warps: int = 4, ctas: int = 2, length: int = 40, calm: bool = False
) -> tuple[Trace, Stores]:
    """CTAs whose warps, between barriers, do what they like; some of it races."""
    memory, programs, owners = Memory(), list[WarpProgram](), list[int]()
    for cta in range(ctas):
        shared = 0 if calm else 0x2000 * rng.randrange(2)
        mates = [RandomWarp(rng, memory, lanes, 0x400 * (warp + 1), shared, calm) for warp in range(warps)]
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
    return trace_of(programs, owners), stores_of(programs)


def random_case(seed: int, **changes: object) -> tuple[SharedConfig, Trace, Stores]:
    """A random machine, a random program, and what its stores write; every second one aims at words that are there."""
    rng, calm = random.Random(seed), seed % 2 == 0
    aimed: dict[str, object] = {"lanes": 8, "search": "merge", "table_entries": rng.choice((8, 30, 60))} if calm else {}
    if seed % 4 == 0:
        aimed |= {"banks": 1, "rows": 64, "merge_wait": rng.choice((0, 1, 8)), "collectors": 8, "scheduler": "lrr"}
    cfg = random_shared(rng, **aimed | changes)
    trace, stores = random_program(rng, cfg.lanes, warps=rng.choice((2, 4)), ctas=rng.choice((1, 3)), calm=calm)
    return cfg, find("larf").annotated(cfg, trace, seed if seed % 3 == 0 else None), stores


def run_shared(cfg: SharedConfig, trace: Trace, model: type[Shared] = Shared, limit: int = 60_000) -> Run:
    """Simulate a trace, which may have to be annotated, to its end."""
    layout = layout_of("larf", cfg)
    result = Run(model(cfg, layout))
    environment = Environment(cfg, prepare(cfg, annotated(cfg, trace)), layout)
    result.fields = [layout.unpack(word) for word in observations(result.model, environment, limit)]
    return result


def annotated(cfg: SharedConfig, trace: Trace) -> Trace:
    """The trace with hints."""
    return trace if trace.annotation else find("larf").annotated(cfg, trace)


def watch_shared(
    cfg: SharedConfig,
    trace: Trace,
    stores: Stores | None = None,
    model: type[Shared] = Shared,
    limit: int = 60_000,
) -> Shared:
    """Run to the end under the watcher, and compare the counters with those of the probes."""
    layout, workload = layout_of("larf", cfg), prepare(cfg, annotated(cfg, trace))
    environment, machine = Environment(cfg, workload, layout), model(cfg, layout)
    observed = ObservedCounters(layout, events_of("larf", cfg))
    watcher = SharedWatcher(cfg, workload, machine, stores)
    for word in watched(machine, environment, layout, watcher, limit, watcher.look):
        observed.add(word)
    counters, totals = machine.counters, observed.totals()
    assert set(counters) == {*totals, "instructions"}
    assert {name: counters[name] for name in totals} == totals
    return machine
