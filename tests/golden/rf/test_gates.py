"""A register file that gates head beats, and one whose registers have no place (docs/slots/rf.md)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.golden.machines import Baseline
from tests.golden.scenario import NOP, Run, hand_trace, op, run
from warpfile.golden.collectors.contract import Heads
from warpfile.golden.collectors.units.collectors import Units
from warpfile.golden.entry import Entry
from warpfile.golden.rf.banked.file import BankedFile
from warpfile.golden.rf.banks import Banks, Write
from warpfile.golden.rf.engine import Ask, EnginePort
from warpfile.golden.rf.plain import PlainFile
from warpfile.golden.scheduler.places import Places
from warpfile.spec.config import Config
from warpfile.spec.contract import Engine, Gives
from warpfile.spec.probe import ProbeLayout


class Open(Config):
    """A configuration whose register file gates, and has absent places."""

    @property
    def gives(self) -> Gives:
        """Both."""
        return Gives(cycles=self.bank_cycles, gates=True, absent=True)


CFG = Open(banks=2, collect="all", alu_latency=4, bank_skew="none")


class Gated(BankedFile):
    """Refuses, holds or yields warp 0 in the first cycles in which it may have a head beat; notes what it is told."""

    since, until = 2, 5
    gates: tuple[str, ...] = ()

    def __init__(self, cfg: Config, layout: ProbeLayout, places: Places | None) -> None:
        super().__init__(cfg, layout, places)
        self.hold = self.refuses = self.yields = self._cycle = 0
        self.told: list[tuple[int, int]] = []
        self.seen: list[tuple[int, int]] = []

    def gate(self, heads: Heads) -> None:
        """Over registered state."""
        self.seen.append((heads.buffered, heads.registers[0]))
        for name in ("hold", "refuses", "yields"):
            setattr(self, name, int(name in self.gates and self.since <= self._cycle < self.until))

    def refused(self, warp: int) -> None:
        """Note it."""
        self.told.append((self._cycle, warp))

    def edge(self, cycle: int) -> int:
        """Count."""
        self._cycle += 1
        return super().edge(cycle)


class NotesOffers(Units):
    """Knows every beat that it was offered."""

    offers: list[int]

    def accept(self, warp: int, entry: Entry) -> bool:
        self.offers = [*getattr(self, "offers", []), warp]
        return super().accept(warp, entry)


def gated(cfg: Config, gates: tuple[str, ...], *warps: list[object]) -> Run:
    """A run with such a file."""
    file = type("Gating", (Gated,), {"gates": gates})
    model = type("Built", (Baseline,), {"kind": NotesOffers, "file_kind": file})
    return run(cfg, hand_trace(*warps), model)  # type: ignore[arg-type]


def test_a_refusal_is_a_bubble_that_the_file_is_told_of_and_the_collectors_are_not() -> None:
    result = gated(CFG, ("refuses",), [NOP])
    model = result.model
    # The warp is launched in 0, its beat decoded in 1 and chosen from 2 on.
    assert model.file.told == [(2, 0), (3, 0), (4, 0)]  # type: ignore[attr-defined]
    assert result.issues() == [(5, 0), (6, 0)]
    assert model.collectors.offers == [0, 0]  # type: ignore[attr-defined]
    assert model.counters["issue_room"] == 3


def test_a_refusal_moves_no_pointer_of_the_scheduler() -> None:
    result = gated(CFG.replace(scheduler="lrr"), ("refuses",), [NOP] * 2, [NOP] * 2)
    assert [cycle for cycle, _ in result.model.file.told] == [3, 4]  # type: ignore[attr-defined]
    assert result.issues()[:2] == [(5, 0), (6, 1)]


def test_what_is_held_is_not_chosen() -> None:
    result = gated(CFG, ("hold", "refuses"), [NOP])
    assert not result.model.file.told  # type: ignore[attr-defined]
    assert result.issues() == [(5, 0), (6, 0)]


def test_the_file_sees_head_beats_and_pending_registers_of_registered_state() -> None:
    result = gated(CFG, (), [op((), 4)])
    seen = result.model.file.seen  # type: ignore[attr-defined]
    assert [buffered for buffered, _ in seen] == [f["buffered"] for f in result.fields]
    issue, write = result.when("issue")[0], result.when("write")[0]
    assert [cycle for cycle, (_, pending) in enumerate(seen) if pending == 1 << 4] == [*range(issue + 1, write + 1)]


def test_a_warp_that_yields_gives_its_place_to_another_one_and_is_not_ready() -> None:
    cfg = CFG.replace(scheduler="two_level", active_warps=1, warps=2)
    result = gated(cfg, ("hold", "yields"), [NOP], [NOP] * 3)
    # Warp 0 has the place from 2 on, yields, drains from 3 and is releasing from 4 on; warp 1 gets it in 5.
    assert result.events("suspend_barrier") == [(2, 1)]
    assert result.events("activate") == [(1, 1), (5, 2), (10, 1)]
    free = gated(cfg, (), [NOP], [NOP] * 3)
    assert not free.when("suspend_barrier")


def test_a_file_without_gates_is_asked_nothing() -> None:
    result = run(Config(banks=2), hand_trace([NOP]), type("Built", (Baseline,), {"file_kind": Gated}))
    assert not result.model.file.seen  # type: ignore[attr-defined]


class Lacking(PlainFile):
    """R4 has no place; its row would be that of R5, in the same bank as that of R7."""

    def __init__(self, cfg: Config, layout: ProbeLayout, places: Places | None) -> None:
        super().__init__(cfg, self)  # type: ignore[arg-type]

    def place(self, warp: int, register: int) -> tuple[int, int]:
        row, bank = divmod(register, 2)
        return (1, ~2) if register == 4 else (bank, row)

    refuses = yields = 0

    def gate(self, heads: Heads) -> None:
        """All may issue."""

    def refused(self, warp: int) -> None:
        """Nobody is."""

    def launched(self, launch: object, base: int = 0) -> None:
        """Places do not depend on warps."""


@pytest.mark.parametrize("rows_differ", [False, True])
def test_a_result_without_a_place_is_accepted_beside_the_ports_and_lost(rows_differ: bool) -> None:
    cfg = CFG.replace(bank_cycles=3)
    assert isinstance(cfg, Open)
    file: Callable[..., PlainFile] = Lacking
    model = type("Built", (Baseline,), {"file_kind": file})
    far = op((), 4) if rows_differ else op((), 7)
    result = run(cfg, hand_trace([op((), 5), far, op((5,), 6)], registers=8), model)  # type: ignore[arg-type]
    first, second = result.when("write")[:2]
    assert second - first == (1 if rows_differ else 3)  # R5 and R7 share a bank, which is busy for three cycles
    assert result.model.operands_checked == 1 and result.model.counters["bank_writes"] == 3
    with pytest.raises(AssertionError, match="value 0 in R4"):
        run(cfg, hand_trace([op((), 5), op((), 4), op((4,), 6)], registers=8), model)  # type: ignore[arg-type]


def test_an_engine_s_write_without_a_place_is_granted_on_a_busy_bank() -> None:
    banks = Banks(CFG)
    engine = EnginePort(Engine("test", 2), banks)
    assert banks.claim(0, 1)
    assert engine.grant(0, {0: Ask(1, ~2, Write(~2, 7)), 1: Ask(1, 2, Write(2, 8))}) == [(0, -1)]
    assert banks.edge() == 1
    assert banks.rows[1][2] == -1
