"""A start is what the page says (docs/machine.md, section 1), and no part of what is counted behind it.

No scheme has one: these tests bring a file of their own, which takes some cycles until it could take a kernel.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from tests.golden.invariants import Broken
from tests.golden.machines import Packed, layout_of
from tests.golden.rf.packed.scenario import get, make, put, run_packed, valued
from tests.golden.scenario import NOP, hand_trace
from tests.golden.start import StartWatcher
from warpfile.golden.rf.packed.file import PackedFile
from warpfile.golden.run import observations
from warpfile.schemes import SCHEMES, find
from warpfile.spec.contract import Gives
from warpfile.spec.environment import Environment
from warpfile.spec.schemes.packed import PackedConfig
from warpfile.spec.workload import prepare

START = 32  #: cycles
PLAIN, PROGRAM = make(), valued([put(register, 0x1234) for register in (1, 3, 5)] + [get(1, 3, 5)])


def starting(cfg: PackedConfig) -> PackedConfig:
    """The same of a file that has a start."""

    class Starting(type(cfg)):  # type: ignore[misc]
        @property
        def gives(self) -> Gives:
            return dataclasses.replace(super().gives, starts=True)

    made = Starting(**{field.name: getattr(cfg, field.name) for field in dataclasses.fields(cfg)})
    assert isinstance(made, PackedConfig)
    return made


CFG = starting(PLAIN)


class StartingFile(PackedFile):
    """It starts in the first ``START`` cycles."""

    started = False

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._over = 0
        self.kernel_ready = False

    def edge(self, cycle: int) -> int:
        """See the contract."""
        word = super().edge(cycle)
        self._over += 1
        self.started = self._over >= START
        self.kernel_ready = self.kernel_ready and self.started
        return word


class Starting(Packed):
    """A machine with this file."""

    file_kind = StartingFile


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_machine_takes_what_is_offered_as_soon_as_its_start_is_over(scheme: str) -> None:
    cfg = find(scheme).configuration("tiny")
    layout, trace = layout_of(scheme, cfg), find(scheme).annotated(cfg, hand_trace([NOP], [NOP]))
    model, environment = find(scheme).golden(cfg, layout), Environment(cfg, prepare(cfg, trace), layout)
    start = StartWatcher()
    for word in observations(model, environment, 10_000):
        start.check(layout.unpack(word))
    start.check_end(model.counters)
    assert start.before == environment.start_cycles == 0
    assert environment.cycles == start.since == environment.cycle


def test_a_start_changes_no_counter_but_its_own() -> None:
    counters = run_packed(CFG, PROGRAM, Starting).model.counters
    assert counters.pop("start_cycles") == START
    plain = run_packed(PLAIN, PROGRAM).model.counters
    assert plain.pop("start_cycles") == 0 and plain == counters


def observed(machine: type[Packed]) -> StartWatcher:
    """A whole run of which the start alone is watched."""
    start, result = StartWatcher(), run_packed(CFG, PROGRAM, machine)
    for fields in result.fields:
        start.check(fields)
    start.check_end(result.model.counters)
    return start


class TooEarly(Starting):
    """Its start seems to be over a cycle before it is."""

    def step(self, stimulus: Any) -> int:
        self.file.started |= self.cycle == START - 1
        return super().step(stimulus)


class TooLate(Starting):
    """Its start seems to take a cycle more."""

    def step(self, stimulus: Any) -> int:
        self.file.started &= self.cycle != START
        return super().step(stimulus)


class Again(Starting):
    """It seems to start again in the end."""

    def step(self, stimulus: Any) -> int:
        self.file.started &= self.cycle != START + 20
        return super().step(stimulus)


class Idle(Starting):
    """Its start counts as cycles without a beat."""

    def _choose(self, candidates: int, room: int) -> int:
        self._started = True
        return super()._choose(candidates, room)


class Counted(Starting):
    """Its start counts as cycles."""

    @property
    def counters(self) -> dict[str, int]:
        return super().counters | {"cycles": self.cycle}


class Forgotten(Starting):
    """Its start counts nowhere."""

    @property
    def counters(self) -> dict[str, int]:
        return super().counters | {"start_cycles": 0}


@pytest.mark.parametrize("mutant", [TooEarly, TooLate, Again, Idle, Counted, Forgotten])
def test_a_wrong_start_is_noticed(mutant: type[Packed]) -> None:
    observed(Starting)
    with pytest.raises(Broken):
        observed(mutant)
