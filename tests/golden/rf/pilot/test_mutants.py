"""Partitioned files with one mistake each, which the watcher or the operands must catch."""

from __future__ import annotations

import pytest

from tests.golden.invariants import Broken
from tests.golden.machines import Pilot
from tests.golden.rf.pilot.test_random import coming_and_going, moving, random_case, watch_pilot
from warpfile.golden import StaleOperand
from warpfile.golden.entry import Entry
from warpfile.golden.rf.engine import Served
from warpfile.golden.rf.pilot.moves import SLOW_WRITE
from warpfile.golden.rf.pilot.phases import LOAD, REMAP, SORT
from warpfile.golden.run import Stuck
from warpfile.spec.cta_dispatcher import Launch
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.pilot import PilotConfig

pytestmark = pytest.mark.plain


class CountsEverybody(Pilot):
    """Beats of all warps are the pilot's."""

    def __init__(self, cfg: PilotConfig, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        phases, issued = self.file.phases, self.file.issued

        def note(warp: int, entry: Entry) -> None:
            pilot, phases.pilot = phases.pilot, warp if not entry.exits else phases.pilot
            issued(warp, entry)
            phases.pilot = pilot

        self.file.issued = note  # type: ignore[method-assign]


class CountsWithoutLanes(Pilot):
    """A beat counts although it accesses nothing."""

    def __init__(self, cfg: PilotConfig, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        counts = self.file.phases.counts

        def note(beat) -> None:  # type: ignore[no-untyped-def]
            counts._coming = [*beat.sources, *range(beat.dest, beat.dest + beat.dest_count)]

        counts.note = note  # type: ignore[method-assign]


class CountsNoDestinations(Pilot):
    """Reads alone are counted."""

    def __init__(self, cfg: PilotConfig, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        counts = self.file.phases.counts

        def note(beat) -> None:  # type: ignore[no-untyped-def]
            counts._coming = [*beat.sources] if beat.mask else []

        counts.note = note  # type: ignore[method-assign]


class HasTheLatestPilot(Pilot):
    """Every warp that is launched becomes the pilot."""

    def __init__(self, cfg: PilotConfig, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        phases, launched = self.file.phases, self.file.launched

        def launch(launch: Launch) -> None:
            launched(launch)
            phases.pilot = launch.warp

        self.file.launched = launch  # type: ignore[method-assign]


class GivesTheNewMapEarly(Pilot):
    """Warps that are launched in REMAP get the pilot's map."""

    def __init__(self, cfg: PilotConfig, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        phases, launched = self.file.phases, self.file.launched

        def launch(launch: Launch) -> None:
            phases.version |= phases.state == REMAP
            launched(launch)

        self.file.launched = launch  # type: ignore[method-assign]


class ShowsLaunchesEarly(Pilot):
    """A launch is seen in its own cycle."""

    def __init__(self, cfg: PilotConfig, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        phases, launched = self.file.phases, self.file.phases.launched

        def launch(warp: int) -> None:
            launched(warp)
            phases._settle(warp)

        phases.launched = launch  # type: ignore[method-assign]


class HasOneVersion(Pilot):
    """The new map holds for all warps at once."""

    def __init__(self, cfg: PilotConfig, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        homes, phases = self.file.homes, self.file.phases
        homes.table = lambda warp: homes.tables[phases.version]  # type: ignore[method-assign]


class LaunchesWhileLoading(Pilot):
    """Nobody waits for the hot list."""

    def __init__(self, cfg: PilotConfig, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        file, edge = self.file, self.file.edge

        def end(cycle: int) -> int:
            word = edge(cycle)
            file.launch_ready |= file.phases.state == LOAD
            return word

        file.edge = end  # type: ignore[method-assign]


class SortsUnstably(Pilot):
    """Of equal counts the last one comes first."""

    def __init__(self, cfg: PilotConfig, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        sorter = self.file.phases.sorter

        def take(register: int, count: int) -> None:
            place = sum(other > count for other, _ in sorter.slots)
            sorter.slots.insert(place, (count, register))
            del sorter.slots[cfg.fast_registers :]

        sorter.take = take  # type: ignore[method-assign]


class ForgetsARegister(Pilot):
    """The scan ends a register early."""

    def __init__(self, cfg: PilotConfig, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        phases = self.file.phases
        last = phases._last
        phases._last = lambda cycles, state: last(cycles - (phases.state == SORT), state)  # type: ignore[method-assign]


class TakesAHotPlace(Pilot):
    """A register that stays fast is swapped out."""

    def __init__(self, cfg: PilotConfig, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        for table in self.file.homes.tables:
            install = table.install
            table.install = lambda members, step, install=install: install(  # type: ignore[method-assign]
                [member if member >= cfg.fast_registers else -1 for member in members], step
            )


class SharesPlaces(Pilot):
    """Slow registers of all warps but the first begin where those of the one before end, less one."""

    def __init__(self, cfg: PilotConfig, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        homes = self.file.homes
        homes.launched = lambda warp, base: homes._base.__setitem__(warp, max(0, base - 1))  # type: ignore[method-assign]


class IgnoresTheMode(Pilot):
    """Fast places are always fast."""

    def __init__(self, cfg: PilotConfig, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        file, slow = self.file, cfg.slow_cycles
        file.banks._rule = lambda bank, row: cfg.bank_cycles if file.homes.is_fast(row) else slow


class WritesQuickly(Pilot):
    """A store leaves its bank after one cycle."""

    def __init__(self, cfg: PilotConfig, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        banks, claim = self.file.banks, self.file.banks.claim

        def hurried(cycle: int, bank: int, row: int = 0) -> bool:
            claimed = claim(cycle, bank, row)
            if claimed:
                banks._write_free[bank] = cycle + 1
            return claimed

        banks.claim = hurried  # type: ignore[method-assign]


class SwitchesLate(Pilot):
    """What issues in the last cycle of an epoch is lost."""

    def __init__(self, cfg: PilotConfig, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        epochs = self.file.epochs
        edge = epochs.edge
        epochs.edge = lambda issued: edge(issued * (epochs.cycle < cfg.epoch - 1))  # type: ignore[method-assign]


class NeedsMore(Pilot):
    """The threshold itself is too little."""

    def __init__(self, cfg: PilotConfig, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        self.file.epochs._threshold += 1


class LeavesTogether(Pilot):
    """A pipelined bank does not look at who leaves it."""

    def __init__(self, cfg: PilotConfig, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        self.file.banks._meets = lambda cycle, bank, row: False  # type: ignore[method-assign]


class TrustsEveryPilot(Pilot):
    """A register of the list that the pilot has missed is not noticed."""

    def __init__(self, cfg: PilotConfig, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        self.file.phases._misses = lambda: False  # type: ignore[method-assign]


MUTANTS = (
    *(CountsEverybody, CountsWithoutLanes, CountsNoDestinations, HasTheLatestPilot, GivesTheNewMapEarly),
    ShowsLaunchesEarly,
    *(HasOneVersion, LaunchesWhileLoading, SortsUnstably, ForgetsARegister, TakesAHotPlace, SharesPlaces),
    *(IgnoresTheMode, WritesQuickly, SwitchesLate, NeedsMore, LeavesTogether, TrustsEveryPilot),
)


class MovesAtOnce(Pilot):
    """Nobody waits until the machine is drained."""

    def __init__(self, cfg: PilotConfig, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        phases, edge = self.file.phases, self.file.phases.edge

        def end() -> None:
            phases.drained = True
            edge()

        phases.edge = end  # type: ignore[method-assign]


class ForgetsAWarp(Pilot):
    """Registers of the last slot stay where they are."""

    def __init__(self, cfg: PilotConfig, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        mover = self.file.phases.mover
        due = mover._is_due
        mover._is_due = lambda resident: due(resident & (1 << cfg.warps - 1) - 1)  # type: ignore[method-assign]


class UndoesNothing(Pilot):
    """New pairs are applied on top of the old ones."""

    def __init__(self, cfg: PilotConfig, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        phases, mover = self.file.phases, self.file.phases.mover
        due = mover._is_due
        mover._is_due = lambda resident: phases.version and due(resident)  # type: ignore[method-assign]


class WritesBack(Pilot):
    """Both registers of a pair are written where they were."""

    def __init__(self, cfg: PilotConfig, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        mover = self.file.phases.mover
        edge = mover.edge

        def end(cycle: int, resident: int, served: Served | None) -> bool:
            ends = edge(cycle, resident, served)
            if mover.access == SLOW_WRITE:
                mover._read.reverse()
            return ends

        mover.edge = end  # type: ignore[method-assign]


class IssuesMeanwhile(Pilot):
    """Nobody is held."""

    def __init__(self, cfg: PilotConfig, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        self.file._all = 0


@pytest.mark.parametrize("mutant", [MovesAtOnce, ForgetsAWarp, UndoesNothing, WritesBack, IssuesMeanwhile])
def test_a_mutant_that_moves_registers_is_caught(mutant: type[Pilot]) -> None:
    for seed in range(30):
        try:
            watch_pilot(*moving(seed), mutant, limit=30_000)
        except (Broken, StaleOperand, Stuck, AssertionError) as error:
            print(f"seed {seed}: {error!r}")
            return
    pytest.fail(f"{mutant.__name__} passed")


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_mutant_is_caught(mutant: type[Pilot]) -> None:
    for seed in range(30):
        try:
            cfg, trace = coming_and_going(seed // 2) if seed % 2 else random_case(seed // 2)
            watch_pilot(cfg, trace, mutant, limit=30_000)
        except (Broken, StaleOperand, Stuck, AssertionError) as error:
            print(f"seed {seed}: {error!r}")
            return
    pytest.fail(f"{mutant.__name__} passed")
