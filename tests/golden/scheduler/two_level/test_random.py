"""Random programs under the two-level scheduler, and machines with one mistake each."""

from __future__ import annotations

import random
from functools import partial
from types import SimpleNamespace

import pytest

from tests.golden.invariants import Broken
from tests.golden.machines import Baseline
from tests.golden.scheduler.two_level.invariants import PlaceWatcher
from tests.golden.scheduler.two_level.test_scheduler import CFG
from tests.golden.test_random import random_config
from tests.golden.watching import watched
from warpfile.golden.long_frame import LongFrame
from warpfile.golden.scheduler.two_level.scheduler import TwoLevel
from warpfile.schemes import SCHEMES
from warpfile.sim.counters import ObservedCounters
from warpfile.spec.config import Config
from warpfile.spec.environment import Environment
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.stimulus import Missed
from warpfile.spec.stress import PROFILES, stress_trace
from warpfile.spec.trace import Trace
from warpfile.spec.workload import prepare


def random_places(rng: random.Random) -> Config:
    """A random machine with places."""
    cfg = random_config(rng)
    active_warps = rng.choice((1, 2, 3))
    active_choice = rng.choice(("greedy", "round_robin"))
    suspend = rng.choice(("pending", "pending", "outstanding", "strands", "always", "never"))
    return cfg.replace(
        scheduler="two_level",
        active_warps=cfg.warps if suspend == "never" else active_warps,
        active_choice=active_choice,
        suspend=suspend,
        suspend_load="always" if suspend == "always" else rng.choice(("always", "needed")),
        suspend_barrier=rng.choice(("always", "needed")),
        resume="all" if suspend in ("outstanding", "strands") else rng.choice(("head", "all")),
        long_from=rng.choice(("issue", "miss")),
        notice_latency=rng.choice((1, 4, cfg.hit_latency)),
        starved_after=rng.choice((1, 2, 5, 32)),
    )


def watch_places(cfg: Config, trace: Trace, model: type[Baseline] = Baseline, limit: int = 60_000) -> Baseline:
    """Run to the end under the watcher, and compare the counters with those of the probes."""
    layout = ProbeLayout(SCHEMES["baseline"].probes(cfg))
    workload = prepare(cfg, trace)
    environment, machine, watcher = Environment(cfg, workload, layout), model(cfg, layout), PlaceWatcher(cfg, workload)
    observed = ObservedCounters(layout, partial(SCHEMES["baseline"].events, cfg))
    for word in watched(machine, environment, layout, watcher, limit):
        observed.add(word)
    counters = machine.counters
    assert {name: counters[name] for name in observed.totals()} == observed.totals()
    return machine


@pytest.mark.parametrize("seed", range(40))
def test_a_random_program_keeps_the_rules_of_places(seed: int) -> None:
    rng = random.Random(seed)
    cfg, profile = random_places(rng), rng.choice(list(PROFILES))
    print(f"seed {seed} {profile}")
    trace = stress_trace(seed, profile=profile, warps_per_cta=rng.choice(([4], [1, 4], [3, 2, 1])), ctas=4, length=40)
    watch_places(cfg, trace)


class LetsGoEarly(Baseline):
    """A place is released while short results are on their way."""

    def __init__(self, cfg: Config, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        self.scheduler._drained = lambda collecting: self.scheduler._draining  # type: ignore[attr-defined]


class TakesAllLoadsForShort(Baseline):
    """No load suspends anybody."""

    def __init__(self, cfg: Config, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        assert isinstance(self.frame, LongFrame)
        self.frame.longs = Zeros(self.frame.longs)


class Zeros(list):  # type: ignore[type-arg]
    def __setitem__(self, index, value):  # type: ignore[no-untyped-def]
        """Nothing is ever long."""


class ForgetsThePointer(Baseline):
    """The lowest ready warp gets the place."""

    def step(self, stimulus):  # type: ignore[no-untyped-def]
        self.scheduler._pointer = 0  # type: ignore[attr-defined]
        return super().step(stimulus)


class GivesTheHighestPlace(Baseline):
    """Places are given away from the top."""

    def __init__(self, cfg: Config, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        scheduler = self.scheduler
        assert isinstance(scheduler, TwoLevel)
        give = scheduler.places.give

        def give_highest(place: int, warp: int) -> None:
            free = [number for number, holder in enumerate(scheduler.places.warp) if holder < 0]
            give(free[-1], warp)

        scheduler.places.give = give_highest  # type: ignore[method-assign]


class KeepsWaiters(Baseline):
    """A barrier leaves its warps in their places."""

    def __init__(self, cfg: Config, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        leave = self.scheduler._leave  # type: ignore[attr-defined]
        self.scheduler._leave = lambda loads, _, *more: leave(loads, 0, *more)  # type: ignore[attr-defined]


class GivesPlacesThatNobodyNeeds(Baseline):
    """A barrier takes the place of its warp away although none is ready."""

    def __init__(self, cfg: Config, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        leave = self.scheduler._leave  # type: ignore[attr-defined]
        self.scheduler._leave = lambda *reasons: leave(*reasons[:-1], 1)  # type: ignore[attr-defined]


class GivesSeveralPlaces(Baseline):
    """A place is taken away although another is on its way out."""

    def __init__(self, cfg: Config, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        self.scheduler._all_active = lambda: True  # type: ignore[attr-defined]


class KeepsALoadersPlace(Baseline):
    """A warp that waits for a load keeps its place also if a ready warp needs it."""

    def __init__(self, cfg: Config, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        leave = self.scheduler._leave  # type: ignore[attr-defined]
        self.scheduler._leave = lambda *reasons: leave(*reasons[:-1], 0)  # type: ignore[attr-defined]


class KeepsAPlaceWithoutBeats(Baseline):
    """A warp keeps its place however long it has no beat."""

    def __init__(self, cfg: Config, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        self.scheduler._starved = lambda idle: 0  # type: ignore[attr-defined]


class CountsFromThePlace(Baseline):
    """Beats do not make the count of cycles without one begin anew."""

    def step(self, stimulus):  # type: ignore[no-untyped-def]
        self.scheduler._idle = self.scheduler._active  # type: ignore[attr-defined]
        return super().step(stimulus)


class GivesThePlaceToAWarpWithoutBeats(Baseline):
    """A warp that is ready gets a place also if it has no beat and another one has."""

    def __init__(self, cfg: Config, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        scheduler = self.scheduler
        assert isinstance(scheduler, TwoLevel)
        activate = scheduler._activate

        def regardless(ready: int) -> int:
            frame, scheduler._frame = scheduler._frame, SimpleNamespace(buffered=0)  # type: ignore[assignment]
            word = activate(ready)
            scheduler._frame = frame
            return word

        scheduler._activate = regardless  # type: ignore[method-assign]


class TakesEveryLoadForAMiss(Baseline):
    """A load is long from its issue."""

    def __init__(self, cfg: Config, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        self.frame._from_issue = True  # type: ignore[attr-defined]


class HearsOfNoMiss(Baseline):
    """No load is ever long."""

    def __init__(self, cfg: Config, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        self.frame.missed = lambda missed: None  # type: ignore[attr-defined]


class HearsOfTheFirstRegister(Baseline):
    """A wide load that misses makes one register long."""

    def __init__(self, cfg: Config, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        missed = self.frame.missed  # type: ignore[attr-defined]
        self.frame.missed = lambda one: missed(Missed(one.warp, one.dest, 1))  # type: ignore[attr-defined]


class ComesBackForItsHead(Baseline):
    """A warp gets a place as soon as its head beat can issue."""

    def __init__(self, cfg: Config, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        self.scheduler._all_back = False  # type: ignore[attr-defined]


class LeavesForItsHead(Baseline):
    """A warp suspends at a mark only for the loads that its head beat needs."""

    def __init__(self, cfg: Config, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        self.scheduler._suspend = "pending"  # type: ignore[attr-defined]


class SuspendsTwice(Baseline):
    """A warp that comes back suspends at the same beat again."""

    def step(self, stimulus):  # type: ignore[no-untyped-def]
        self.scheduler._resumed = 0  # type: ignore[attr-defined]
        return super().step(stimulus)


_STARVED: dict[str, object] = {"starved_after": 3, "branch_delay": 20}
_NEEDED: dict[str, object] = {"suspend_barrier": "needed"}
_OUTSTANDING: dict[str, object] = {"suspend": "outstanding", "resume": "all"}
MUTANTS: dict[type[Baseline], tuple[dict[str, object], str]] = {
    LetsGoEarly: ({}, "memory"),
    TakesAllLoadsForShort: ({}, "memory"),
    ForgetsThePointer: ({}, "memory"),
    GivesTheHighestPlace: ({}, "mixed"),
    KeepsWaiters: ({}, "control"),
    GivesPlacesThatNobodyNeeds: (_NEEDED, "control"),
    GivesSeveralPlaces: (_NEEDED, "control"),
    KeepsALoadersPlace: ({**_OUTSTANDING, "suspend_load": "needed"}, "memory"),
    ComesBackForItsHead: ({"resume": "all"}, "memory"),
    KeepsAPlaceWithoutBeats: (_STARVED, "control"),
    CountsFromThePlace: (_STARVED, "control"),
    GivesThePlaceToAWarpWithoutBeats: (_STARVED, "control"),
    TakesEveryLoadForAMiss: ({"long_from": "miss"}, "memory"),
    HearsOfNoMiss: ({"long_from": "miss"}, "memory"),
    HearsOfTheFirstRegister: ({"long_from": "miss"}, "memory"),
    LeavesForItsHead: ({"suspend": "strands", "resume": "all"}, "memory"),
    SuspendsTwice: ({"suspend": "always"}, "mixed"),
}


@pytest.mark.plain
@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_mutant_is_caught(mutant: type[Baseline]) -> None:
    changes, profile = MUTANTS[mutant]
    cfg = CFG.replace(warps=8, **changes)
    caught = 0
    for seed in range(3):
        trace = stress_trace(seed, profile=profile, length=60, warps_per_cta=[4, 3])
        watch_places(cfg, trace)
        try:
            watch_places(cfg, trace, mutant, limit=20_000)
        except (Broken, AssertionError, KeyError) as error:
            print(f"seed {seed}: {error!r}")
            caught += 1
    assert caught, f"{mutant.__name__} passed"
