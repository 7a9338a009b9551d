"""Wrong models that the watcher or the operands' check must catch."""

from __future__ import annotations

import random

import pytest

from tests.golden.machines import Shrf
from tests.golden.rf.shrf.scenario import shrf_config
from tests.golden.rf.shrf.test_random import checked
from warpfile.golden import StaleOperand
from warpfile.golden.collectors.contract import Heads
from warpfile.golden.rf.shrf.file import LeveledFile
from warpfile.spec.stimulus import Result
from warpfile.spec.stress import PROFILES


class HoldsNobody(LeveledFile):
    """Head beats use entries whatever is under way."""

    def gate(self, heads: Heads) -> None:
        """Hold no warp."""
        self.hold = 0


class LetsResultsGoFirst(LeveledFile):
    """A result is written beside a bring."""

    def accept(self, cycle: int, results: list[Result | None], valid: int, store: int) -> int:
        """Hide what comes in."""
        incoming, self._incoming = self._incoming, []
        accepted = super().accept(cycle, results, valid, store)
        self._incoming = incoming
        return accepted


class TakesTwoResults(LeveledFile):
    """The operand register file has several write ports."""

    def _takes(self, cycle: int, port: int, result: Result, chosen: set[str], filling: bool) -> bool:
        return super()._takes(cycle, port, result, chosen - {"orf"}, filling)


class CompletesBeforeItsBank(LeveledFile):
    """A result of the main file completes as soon as one that an entry has."""

    def _complete(self, cycle: int, port: int, result: Result, length: int) -> None:
        super()._complete(cycle, port, result, 1)


class WritesMainAlways(LeveledFile):
    """Every result asks its bank."""

    def __init__(self, *args: object) -> None:
        super().__init__(*args)  # type: ignore[arg-type]
        self._hints.skips = lambda result: False  # type: ignore[method-assign]


class ForgetsTooOften(LeveledFile):
    """A place loses its entries when a beat of it is marked."""

    def gate(self, heads: Heads) -> None:
        """Lose what every place holds."""
        super().gate(heads)
        for held in self._entries._held:
            held.clear()


MUTANTS = (
    HoldsNobody,
    LetsResultsGoFirst,
    TakesTwoResults,
    CompletesBeforeItsBank,
    WritesMainAlways,
    ForgetsTooOften,
)


@pytest.mark.plain
@pytest.mark.parametrize("scheduler", ["two_level", "gto"])
@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_mutant_is_caught(mutant: type[LeveledFile], scheduler: str) -> None:
    machine = type(mutant.__name__, (Shrf,), {"file_kind": mutant})
    caught = 0
    for seed in range(6):
        rng = random.Random(seed)
        levels = {"lrf": rng.choice(("one", "split")), "scheduler": scheduler}
        cfg = shrf_config("tiny", bank_cycles=2, ports=6, write_back_ports=6, **levels)
        try:
            checked(cfg, seed, list(PROFILES)[seed % len(PROFILES)], seed, machine)
        except (AssertionError, StaleOperand):
            caught += 1
            break
    assert caught
