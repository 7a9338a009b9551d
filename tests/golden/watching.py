"""Runs under a watcher of invariants."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

from tests.golden.start import StartWatcher
from warpfile.golden.run import Model, Stuck
from warpfile.sim.counters import ObservedCounters
from warpfile.spec.environment import Environment
from warpfile.spec.probe import Fields, ProbeLayout
from warpfile.spec.stimulus import Stimulus


class Watched(Model, Protocol):
    """A model that counts."""

    @property
    def counters(self) -> Mapping[str, int]:
        """Sums so far."""


class Watcher(Protocol):
    """What objects, with an ``AssertionError``, to a cycle or to the end."""

    def check(self, stimulus: Stimulus, fields: dict[str, int]) -> None:
        """A cycle: its inputs and what was observed in it."""

    def check_end(self, counters: Mapping[str, int]) -> None:
        """The run is over."""


def watched(
    model: Watched,
    environment: Environment,
    layout: ProbeLayout,
    watcher: Watcher,
    limit: int,
    look: Callable[[], None] = lambda: None,
) -> Iterator[int]:
    """Observation words of a whole run that the watcher agrees with. ``look`` is called before every step, for who has
    to see the registered state. Raises :class:`Stuck` after ``limit`` cycles.
    """
    start = StartWatcher()
    while not environment.done:
        if environment.cycle >= limit:
            raise Stuck(f"the run must end within {limit} cycles")
        stimulus = environment.stimulus()
        look()
        word = model.step(stimulus)
        fields = layout.unpack(word)
        start.check(fields)
        watcher.check(stimulus, fields)
        environment.observe(word)
        yield word
    start.check_end(model.counters)
    watcher.check_end(model.counters)


def watch_counters(
    model: Watched,
    environment: Environment,
    layout: ProbeLayout,
    events: Callable[[Fields], Mapping[str, int]],
    watcher: Watcher,
    limit: int,
) -> None:
    """A whole run that the watcher agrees with. Its counters must be those of the probes, whose sums are ``events``."""
    observed = ObservedCounters(layout, events)
    for word in watched(model, environment, layout, watcher, limit):
        observed.add(word)
    counters, totals = model.counters, observed.totals() | {"bank_writes": environment.writes}
    assert {*totals, "instructions"} == set(counters)
    assert {name: counters[name] for name in totals} == totals
