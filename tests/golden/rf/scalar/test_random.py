"""Random kernels on random machines, every cycle under the eye of the watcher; and models that err."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from tests.golden.invariants import Broken
from tests.golden.machines import Scalar, events_of, layout_of
from tests.golden.rf.scalar.invariants import ScalarWatcher
from tests.golden.rf.scalar.scenario import make, random_scalar, two_expansions
from tests.golden.watching import watch_counters
from warpfile.golden import StaleOperand
from warpfile.golden.copies import pack, row_of
from warpfile.golden.rf.engine import Served
from warpfile.golden.run import Stuck
from warpfile.schemes import find
from warpfile.spec.environment import Environment
from warpfile.spec.schemes.scalar import ScalarConfig
from warpfile.spec.stress import PROFILES, stress_trace
from warpfile.spec.trace import Trace
from warpfile.spec.workload import prepare

SEEDS = 40
#: Counters that the random kernels must not leave at zero.
MET = (*find("scalar").rf.reached, "vector_reads", "vector_writes", "write_waits", "bank_conflicts")


def random_machine(rng: random.Random, **changes: Any) -> ScalarConfig:
    """A machine with small and awkward numbers."""
    drawn = {
        "lanes": rng.choice((1, 4, 4, 8)),
        "warps": rng.choice((2, 3, 5)),
        "ctas": rng.choice((1, 2, 5)),
        "banks": rng.choice((1, 2, 3, 4)),
        "bank_ports": rng.choice(("1RW", "1R1W")),
        "bank_cycles": rng.choice((1, 1, 2, 3)),
        "bank_occupancy": rng.choice(("length", "one")),
        "bank_skew": rng.choice(("none", "warp", "row")),
        "bank_arbitration": rng.choice(("round_robin", "oldest")),
        "collect": rng.choice(("lowest", "one", "all")),
        "collectors": rng.choice((1, 2, 4)),
        "source_slots": rng.choice((1, 2, 3)),
        "scheduler": rng.choice(("gto", "lrr", "oldest")),
        "ports": rng.choice((1, 3, 6)),
        "write_back_ports": rng.choice((1, 3, 6)),
        "hit_latency": rng.choice((2, 6)),
        "miss_latency": 9,
        "alu_latency": rng.choice((1, 2, 5)),
    }
    return make(**drawn | changes)


def random_case(seed: int, **changes: Any) -> tuple[ScalarConfig, Trace]:
    """A random machine, and a kernel for it."""
    rng = random.Random(seed)
    cfg = random_machine(rng, **changes)
    return cfg, random_scalar(cfg, rng)


def watch(cfg: ScalarConfig, trace: Trace, model: type[Scalar] = Scalar) -> Scalar:
    """Run to the end under the watcher, and compare the counters with those of the probes."""
    layout, workload = layout_of("scalar", cfg), prepare(cfg, trace)
    environment, machine = Environment(cfg, workload, layout), model(cfg, layout)
    watch_counters(machine, environment, layout, events_of("scalar", cfg), ScalarWatcher(cfg, workload), 20_000)
    return machine


def test_random_kernels_keep_every_invariant_and_meet_every_event() -> None:
    total: Counter[str] = Counter()
    for seed in range(SEEDS):
        print(f"seed {seed}")
        machine = watch(*random_case(seed))
        assert machine.operands_checked
        total += Counter({name: machine.counters[name] for name in MET})
    print(total)
    assert all(total[name] for name in MET)


def test_two_expansions_keep_every_invariant() -> None:
    assert watch(make(), two_expansions()).counters["expansions"] == 2


@pytest.mark.parametrize("profile", PROFILES)
def test_stress_traces_keep_every_invariant(profile: str) -> None:
    cfg = random_machine(random.Random(profile), rows=256, warps=5, ctas=5, lanes=4)
    machine = watch(cfg, stress_trace(1, profile=profile, length=60, registers=16))
    assert machine.counters["scalar_reads"] and machine.counters["scalar_writes"]


class Mutant(Scalar):
    """A machine whose file is changed by ``mutate``."""

    def __init__(self, cfg: ScalarConfig, layout: Any) -> None:
        super().__init__(cfg, layout)
        self.mutate(self.file)

    def mutate(self, file: Any) -> None:
        """Make the mistake."""


class KeepsItsBit(Mutant):
    """A register stays scalar when all its lanes are written to its bank."""

    def mutate(self, file: Any) -> None:
        becomes = file.registers.becomes
        file.registers.becomes = lambda warp, register, scalar: scalar and becomes(warp, register, scalar)


class NeverExpands(Mutant):
    """A result of some lanes is written to the bank at once."""

    def mutate(self, file: Any) -> None:
        kinds = file._kinds

        def wrong(results: Any, shown: int) -> int:
            kinds(results, shown)
            return 0

        file._kinds = wrong


class ClearsWithoutExpansion(Mutant):
    """The same, and the bit is cleared as if the other lanes were there."""

    def mutate(self, file: Any) -> None:
        kinds = file._kinds

        def wrong(results: Any, shown: int) -> int:
            held = kinds(results, shown)
            for port in range(len(results)):
                if held >> port & 1:
                    file.registers.becomes(results[port].warp, results[port].register, False)
            return 0

        file._kinds = wrong


class ForgetsLanes(Mutant):
    """An expansion writes the lower half of the lanes."""

    def mutate(self, file: Any) -> None:
        granted = file.expansion._granted

        def wrong(served: Served) -> None:
            granted(served._replace(copy=pack(row_of(served.copy), 0b1100)))

        file.expansion._granted = wrong


class KeepsBitsAtLaunch(Mutant):
    """A warp finds the bits of the one before it."""

    def mutate(self, file: Any) -> None:
        file.registers.launched = lambda warp: None


class LooksAtTwoLanes(Mutant):
    """Lanes beyond the second are not compared."""

    def mutate(self, file: Any) -> None:
        holds = file.alike.holds
        file.alike.holds = lambda data, mask: holds(data, mask & 0b11 or mask)


class LooksAtAllLanes(Mutant):
    """Lanes that have exited are compared, too."""

    def mutate(self, file: Any) -> None:
        holds = file.alike.holds
        file.alike.holds = lambda data, mask: holds(data, mask and (1 << 32) - 1)


class LowestFirst(Mutant):
    """Of two results that need expansion, the one of the lowest port has it."""

    def mutate(self, file: Any) -> None:
        kinds = file._kinds

        def wrong(results: Any, shown: int) -> int:
            held: int = kinds(results, shown)
            if held:
                first = results[(held & -held).bit_length() - 1]
                home = file.location.place(first.warp, first.register)
                file.expansion.needed(first.warp, first.register, home)
            return held

        file._kinds = wrong


class WritesTooEarly(Mutant):
    """An expansion does not wait for its word."""

    def mutate(self, file: Any) -> None:
        granted = file.expansion._granted

        def wrong(served: Served) -> None:
            granted(served)
            file.expansion._arrival = file.expansion._arrival and min(file.expansion._arrival, self.cycle + 1)

        file.expansion._granted = wrong


class SharesBanks(Mutant):
    """A scalar register is in the bank itself."""

    def mutate(self, file: Any) -> None:
        file._in = lambda scalar, home: home


MUTANTS: Sequence[type[Mutant]] = (
    *(KeepsItsBit, NeverExpands, ClearsWithoutExpansion, ForgetsLanes, KeepsBitsAtLaunch),
    *(LooksAtTwoLanes, LooksAtAllLanes, LowestFirst, WritesTooEarly, SharesBanks),
)


@pytest.mark.plain
@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_mistake_is_caught(mutant: type[Mutant]) -> None:
    for cfg, trace in ((make(), two_expansions()), *map(random_case, range(SEEDS))):
        try:
            watch(cfg, trace, mutant)
        except (Broken, StaleOperand, Stuck) as error:
            print(error)
            return
    pytest.fail(f"{mutant.__name__} is not caught")


@pytest.mark.plain
def test_a_lost_lane_is_found_by_the_operands_alone() -> None:
    """Without the watcher: an expansion that forgets lanes, and results that come before it, leave wrong operands."""
    for mutant in (ForgetsLanes, ClearsWithoutExpansion):
        found = 0
        for seed in range(SEEDS):
            cfg, trace = random_case(seed)
            layout = layout_of("scalar", cfg)
            environment, machine = Environment(cfg, prepare(cfg, trace), layout), mutant(cfg, layout)
            try:
                while not environment.done:
                    environment.observe(machine.step(environment.stimulus()))
            except StaleOperand:
                found += 1
        assert found, mutant.__name__
