"""A part: one choice for one slot of the machine, with everything that is declared of it."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from warpfile.spec.config import Config
from warpfile.spec.environment import Stimulus
from warpfile.spec.probe import Fields, Probe
from warpfile.spec.structure import Structure
from warpfile.spec.trace import Trace

if TYPE_CHECKING:
    import numpy as np

    from warpfile.compiler.model import Function

SLOTS = ("scheduler", "collectors", "rf")


class GoldenModel(Protocol):
    """What the lockstep needs of a cycle model (docs/machine.md, section 8 and 10)."""

    operands_checked: int

    @property
    def counters(self) -> dict[str, int]:
        """Sums since the beginning."""

    @property
    def trail(self) -> Sequence[tuple[int, ...]]:
        """What the model decided interval after interval, if it does."""

    def step(self, stimulus: Stimulus) -> int:
        """Observation word of the cycle with these inputs; then the clock edge."""


def found(place: str) -> Any:
    """What ``module:name`` names; models, RTL and passes are imported when a part is first used."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)


@dataclass(frozen=True)
class Hints:
    """The annotation pass of a part.

    ``label`` says what hints of a configuration hold for. ``shown`` computes, by name, what ``warpfile analyze``
    shows of a function: hints by offset. ``annotate`` gives the hints of a trace's beats; with a seed some are
    replaced at random by others that are right too, so that tests meet all combinations.
    """

    label: Callable[[Config], str]
    shown: Mapping[str, Callable[[Function, Config], Mapping[int, object]]]
    annotate: Callable[[Config, Trace, int | None], np.ndarray]


def _no_probes(cfg: Any) -> tuple[Probe, ...]:
    return ()


def _no_events(fields: Fields) -> dict[str, int]:
    return {}


@dataclass(frozen=True)
class Part:
    """One choice for a slot.

    ``golden`` and ``rtl`` name the classes (``module:name``); docs/architecture.md, section 4 says how they are made
    and what they offer. ``parameters`` is the configuration's class, with the part's own fields. ``settings`` changes
    fields of presets, by the preset's name; "" stands for all presets and yields to the others. ``events`` sums the
    part's own counters from its probes, which the golden model sums from its own events.
    """

    name: str
    slot: str
    summary: str
    golden: str
    rtl: str
    parameters: type[Config] = Config
    probes: Callable[[Any], tuple[Probe, ...]] = _no_probes
    events: Callable[[Fields], Mapping[str, int]] = _no_events
    settings: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    structures: tuple[Structure, ...] = ()  #: what it stores
    hints: Hints | None = None
    harness: str = ""  #: place of a function that gives Verilog for the test harness, to check more
    reached: tuple[str, ...] = ()  #: counters that the regression must not leave at zero
