"""Caches with one mistake each, which the watcher or the operands must catch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.golden.machines import Ltrf
from tests.golden.rf.ltrf.test_random import random_case, watch_ltrf
from warpfile.golden import StaleOperand
from warpfile.golden.copies import ALL_LANES
from warpfile.golden.rf.ltrf.file import PrefetchedFile
from warpfile.golden.run import Stuck
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.ltrf import OPEN, LtrfConfig

pytestmark = pytest.mark.plain

Mistake = Callable[[PrefetchedFile], None]


def brings_nothing(file: PrefetchedFile) -> None:
    """No register is brought."""
    for part in file.partitions.parts:
        part.needed = lambda registers: 0  # type: ignore[method-assign]


def moves_the_dead(file: PrefetchedFile) -> None:
    """All registers are live."""
    for part in file.partitions.parts:
        part._liveness = False


def moves_the_clean(file: PrefetchedFile) -> None:
    """All registers are dirty."""
    for part in file.partitions.parts:
        part._dirty = False


def trusts_loads_of_some_lanes(file: PrefetchedFile) -> None:
    """A register is not saved for which some lanes are on their way."""
    issued = file.partitions.issued

    def wrong(warp: int, entry: Any) -> None:
        issued(warp, entry)
        if entry.executes and entry.beat.long:
            file.partitions.parts[file._places.place[warp]].incoming |= entry.dests

    file.issued = wrong  # type: ignore[method-assign]


def forgets_what_returned(file: PrefetchedFile) -> None:
    """A load that returned is still expected."""
    write = file.entrance._write

    def wrong(cycle: int, port: int, place: int, result: Any) -> bool:
        before = file.partitions.parts[place].incoming
        written = write(cycle, port, place, result)
        file.partitions.parts[place].incoming = before
        return written

    file.entrance._write = wrong  # type: ignore[method-assign]


def believes_hints_of_diverged_beats(file: PrefetchedFile) -> None:
    """A dead hint counts whatever lanes read."""

    def dead(entry: Any) -> int:
        at = file.partitions._dead_at
        return sum(1 << r for slot, r in enumerate(entry.beat.sources) if entry.beat.hints >> at + slot & 1)

    file.partitions._dead = dead  # type: ignore[method-assign]


def forgets_what_is_live(file: PrefetchedFile) -> None:
    """A warp that comes back has all registers live."""
    file.partitions._livenesses = [-1] * len(file.partitions._livenesses)
    save = file.partitions._save

    def wrong(place: int) -> None:
        save(place)
        file.partitions._livenesses = [-1] * len(file.partitions._livenesses)

    file.partitions._save = wrong  # type: ignore[method-assign]


def writes_all_lanes(file: PrefetchedFile) -> None:
    """A parked result overwrites the lanes that it does not have."""
    store = file.main.store

    def wrong(bank: int, row: int, before: int, result: Any) -> None:
        file.main.rows[bank][row] = result.row if result.mask == ALL_LANES else -2
        if result.mask == ALL_LANES:
            store(bank, row, before, result)

    file.main.store = wrong  # type: ignore[method-assign]


def takes_results_too_long(file: PrefetchedFile) -> None:
    """A result is written to the cache although its place is asked for."""
    release = file.partitions.release

    def wrong(asked: int) -> int:
        released = release(asked)
        file.partitions.takes = file.partitions.where[OPEN]
        return released

    file.release = wrong  # type: ignore[method-assign]


def remembers_the_last_warp(file: PrefetchedFile) -> None:
    """A new warp is taken for one that has an interval."""
    file.partitions.launched = lambda warp: None  # type: ignore[method-assign]


def mixes_up_intervals(file: PrefetchedFile) -> None:
    """The last PREFETCH says what the interval of every warp is."""
    move = file.partitions._move

    def wrong(recall: int, prefetch: int, moving: int) -> None:
        move(recall, prefetch, moving)
        if prefetch:
            sets = file.partitions._working_sets
            sets[:] = [file.partitions.operand] * len(sets)

    file.partitions._move = wrong  # type: ignore[method-assign]


def saves_nothing(file: PrefetchedFile) -> None:
    """No register is written back."""
    for part in file.partitions.parts:
        part.kept = lambda registers: 0  # type: ignore[method-assign]


def stays_dirty(file: PrefetchedFile) -> None:
    """What is brought is as dirty as what had its name before."""
    step_in = file.partitions._step_in

    def wrong(place: int, coming: int) -> None:
        before = file.partitions.parts[place].dirty
        step_in(place, coming)
        file.partitions.parts[place].dirty = before

    file.partitions._step_in = wrong  # type: ignore[method-assign]


def saves_what_comes(file: PrefetchedFile) -> None:
    """A load that overwrites a register is not known."""
    let_go = file.partitions._let_go

    def wrong(releasing: int) -> None:
        for one in file.partitions.parts:
            one.incoming = 0
        let_go(releasing)

    file.partitions._let_go = wrong  # type: ignore[method-assign]


def never_urgent(file: PrefetchedFile) -> None:
    """A channel waits for ever."""
    end = file.backs._end_loads

    def wrong() -> None:
        end()
        file.backs.urgent = 0

    file.backs._end_loads = wrong  # type: ignore[method-assign]


def urgent_at_once(file: PrefetchedFile) -> None:
    """A channel goes first after one lost cycle."""
    end = file.backs._end_loads

    def wrong() -> None:
        lost = file.backs.loading & ~file.backs._served
        end()
        file.backs.urgent |= lost

    file.backs._end_loads = wrong  # type: ignore[method-assign]


def passes_the_crossbar_too_fast(file: PrefetchedFile) -> None:
    """A write-back passes in one beat less."""
    file.backs._beats -= 1


def takes_banks_from_bank_0_on(file: PrefetchedFile) -> None:
    """All places begin with the same bank."""
    file.partitions._first = [0] * len(file.partitions._first)


def picks_before_the_row_is_read(file: PrefetchedFile) -> None:
    """A fill does not wait for the write-back of its cache bank."""
    file.fills._directory = Blind(file)  # type: ignore[assignment]


class Blind:
    """A directory in which nothing goes out."""

    def __init__(self, file: PrefetchedFile) -> None:
        self._file = file
        self.outs = [0] * len(file.directory.outs)

    def __getattr__(self, name: str) -> object:
        return getattr(self._file.directory, name)


def overlooks_full_latches(file: PrefetchedFile) -> None:
    """A fill reads what the latch has yet to write, or what is parked."""
    main, fits = file.main, file.fills.fits

    def wrong(cycle: int, bank: int) -> bool:
        full, parked, main.full, main.parked = main.full, main.parked, 0, 0
        fitting = fits(cycle, bank)
        main.full, main.parked = full, parked
        return fitting

    file.fills.fits = wrong  # type: ignore[method-assign]


def overlooks_taken_latches(file: PrefetchedFile) -> None:
    """A write-back goes into a latch that is not free."""
    main, choose = file.main, file.backs._choose_grants

    def wrong(cycle: int, starting: int) -> None:
        taken, main.taken = main.taken, 0
        choose(cycle, starting)
        main.taken = taken

    file.backs._choose_grants = wrong  # type: ignore[method-assign]


def fills_too_often(file: PrefetchedFile) -> None:
    """A cache bank has no pace of its own."""
    fits = file.fills.fits

    def wrong(cycle: int, bank: int) -> bool:
        file.fills.free[bank] = 0
        return fits(cycle, bank)

    file.fills.fits = wrong  # type: ignore[method-assign]


def steps_in_at_once(file: PrefetchedFile) -> None:
    """Steps in do not wait until banks are free."""
    partitions = file.partitions
    step = partitions._step

    def wrong(place: int) -> None:
        partitions._leaves = 0
        step(place)

    partitions._step = wrong  # type: ignore[method-assign]


def keeps_banks_at_exit(file: PrefetchedFile) -> None:
    """A warp that ends leaves its banks behind."""
    leave, parts = file.partitions._leave, file.partitions.parts

    def wrong(place: int) -> None:
        occupied = parts[place].occupied
        leave(place)
        parts[place].occupied = occupied

    file.partitions._leave = wrong  # type: ignore[method-assign]


def releases_too_early(file: PrefetchedFile) -> None:
    """What a write-back channel still has is forgotten when it was read."""
    read = file.directory.read

    def wrong(place: int, bank: int) -> None:
        read(place, bank)
        file.partitions.parts[place].works -= 1

    file.directory.read = wrong  # type: ignore[method-assign]
    file.directory.saved = lambda place: None  # type: ignore[method-assign]


MISTAKES: list[Mistake] = [
    *(saves_nothing, brings_nothing, moves_the_dead, moves_the_clean, stays_dirty, saves_what_comes),
    *(trusts_loads_of_some_lanes, forgets_what_returned, believes_hints_of_diverged_beats, forgets_what_is_live),
    *(never_urgent, urgent_at_once, passes_the_crossbar_too_fast, writes_all_lanes, takes_results_too_long),
    *(remembers_the_last_warp, mixes_up_intervals, takes_banks_from_bank_0_on, picks_before_the_row_is_read),
    *(overlooks_full_latches, overlooks_taken_latches, fills_too_often, steps_in_at_once, keeps_banks_at_exit),
    releases_too_early,
]


def mutated(mistake: Mistake) -> type[Ltrf]:
    """A machine whose file makes a mistake."""

    class Mutant(Ltrf):
        def __init__(self, cfg: LtrfConfig, layout: ProbeLayout) -> None:
            super().__init__(cfg, layout)
            mistake(self.file)

    return Mutant


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_caught(mistake: Mistake) -> None:
    for seed in range(60):
        try:
            watch_ltrf(*random_case(seed), mutated(mistake))
        except (AssertionError, StaleOperand, Stuck, IndexError) as error:
            print(f"seed {seed}: {error!r}")
            return
    pytest.fail(f"{mistake.__name__} passed")
