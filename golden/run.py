"""Running a model against its environment, without RTL beside it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from mypy_extensions import mypyc_attr

from warpfile.spec.environment import Environment
from warpfile.spec.stimulus import Stimulus


class Model(Protocol):
    """What every golden model offers."""

    def step(self, stimulus: Stimulus) -> int:
        """Packed observation of this cycle; then the clock edge."""


@mypyc_attr(native_class=False)
class Stuck(AssertionError):
    """A run that does not end within its limit."""


def observations(model: Model, environment: Environment, limit: int = 10_000_000) -> Iterator[int]:
    """Observation words of a whole run, cycle by cycle. Raises :class:`Stuck` after ``limit`` cycles."""
    while not environment.done:
        if environment.cycle >= limit:
            raise Stuck(f"the run must end within {limit} cycles")
        word = model.step(environment.stimulus())
        environment.observe(word)
        yield word


def simulate(model: Model, environment: Environment, limit: int = 10_000_000) -> int:
    """Run to the end and return the counter ``cycles`` (docs/machine.md, section 9, "End")."""
    for _ in observations(model, environment, limit):
        pass
    return environment.cycles
