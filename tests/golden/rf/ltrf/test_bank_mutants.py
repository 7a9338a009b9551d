"""The engine by banks with one mistake each, which operands, counters or the pace of fills must catch."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.golden.machines import Ltrf
from tests.golden.rf.ltrf.banked import checked
from tests.golden.rf.ltrf.test_random import random_case
from warpfile.golden import StaleOperand
from warpfile.golden.rf.ltrf.bank_file import BankFile
from warpfile.golden.rf.ltrf.bank_partitions import BankPartitions
from warpfile.golden.run import Stuck
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.ltrf import LtrfConfig

pytestmark = pytest.mark.plain

Mistake = Callable[[BankFile], None]


def picks_before_the_row_is_read(file: BankFile) -> None:
    """A fill does not wait for the write-back of its cache bank."""
    file.fills._directory = Blind(file)  # type: ignore[assignment]


class Blind:
    """A directory in which nothing goes out."""

    def __init__(self, file: BankFile) -> None:
        self._file = file
        self.outs = [0] * len(file.directory.outs)

    def __getattr__(self, name: str) -> object:
        return getattr(self._file.directory, name)


def overlooks_full_latches(file: BankFile) -> None:
    """A fill reads what the latch has yet to write, or what is parked."""
    main, fits = file.latched, file.fills.fits

    def wrong(cycle: int, bank: int) -> bool:
        full, parked, main.full, main.parked = main.full, main.parked, 0, 0
        fitting = fits(cycle, bank)
        main.full, main.parked = full, parked
        return fitting

    file.fills.fits = wrong  # type: ignore[method-assign]


def overlooks_taken_latches(file: BankFile) -> None:
    """A write-back goes into a latch that is not free."""
    main, choose = file.latched, file.backs._choose_grants

    def wrong(cycle: int, starting: int) -> None:
        taken, main.taken = main.taken, 0
        choose(cycle, starting)
        main.taken = taken

    file.backs._choose_grants = wrong  # type: ignore[method-assign]


def fills_too_often(file: BankFile) -> None:
    """A cache bank has no pace of its own."""
    fits = file.fills.fits

    def wrong(cycle: int, bank: int) -> bool:
        file.fills.free[bank] = 0
        return fits(cycle, bank)

    file.fills.fits = wrong  # type: ignore[method-assign]


def steps_in_at_once(file: BankFile) -> None:
    """Steps in do not wait until banks are free."""
    partitions = file.partitions
    assert isinstance(partitions, BankPartitions)
    step = partitions._step

    def wrong(place: int) -> None:
        partitions._leaves = 0
        step(place)

    partitions._step = wrong  # type: ignore[method-assign]


def keeps_banks_at_exit(file: BankFile) -> None:
    """A warp that ends leaves its banks behind."""
    leave, parts = file.partitions._leave, file.partitions.parts

    def wrong(place: int) -> None:
        occupied = parts[place].occupied
        leave(place)
        parts[place].occupied = occupied

    file.partitions._leave = wrong  # type: ignore[method-assign]


def releases_too_early(file: BankFile) -> None:
    """What a write-back channel still has is forgotten when it was read."""
    read = file.directory.read

    def wrong(place: int, bank: int) -> None:
        read(place, bank)
        file.partitions.parts[place].works -= 1

    file.directory.read = wrong  # type: ignore[method-assign]
    file.directory.saved = lambda place: None  # type: ignore[method-assign]


def saves_nothing(file: BankFile) -> None:
    """No register is written back."""
    for part in file.partitions.parts:
        part.kept = lambda registers: 0  # type: ignore[method-assign]


MISTAKES: list[Mistake] = [
    *(picks_before_the_row_is_read, overlooks_full_latches, overlooks_taken_latches, fills_too_often),
    *(steps_in_at_once, keeps_banks_at_exit, releases_too_early, saves_nothing),
]


def mutated(mistake: Mistake) -> type[Ltrf]:
    """A machine whose file makes a mistake."""

    class Mutant(Ltrf):
        def __init__(self, cfg: LtrfConfig, layout: ProbeLayout) -> None:
            super().__init__(cfg, layout)
            assert isinstance(self.file, BankFile)
            mistake(self.file)

    return Mutant


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_caught(mistake: Mistake) -> None:
    for seed in range(60):
        try:
            checked(*random_case(seed, engine="banks"), mutated(mistake))
        except (AssertionError, StaleOperand, Stuck, IndexError) as error:
            print(f"seed {seed}: {error!r}")
            return
    pytest.fail(f"{mistake.__name__} passed")
