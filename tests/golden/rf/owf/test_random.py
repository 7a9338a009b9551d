"""Random kernels on random machines whose CTAs share, every cycle under the eye of the watcher; and models that err."""

from __future__ import annotations

import dataclasses
import random
from collections import Counter
from functools import partial
from typing import Any

import pytest

from tests.golden.invariants import Broken
from tests.golden.machines import Owf
from tests.golden.rf.owf.invariants import OwnerWatcher
from tests.golden.rf.owf.scenario import make, paired, random_paired
from tests.golden.scenario import op
from tests.golden.watching import watch_counters, watched
from warpfile.golden import StaleOperand
from warpfile.golden.collectors.contract import Heads
from warpfile.golden.run import Stuck, observations
from warpfile.schemes import find
from warpfile.spec.environment import Environment
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.owf import OwfConfig
from warpfile.spec.trace import Access, Port, Space, Trace
from warpfile.spec.workload import prepare

#: Events that the random kernels must meet in all.
MET = (
    *("owners_taken", "owner_cycles", "owner_wait_cycles", "paired_cycles", "shared_accesses", "private_accesses"),
    "issue_barrier",
)


def random_case(seed: int, scheme: str = "owf", **changes: Any) -> tuple[OwfConfig, Trace]:
    """A random machine with small and awkward numbers, and a kernel for it."""
    rng = random.Random(seed)
    drawn = {
        "warps": rng.choice((2, 4, 5, 8)),
        "ctas": rng.choice((2, 5, 8)),
        "buffer_depth": rng.randint(1, 4),
        "banks": rng.choice((1, 2, 4)),
        "bank_ports": rng.choice(("1RW", "1R1W")),
        "bank_cycles": rng.choice((1, 1, 2)),
        "collect": rng.choice(("lowest", "one", "all")),
        "scheduler": rng.choice(("owners_first", "owners_first", "gto", "lrr", "oldest")),
        "hit_latency": rng.choice((2, 30)),
        "ports": rng.choice((1, 3)),
        "write_back_ports": rng.choice((1, 3)),
    }
    cfg = make(scheme, **drawn | changes)
    return cfg, random_paired(cfg, rng)


def watch(cfg: OwfConfig, trace: Trace, model: type[Owf] = Owf, limit: int = 9_000) -> Owf:
    """Run to the end under the watcher, and compare the counters with those of the probes."""
    scheme = find("owf")
    layout, workload = ProbeLayout(scheme.probes(cfg)), prepare(cfg, trace)
    environment, machine = Environment(cfg, workload, layout), model(cfg, layout)
    watch_counters(machine, environment, layout, partial(scheme.events, cfg), OwnerWatcher(cfg, workload), limit)
    return machine


def test_random_kernels_keep_every_invariant_end_and_meet_every_event() -> None:
    total: Counter[str] = Counter()
    for seed in range(60):
        print(f"seed {seed}")
        machine = watch(*random_case(seed))
        assert machine.counters["instructions"]
        total += Counter({name: machine.counters[name] for name in MET})
    print(total)
    assert all(total[name] for name in MET)


@pytest.mark.parametrize("seed", range(6))
def test_under_a_scheduler_with_places_a_warp_that_waits_keeps_no_owner_from_a_place(seed: int) -> None:
    rng = random.Random(seed)
    changes = {"active_warps": rng.choice((1, 2)), "suspend_barrier": rng.choice(("always", "needed"))}
    cfg, trace = random_case(seed + 300, "owf+two_level", scheduler="two_level", warps=8, **changes)
    scheme = find("owf+two_level")
    layout, workload = ProbeLayout(scheme.probes(cfg)), prepare(cfg, trace)
    environment, machine = Environment(cfg, workload, layout), scheme.golden(cfg, layout)
    watcher = OwnerWatcher(cfg, workload)
    for _ in watched(machine, environment, layout, watcher, 9_000):
        pass
    assert machine.counters["owners_taken"]


def keeps_places(file: Any) -> None:
    """A warp that waits is for the scheduler one like all others."""
    gate = file.gate

    def wrong(heads: Heads) -> None:
        gate(heads)
        file.yields = 0

    file.gate = wrong


@pytest.mark.plain
def test_a_warp_that_waits_and_keeps_its_place_hangs() -> None:
    """Warp 1 takes the only place while warp 0, an owner, waits for memory without one."""
    load = op((), 2, port=Port.LSU, space=Space.GLOBAL, access=Access.LOAD, bytes=4)
    trace = paired([load, op((2,), 3)], [op((), 2)], members=1)
    cfg, scheme = make("owf+two_level", scheduler="two_level", active_warps=1), find("owf+two_level")
    layout, workload = ProbeLayout(scheme.probes(cfg)), prepare(cfg, trace)
    sound, wrong = scheme.golden(cfg, layout), scheme.golden(cfg, layout)
    assert [*observations(sound, Environment(cfg, workload, layout), 2_000)] and sound.counters["owners_taken"] == 2
    keeps_places(wrong.file)  # type: ignore[attr-defined]
    with pytest.raises(Stuck):
        list(observations(wrong, Environment(cfg, workload, layout), 2_000))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("bow+owf+owners_first", {"collect": "lowest", "source_slots": 3, "scheduler": "owners_first"}),
        ("bow_wr+owf", {"collect": "lowest", "source_slots": 3, "scheduler": "gto"}),
        ("malekeh+owf", {"collect": "one", "source_slots": 3, "scheduler": "oldest"}),
    ],
)
def test_under_other_collectors_one_of_two_ctas_has_all_owners(name: str, changes: dict[str, Any], seed: int) -> None:
    cfg, plain = random_case(seed + 100, name, **changes)
    scheme = find(name)
    trace = dataclasses.replace(scheme.annotated(cfg, plain), descriptor=plain.descriptor)
    layout, workload = ProbeLayout(scheme.probes(cfg)), prepare(cfg, trace)
    environment, machine = Environment(cfg, workload, layout), scheme.golden(cfg, layout)
    members = plain.descriptor["cta_warps"]
    for word in observations(machine, environment, 9_000):
        fields = layout.unpack(word)
        owners = [warp for warp in range(cfg.warps) if fields["owns"] >> warp & 1]
        cta = {warp: warp // (2 * members) * 2 + warp % 2 for warp in owners}  # by home slots
        assert not {number ^ 1 for number in cta.values()} & {*cta.values()}
        assert not fields["stray"] and not fields["owns"] & fields["owner_waiting"]
    assert machine.operands_checked and machine.counters["owners_taken"]


class Mutant(Owf):
    """A machine whose file and owners are changed by ``mutate``."""

    def __init__(self, cfg: OwfConfig, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        self.mutate(cfg, self.file, self.file.ownership)

    def mutate(self, cfg: OwfConfig, file: Any, owners: Any) -> None:
        """Make the mistake."""


class PartnersAlone(Mutant):
    """A warp waits for its partner only, not for other warps of the partner's CTA."""

    def mutate(self, cfg: OwfConfig, file: Any, owners: Any) -> None:
        owners.closed = lambda: sum(1 << (warp ^ 1) for warp in range(cfg.warps) if owners.owner >> warp & 1)


class NeverWaits(Mutant):
    """Partners own what they share at the same time."""

    def mutate(self, cfg: OwfConfig, file: Any, owners: Any) -> None:
        owners.closed = lambda: 0


class KeepsAtExit(Mutant):
    """A warp stays an owner behind its EXIT."""

    def mutate(self, cfg: OwfConfig, file: Any, owners: Any) -> None:
        issued = owners.issued
        owners.issued = lambda warp, exits: issued(warp, False)


class SharesAllOfThem(Mutant):
    """The shared registers stand a place too low."""

    def mutate(self, cfg: OwfConfig, file: Any, owners: Any) -> None:
        behind = file.sets.behind_pair
        file.sets.behind_pair = lambda warp, base: behind(warp, base - 1)


class SourcesAlone(Mutant):
    """A beat that only writes a shared register does not wait."""

    def mutate(self, cfg: OwfConfig, file: Any, owners: Any) -> None:
        holds = owners.holds

        def wrong(heads: Heads, split: int) -> int:
            found = holds(heads, split)
            for warp in range(cfg.warps):
                if found >> warp & 1 and not any(r >= split for r in heads.buffers[warp][0].beat.sources):
                    found ^= 1 << warp
            return found

        owners.holds = wrong


class OwnersLast(Mutant):
    """The scheduler takes sharers for owners."""

    def mutate(self, cfg: OwfConfig, file: Any, owners: Any) -> None:
        scheduler: Any = self.scheduler
        if cfg.gives.ranks:
            ranks = scheduler.ranks
            scheduler.ranks = lambda owner, sharers: ranks(sharers, owner)


@pytest.mark.plain
@pytest.mark.parametrize("mutant", [PartnersAlone, NeverWaits, KeepsAtExit, SharesAllOfThem, SourcesAlone, OwnersLast])
def test_a_mistake_is_caught(mutant: type[Mutant]) -> None:
    caught = (Broken, StaleOperand, Stuck)
    for seed in range(60):
        try:
            watch(*random_case(seed), mutant)
        except caught:
            return
    pytest.fail(f"{mutant.__name__} is not caught")
