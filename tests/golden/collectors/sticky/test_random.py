"""Random kernels on random machines, every cycle under the eye of the watcher; and models that err."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from tests.golden.collectors.sticky.invariants import StickyWatcher
from tests.golden.collectors.sticky.scenario import make, random_sticky
from tests.golden.invariants import Broken
from tests.golden.machines import Sticky, events_of, layout_of
from tests.golden.watching import watch_counters
from warpfile.golden import StaleOperand
from warpfile.golden.run import Stuck
from warpfile.schemes import find
from warpfile.spec.environment import Environment
from warpfile.spec.schemes.sticky import StickyConfig
from warpfile.spec.stress import PROFILES, stress_trace
from warpfile.spec.trace import Trace
from warpfile.spec.workload import prepare

SEEDS = 60
#: Counters that the random kernels must not leave at zero.
MET = (*find("sticky").collectors.reached, "write_waits", "bank_conflicts", "bank_reads")


def random_machine(rng: random.Random, **changes: Any) -> StickyConfig:
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
        "dispatch_arbitration": rng.choice(("round_robin", "oldest")),
        "collect": rng.choice(("lowest", "one", "all")),
        "collectors": rng.choice((1, 2, 3, 4)),
        "source_slots": rng.choice((1, 2, 3, 5)),
        "retake": rng.choice(("same", "next")),
        "scheduler": rng.choice(("gto", "lrr", "oldest", "cggty")),
        "ports": rng.choice((3, 4, 6)),
        "write_back_ports": rng.choice((1, 3, 6)),
        "hit_latency": rng.choice((2, 6)),
        "miss_latency": 9,
        "alu_latency": rng.choice((1, 2, 5)),
        "alu_interval": rng.choice((1, 2)),
        "forward_results": rng.choice(("fixed", "fixed", "fixed", "none")),
        "keep_operands": rng.choice(("slot", "slot", "slot", "none")),
    }
    return make(**drawn | changes)


def random_case(seed: int, **changes: Any) -> tuple[StickyConfig, Trace]:
    """A random machine, and a kernel for it."""
    rng = random.Random(seed)
    cfg = random_machine(rng, **changes)
    return cfg, random_sticky(cfg, rng)


def watch(cfg: StickyConfig, trace: Trace, model: type[Sticky] = Sticky) -> Sticky:
    """Run to the end under the watcher, and compare the counters with those of the probes."""
    scheme = f"sticky+{cfg.scheduler}"
    layout, workload = layout_of(scheme, cfg), prepare(cfg, trace)
    environment, machine = Environment(cfg, workload, layout), model(cfg, layout)
    watch_counters(machine, environment, layout, events_of(scheme, cfg), StickyWatcher(cfg, workload), 20_000)
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


@pytest.mark.parametrize("profile", PROFILES)
def test_stress_traces_keep_every_invariant(profile: str) -> None:
    cfg = random_machine(
        random.Random(profile), rows=256, warps=5, ctas=5, lanes=4, forward_results="fixed", keep_operands="slot"
    )
    machine = watch(cfg, stress_trace(1, profile=profile, length=60, registers=16))
    assert machine.counters["source_hits"] or machine.counters["forwards"]


class Mutant(Sticky):
    """A machine whose collectors are changed by ``mutate``."""

    def __init__(self, cfg: StickyConfig, layout: Any) -> None:
        super().__init__(cfg, layout)
        self.mutate(self.collectors)

    def mutate(self, units: Any) -> None:
        """Make the mistake."""


class KeepsWhatIsWritten(Mutant):
    """A write does not end what is kept of its register."""

    def mutate(self, units: Any) -> None:
        units.kept.overwritten = lambda warp, entry: 0


class KeepsItsDestination(Mutant):
    """A beat keeps the old value of a register that it writes itself."""

    def mutate(self, units: Any) -> None:
        take = units.kept.take

        def wrong(unit: int, warp: int, entry: Any) -> None:
            dests, entry.dests = entry.dests, 0
            take(unit, warp, entry)
            entry.dests = dests

        units.kept.take = wrong


class KeepsBeyondTheExit(Mutant):
    """A warp finds what the one before it kept."""

    def mutate(self, units: Any) -> None:
        units.kept.exits = lambda warp: None


class FindsOtherWarps(Mutant):
    """The warp of a tag is not compared."""

    def mutate(self, units: Any) -> None:
        units.kept.holds = lambda slot, warp, register: units.kept.names[slot] == register


class MissesTheResult(Mutant):
    """A slot awaits a result that is accepted in the cycle of its allocation."""

    def mutate(self, units: Any) -> None:
        sources = units.results.sources

        def wrong(warp: int, entry: Any) -> tuple[int, int]:
            expects, late = sources(warp, entry)
            return expects | late, 0

        units.results.sources = wrong


class ForwardsSomeLanes(Mutant):
    """Results of some lanes are coming, too."""

    def mutate(self, units: Any) -> None:
        marks = units.results.marks

        def wrong(warp: int, entry: Any) -> bool:
            whole = type("Beat", (), {"full": True})
            return bool(marks(warp, type("Entry", (), {"port": entry.port, "beat": whole, "dests": entry.dests})))

        units.results.marks = wrong


class ForgetsWideResults(Mutant):
    """Of a result of several registers the first is coming."""

    def mutate(self, units: Any) -> None:
        marks = units.results.marks

        def wrong(warp: int, entry: Any) -> bool:
            low = entry.dests & -entry.dests
            return bool(marks(warp, type("Entry", (), {"port": entry.port, "beat": entry.beat, "dests": low})))

        units.results.marks = wrong


class LowestUnit(Mutant):
    """The lowest free unit takes the beat, whatever it keeps."""

    def mutate(self, units: Any) -> None:
        def wrong(free: int, warp: int, entry: Any) -> tuple[int, int]:
            unit = (free & -free).bit_length() - 1
            return unit, units.kept.hits(unit, warp, entry)

        units.kept.choose = wrong


class LetsFarSlotsWait(Mutant):
    """The frame lets a beat issue whose source of a far slot is coming."""

    def mutate(self, units: Any) -> None:
        units.coming = lambda warp, head: units.results.registers[warp]


class TakesAnyResult(Mutant):
    """A slot takes the next result of its register, of whichever warp."""

    def mutate(self, units: Any) -> None:
        accepted, kept = units.results.accepted, units.kept

        def wrong(result: Any) -> int:
            holds, kept.holds = kept.holds, lambda slot, warp, register: kept.names[slot] == register
            taking: int = accepted(result)
            kept.holds = holds
            return taking

        units.results.accepted = wrong


MUTANTS: Sequence[type[Mutant]] = (
    *(KeepsWhatIsWritten, KeepsItsDestination, KeepsBeyondTheExit, FindsOtherWarps, MissesTheResult),
    *(ForwardsSomeLanes, ForgetsWideResults, LowestUnit, LetsFarSlotsWait, TakesAnyResult),
)


@pytest.mark.plain
@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_mistake_is_caught(mutant: type[Mutant]) -> None:
    for seed in range(SEEDS):
        try:
            watch(*random_case(seed), mutant)
        except (Broken, StaleOperand, Stuck, AssertionError) as error:
            print(seed, type(error).__name__, error)
            return
    pytest.fail(f"{mutant.__name__} is not caught")


@pytest.mark.plain
@pytest.mark.parametrize("mutant", [KeepsWhatIsWritten, KeepsItsDestination, FindsOtherWarps])
def test_a_stale_operand_is_found_by_the_operands_alone(mutant: type[Mutant]) -> None:
    """Without the watcher: what is kept too long leaves as a wrong operand."""
    found = 0
    for seed in range(SEEDS):
        cfg, trace = random_case(seed, keep_operands="slot")
        layout = layout_of(f"sticky+{cfg.scheduler}", cfg)
        environment, machine = Environment(cfg, prepare(cfg, trace), layout), mutant(cfg, layout)
        try:
            while not environment.done:
                environment.observe(machine.step(environment.stimulus()))
        except StaleOperand:
            found += 1
        except AssertionError:
            continue
    assert found, mutant.__name__
