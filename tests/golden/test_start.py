"""A start is what the page says (docs/machine.md, section 1), and no part of what is counted behind it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.golden.invariants import Broken
from tests.golden.machines import Packed, layout_of
from tests.golden.rf.packed.scenario import get, make, put, run_packed, valued
from tests.golden.scenario import NOP, hand_trace
from tests.golden.start import StartWatcher
from warpfile.golden.run import observations
from warpfile.schemes import SCHEMES, find
from warpfile.spec.config import Config
from warpfile.spec.environment import Environment
from warpfile.spec.workload import prepare

#: Schemes with a renaming table; of `corf_plus` all registers of a warp are in one memory of it.
RENAMED = {
    "corf": lambda cfg, warp, register: (warp + register) % cfg.banks,
    "corf_plus": lambda cfg, warp, register: warp % cfg.banks,
    "larf": lambda cfg, warp, register: (warp + register) % cfg.banks,
}
CFG, PROGRAM = make(), valued([put(register, 0x1234) for register in (1, 3, 5)] + [get(1, 3, 5)])


def entries(scheme: str, cfg: Config) -> int:
    """Entries of the largest memory of the table, each cleared in a cycle of its own (docs/schemes/corf.md, section 4):
    one per warp and register."""
    home = RENAMED[scheme]
    names = ((warp, register) for warp in range(cfg.warps) for register in range(cfg.register_names))
    return max(Counter(home(cfg, *name) for name in names).values())


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_machine_takes_what_is_offered_as_soon_as_its_start_is_over(scheme: str) -> None:
    cfg = find(scheme).configuration("tiny")
    layout, trace = layout_of(scheme, cfg), find(scheme).annotated(cfg, hand_trace([NOP], [NOP]))
    model, environment = find(scheme).golden(cfg, layout), Environment(cfg, prepare(cfg, trace), layout)
    start = StartWatcher()
    for word in observations(model, environment, 10_000):
        start.check(layout.unpack(word))
    start.check_end(model.counters)
    assert start.before == environment.start_cycles == (entries(scheme, cfg) if scheme in RENAMED else 0)
    assert environment.cycles == start.since == environment.cycle - start.before


@pytest.mark.parametrize("scheme", RENAMED)
def test_a_table_is_as_long_at_the_preset_of_its_scheme_as_the_start_is_said_to_be(scheme: str) -> None:
    cfg = find(scheme).configuration(find(scheme).preset)
    assert cfg.table_rows == entries(scheme, cfg)  # type: ignore[attr-defined]


def test_a_start_changes_no_counter_but_its_own() -> None:
    class Clear(Packed):
        """Its table is clear at once."""

        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            while self.file.table.clearing:
                self.file.table.edge()

    plain, clear = (run_packed(CFG, PROGRAM, machine).model.counters for machine in (Packed, Clear))
    # That it is clear is seen in the next cycle: a register.
    assert (plain.pop("start_cycles"), clear.pop("start_cycles")) == (CFG.table_rows, 1)
    assert plain == clear


def observed(machine: type[Packed]) -> StartWatcher:
    """A whole run of which the start alone is watched."""
    start, result = StartWatcher(), run_packed(CFG, PROGRAM, machine)
    for fields in result.fields:
        start.check(fields)
    start.check_end(result.model.counters)
    return start


class TooEarly(Packed):
    """Its start seems to be over a cycle before it is."""

    def step(self, stimulus: Any) -> int:
        self.file.started |= self.cycle == CFG.table_rows - 1
        return super().step(stimulus)


class TooLate(Packed):
    """Its start seems to take a cycle more."""

    def step(self, stimulus: Any) -> int:
        self.file.started &= self.cycle != CFG.table_rows
        return super().step(stimulus)


class Again(Packed):
    """It seems to start again in the end."""

    def step(self, stimulus: Any) -> int:
        self.file.started &= self.cycle != CFG.table_rows + 20
        return super().step(stimulus)


class Idle(Packed):
    """Its start counts as cycles without a beat."""

    def _choose(self, candidates: int, room: int) -> int:
        self._started = True
        return super()._choose(candidates, room)


class Counted(Packed):
    """Its start counts as cycles."""

    @property
    def counters(self) -> dict[str, int]:
        return super().counters | {"cycles": self.cycle}


class Forgotten(Packed):
    """Its start counts nowhere."""

    @property
    def counters(self) -> dict[str, int]:
        return super().counters | {"start_cycles": 0}


@pytest.mark.parametrize("mutant", [TooEarly, TooLate, Again, Idle, Counted, Forgotten])
def test_a_wrong_start_is_noticed(mutant: type[Packed]) -> None:
    observed(Packed)
    with pytest.raises(Broken):
        observed(mutant)
