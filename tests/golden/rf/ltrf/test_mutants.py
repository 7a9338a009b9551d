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

Mistake = Callable[[PrefetchedFile, Any], None]


def fills_before_write_backs(file: PrefetchedFile, part: Any) -> None:
    """The lowest pending register is next, whatever it is for."""

    def nominate() -> None:
        pending = part.pending
        part.candidate = (pending & -pending).bit_length() - 1
        part.pending &= pending - 1 if pending else 0

    part.nominate = nominate


def highest_first(file: PrefetchedFile, part: Any) -> None:
    """The highest pending register is next."""

    def nominate() -> None:
        part.candidate = (part.pending & ~part.working or part.pending).bit_length() - 1
        part.pending &= ~(1 << part.candidate) if part.pending else 0

    part.nominate = nominate


def banks_come_back_in_front(file: PrefetchedFile, part: Any) -> None:
    """A bank that is given back is the first to be taken."""

    def give(bank: int) -> None:
        part.occupied &= ~(1 << bank)
        part.free = part.free << part._bits | bank

    part.give = give


def saves_nothing(file: PrefetchedFile, part: Any) -> None:
    """No register is written back."""
    part.kept = lambda registers: 0


def brings_nothing(file: PrefetchedFile, part: Any) -> None:
    """No register is brought."""
    needed = part.needed
    part.needed = lambda registers: 0 if registers & part.cached else needed(registers)


def moves_the_dead(file: PrefetchedFile, part: Any) -> None:
    """All registers are live."""
    part._liveness = False


def moves_the_clean(file: PrefetchedFile, part: Any) -> None:
    """All registers are dirty."""
    part._dirty = False


def stays_dirty(file: PrefetchedFile, part: Any) -> None:
    """What is brought is as dirty as what had its name before."""
    step_in = part.step_in

    def wrong() -> int:
        before = part.dirty
        register: int = step_in()
        part.dirty = before
        return register

    part.step_in = wrong


def saves_what_comes(file: PrefetchedFile, part: Any) -> None:
    """A load that overwrites a register is not known."""
    release = part.release

    def wrong() -> None:
        part.incoming = 0
        release()

    part.release = wrong


def trusts_loads_of_some_lanes(file: PrefetchedFile, part: Any) -> None:
    """A register is not saved for which some lanes are on their way."""
    issued = file.partitions.issued

    def wrong(warp: int, entry: Any) -> None:
        issued(warp, entry)
        if entry.executes and entry.beat.long:
            file.partitions.parts[file._places.place[warp]].incoming |= entry.dests

    file.issued = wrong  # type: ignore[method-assign]


def forgets_what_returned(file: PrefetchedFile, part: Any) -> None:
    """A load that returned is still expected."""
    write = file.entrance._write

    def wrong(cycle: int, port: int, place: int, result: Any) -> bool:
        before = file.partitions.parts[place].incoming
        written = write(cycle, port, place, result)
        file.partitions.parts[place].incoming = before
        return written

    file.entrance._write = wrong  # type: ignore[method-assign]


def believes_hints_of_diverged_beats(file: PrefetchedFile, part: Any) -> None:
    """A dead hint counts whatever lanes read."""

    def dead(entry: Any) -> int:
        at = file.partitions._dead_at
        return sum(1 << r for slot, r in enumerate(entry.beat.sources) if entry.beat.hints >> at + slot & 1)

    file.partitions._dead = dead  # type: ignore[method-assign]


def forgets_what_is_live(file: PrefetchedFile, part: Any) -> None:
    """A warp that comes back has all registers live."""
    file.partitions._livenesses = [-1] * len(file.partitions._livenesses)
    save = file.partitions._save

    def wrong(place: int) -> None:
        save(place)
        file.partitions._livenesses = [-1] * len(file.partitions._livenesses)

    file.partitions._save = wrong  # type: ignore[method-assign]


def opens_early(file: PrefetchedFile, part: Any) -> None:
    """A place is open, or released, while its last transfers go on."""
    file.partitions.free = lambda freed: None  # type: ignore[method-assign]
    transfers, take = file.transfers, file.transfers._take

    def wrong(place: int) -> None:
        take(place)
        file.partitions.parts[place].works = 0

    transfers._take = wrong  # type: ignore[method-assign]


def grants_one_place_only(file: PrefetchedFile, part: Any) -> None:
    """The lowest place is granted."""
    choose = file.transfers.choose

    def wrong(starting: int) -> None:
        file.transfers._pointer = 0
        choose(starting)

    file.transfers.choose = wrong  # type: ignore[method-assign]


def overlooks_main_banks(file: PrefetchedFile, part: Any) -> None:
    """A transfer is granted whatever its main bank does."""
    choose = file.transfers.choose

    def wrong(starting: int) -> None:
        busy, file.main.busy = file.main.busy, 0
        choose(0)
        file.main.busy = busy

    file.transfers.choose = wrong  # type: ignore[method-assign]


def overlooks_parked_results(file: PrefetchedFile, part: Any) -> None:
    """A transfer takes the main bank in which a parked result starts."""
    choose = file.transfers.choose
    file.transfers.choose = lambda starting: choose(0)  # type: ignore[method-assign]


def frees_main_banks_early(file: PrefetchedFile, part: Any) -> None:
    """A main bank is free a cycle early."""
    until = file.main.until
    file.main.until = lambda bank, cycle: until(bank, cycle - 1)  # type: ignore[method-assign]


def never_urgent(file: PrefetchedFile, part: Any) -> None:
    """A channel waits for ever."""
    file.channels._count_lost = lambda banks: None  # type: ignore[method-assign]


def urgent_at_once(file: PrefetchedFile, part: Any) -> None:
    """A channel goes first after one lost cycle."""

    def wrong(banks: int) -> None:
        file.channels.urgent |= banks

    file.channels._count_lost = wrong  # type: ignore[method-assign]


def passes_the_crossbar_too_fast(file: PrefetchedFile, part: Any) -> None:
    """A register passes in one beat less."""
    file.channels._beats -= 1


def writes_all_lanes(file: PrefetchedFile, part: Any) -> None:
    """A parked result overwrites the lanes that it does not have."""
    store = file.main.store

    def wrong(bank: int, row: int, before: int, result: Any) -> None:
        file.main.rows[bank][row] = result.row if result.mask == ALL_LANES else -2
        if result.mask == ALL_LANES:
            store(bank, row, before, result)

    file.main.store = wrong  # type: ignore[method-assign]


def takes_results_too_long(file: PrefetchedFile, part: Any) -> None:
    """A result is written to the cache although its place is asked for."""
    release = file.partitions.release

    def wrong(asked: int) -> int:
        released = release(asked)
        file.partitions.takes = file.partitions.where[OPEN]
        return released

    file.release = wrong  # type: ignore[method-assign]


def keeps_banks_at_exit(file: PrefetchedFile, part: Any) -> None:
    """A warp that ends leaves its banks behind."""
    leave = file.partitions._leave

    def wrong(place: int) -> None:
        leave(place)
        file.partitions._littered = 0

    file.partitions._leave = wrong  # type: ignore[method-assign]


def remembers_the_last_warp(file: PrefetchedFile, part: Any) -> None:
    """A new warp is taken for one that has an interval."""
    file.partitions.launched = lambda warp: None  # type: ignore[method-assign]


def mixes_up_intervals(file: PrefetchedFile, part: Any) -> None:
    """The last PREFETCH says what the interval of every warp is."""
    move = file.partitions._move

    def wrong(recall: int, prefetch: int, moving: int) -> None:
        move(recall, prefetch, moving)
        if prefetch:
            sets = file.partitions._working_sets
            sets[:] = [file.partitions.operand] * len(sets)

    file.partitions._move = wrong  # type: ignore[method-assign]


MISTAKES: list[Mistake] = [
    *(fills_before_write_backs, highest_first, banks_come_back_in_front, saves_nothing, brings_nothing),
    *(moves_the_dead, moves_the_clean, stays_dirty, saves_what_comes, trusts_loads_of_some_lanes),
    *(forgets_what_returned, believes_hints_of_diverged_beats, forgets_what_is_live, opens_early),
    *(grants_one_place_only, overlooks_main_banks, overlooks_parked_results, frees_main_banks_early),
    *(never_urgent, urgent_at_once, passes_the_crossbar_too_fast, writes_all_lanes, takes_results_too_long),
    *(keeps_banks_at_exit, remembers_the_last_warp, mixes_up_intervals),
]

#: Seed of a program on which a mistake shows that does not show on the first ones.
SEEDS: dict[Mistake, int] = {never_urgent: 17, urgent_at_once: 5}


def mutated(mistake: Mistake) -> type[Ltrf]:
    """A machine whose file makes a mistake, with every part of it."""

    class Mutant(Ltrf):
        def __init__(self, cfg: LtrfConfig, layout: ProbeLayout) -> None:
            super().__init__(cfg, layout)
            for part in self.file.partitions.parts:
                mistake(self.file, part)

    return Mutant


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_caught(mistake: Mistake) -> None:
    for seed in range(SEEDS.get(mistake, 0), 60):
        try:
            watch_ltrf(*random_case(seed), mutated(mistake))
        except (AssertionError, StaleOperand, Stuck, IndexError) as error:
            print(f"seed {seed}: {error!r}")
            return
    pytest.fail(f"{mistake.__name__} passed")
