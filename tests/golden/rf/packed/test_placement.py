"""Where values go (docs/schemes/corf.md, sections 6 and 13)."""

from __future__ import annotations

import pytest

from tests.golden.rf.packed.scenario import get, make, places, put, run_packed, sides, tell, valued
from warpfile.golden.rf.packed.metadata import Metadata
from warpfile.golden.rf.packed.placement import Placement, Wanted, shrunk
from warpfile.golden.rf.renaming import UNMAPPED, Mapped
from warpfile.golden.rf.slices import FreeSlices
from warpfile.spec.schemes.packed import ALLOCATE, LEFT, RIGHT

SIDES = {2: RIGHT, 4: RIGHT, 3: LEFT, 5: LEFT}


def test_the_figure_of_sides_comes_out_as_printed() -> None:
    """Fig. 2.12: three rows, five registers, and every pair that is read comes with one access."""
    free = FreeSlices(1, 3, 4)
    placement = Placement(make("corf_plus", banks=1), free)
    found = {}
    for register, size in ((1, 2), (2, 3), (4, 3), (3, 1), (5, 1)):
        wanted = Wanted(0, size, UNMAPPED, None, SIDES.get(register, 0))
        found[register] = placement.find(wanted)
        placement.settle(wanted, found[register])
        free.edge()
    assert found == {
        1: Mapped(0, 0, 0b0011),
        3: Mapped(0, 0, 0b1000),
        2: Mapped(0, 1, 0b0111),
        5: Mapped(0, 1, 0b1000),
        4: Mapped(0, 2, 0b0111),
    }


def test_the_machine_does_what_the_figure_shows() -> None:
    cfg = make("corf_plus", banks=1)
    of_size = {1: 0x1234, 2: 0x345678, 4: 0x345678, 3: 7, 5: 7}
    writes = [put(register, of_size[register]) for register in (1, 2, 4, 3)]
    reads = [get(2, 3), put(5, of_size[5], sources=(2, 3)), get(4, 5), get(3, 4)]
    result = run_packed(cfg, valued([tell(sides(0, SIDES)), *writes, *reads]))
    assert places(cfg, result) == [
        (ALLOCATE, 0, 0, 0b0011),
        (ALLOCATE, 0, 1, 0b0111),
        (ALLOCATE, 0, 2, 0b0111),
        (ALLOCATE, 0, 0, 0b1000),
        (ALLOCATE, 0, 1, 0b1000),
    ]
    assert result.model.counters["bank_reads"] == result.model.counters["coalesced"] == 4
    assert result.model.operands_checked == 8


@pytest.fixture
def paired() -> tuple[FreeSlices, Placement]:
    """Two banks of four rows."""
    free = FreeSlices(2, 4, 4)
    return free, Placement(make("corf"), free)


def placed(pair: tuple[FreeSlices, Placement], *wanted: object) -> Mapped:
    """The place of a value, which it takes: home bank, size, own slices, mapping of its partner."""
    free, placement = pair
    one = Wanted(*wanted, 0)  # type: ignore[arg-type]
    found = placement.find(one)
    placement.settle(one, found)
    free.edge()
    return found


def test_a_pair_shares_a_row_that_no_other_register_takes(paired: tuple[FreeSlices, Placement]) -> None:
    first = placed(paired, 0, 1, UNMAPPED, UNMAPPED)
    assert first == Mapped(0, 0, 0b0001) and paired[0].reserved_rows == 1
    assert placed(paired, 0, 1, UNMAPPED, None) == Mapped(0, 1, 0b0001), "it is no partner of anybody"
    assert placed(paired, 1, 2, UNMAPPED, first) == Mapped(0, 0, 0b1100) and paired[0].reserved_rows == 0
    assert placed(paired, 0, 1, UNMAPPED, None) == Mapped(0, 0, 0b0010)


def test_a_partner_that_does_not_fit_goes_elsewhere_and_opens_the_row(paired: tuple[FreeSlices, Placement]) -> None:
    first = placed(paired, 0, 3, UNMAPPED, UNMAPPED)
    assert placed(paired, 1, 2, UNMAPPED, first) == Mapped(1, 0, 0b0011) and paired[0].reserved_rows == 0
    assert placed(paired, 0, 1, UNMAPPED, None) == Mapped(0, 0, 0b1000)


def test_a_partner_takes_the_lowest_run_if_the_high_end_is_taken(paired: tuple[FreeSlices, Placement]) -> None:
    paired[0].take(Mapped(0, 2, 0b1001))
    paired[0].edge()
    assert placed(paired, 0, 1, UNMAPPED, Mapped(0, 2, 0b1000)) == Mapped(0, 2, 0b0010)


def test_a_whole_row_is_not_reserved(paired: tuple[FreeSlices, Placement]) -> None:
    assert placed(paired, 0, 4, UNMAPPED, UNMAPPED) == Mapped(0, 0, 0b1111) and paired[0].reserved_rows == 0


def test_a_pair_that_finds_no_whole_row_at_home_goes_to_the_next_bank(paired: tuple[FreeSlices, Placement]) -> None:
    for row in range(4):
        paired[0].take(Mapped(0, row, 0b0001))
    paired[0].edge()
    assert placed(paired, 0, 2, UNMAPPED, UNMAPPED) == Mapped(1, 0, 0b0011) and paired[0].reserved_rows == 1


def test_an_owner_that_dies_ends_its_reservation(paired: tuple[FreeSlices, Placement]) -> None:
    first = placed(paired, 0, 1, UNMAPPED, UNMAPPED)
    paired[0].release(first)
    paired[0].edge()
    assert paired[0].reserved_rows == paired[0].used_rows == 0


def test_an_owner_that_grows_may_stay_in_its_row_which_is_open_then(paired: tuple[FreeSlices, Placement]) -> None:
    first = placed(paired, 0, 1, UNMAPPED, UNMAPPED)
    assert placed(paired, 0, 3, first, UNMAPPED) == Mapped(0, 0, 0b0111)
    assert paired[0].reserved_rows == 0


def test_an_owner_that_moves_reserves_its_new_row_alone(paired: tuple[FreeSlices, Placement]) -> None:
    """Its old row is shared, so that it is not wholly free without it."""
    paired[0].take(Mapped(0, 0, 0b1000))
    paired[0].take(Mapped(0, 1, 0b0001))
    paired[0].reserve(Mapped(0, 1, 0b0001))
    paired[0].edge()
    paired[0].take(Mapped(0, 1, 0b1000))
    paired[0].edge()
    assert placed(paired, 0, 3, Mapped(0, 1, 0b0001), UNMAPPED) == Mapped(0, 2, 0b0111)
    assert paired[0].reserved_rows == 2


def test_a_register_without_a_pair_keeps_off_reserved_rows_but_its_own(paired: tuple[FreeSlices, Placement]) -> None:
    first = placed(paired, 0, 1, UNMAPPED, UNMAPPED)
    assert placed(paired, 0, 2, first, None) == Mapped(0, 0, 0b0011)
    assert paired[0].reserved_rows == 0


def test_first_fit_goes_through_the_banks_from_home_on() -> None:
    free = FreeSlices(4, 2, 4)
    for bank in (2, 3):
        for row in range(2):
            free.take(Mapped(bank, row, 0b0110))
    free.edge()
    assert free.first_fit(2, 4, 2, UNMAPPED) == Mapped(0, 0, 0b0011)
    assert free.first_fit(2, 4, 1, UNMAPPED) == Mapped(2, 0, 0b0001)
    assert free.first_fit(2, 1, 2, UNMAPPED) == UNMAPPED, "with sides there is the home bank alone"
    assert free.first_fit(2, 1, 3, Mapped(2, 1, 0b0010)) == UNMAPPED
    assert free.first_fit(2, 1, 2, Mapped(2, 1, 0b0010)) == Mapped(2, 1, 0b0011)


@pytest.mark.parametrize(("side", "mask"), [(RIGHT, 0b0011), (LEFT, 0b1100), (0, 0b0011), (3, 0b0011)])
def test_a_side_is_an_end_of_the_row(side: int, mask: int) -> None:
    placement = Placement(make("corf_plus"), FreeSlices(2, 4, 4))
    assert placement.find(Wanted(1, 2, UNMAPPED, None, side)) == Mapped(1, 0, mask)


def test_where_a_side_is_taken_everywhere_the_first_place_does() -> None:
    free = FreeSlices(2, 2, 4)
    for row in range(2):
        free.take(Mapped(1, row, 0b0001))
    free.edge()
    placement = Placement(make("corf_plus"), free)
    assert placement.find(Wanted(1, 1, UNMAPPED, None, RIGHT)) == Mapped(1, 0, 0b0010)
    assert placement.find(Wanted(1, 4, UNMAPPED, None, LEFT)) == UNMAPPED, "the other bank is no place"


@pytest.mark.parametrize(
    ("mask", "size", "side", "kept"),
    [
        (0b1111, 1, LEFT, 0b1000),
        (0b1111, 1, RIGHT, 0b0001),
        (0b1110, 2, RIGHT, 0b0110),
        (0b0111, 2, LEFT, 0b0110),
        (0b1111, 3, 0, 0b0111),
        (0b1110, 1, 0, 0b1000),
        (0b1110, 2, 3, 0b1100),
        (0b0110, 1, 0, 0b0010),
        (0b0111, 2, 0, 0b0011),
    ],
)
def test_a_register_that_shrinks_keeps_the_end_of_its_side(mask: int, size: int, side: int, kept: int) -> None:
    assert shrunk(Mapped(1, 2, mask), size, side) == Mapped(1, 2, kept)


def test_the_later_of_two_pairs_that_meet_wins() -> None:
    cfg = make("corf")
    metadata = Metadata(cfg)
    size = cfg.register_bits
    metadata.tell(sum(name << size * k for k, name in enumerate((1, 2, 1, 3, 4, 4, 5, 6))))
    assert metadata.partner == [-1] * cfg.register_names, "it holds from the next cycle on"
    assert metadata.edge() and not metadata.edge()
    assert [metadata.partner[register] for register in range(8)] == [-1, 3, 1, 1, -1, 6, 5, -1]
    metadata.clear()
    assert metadata.partner == [-1] * cfg.register_names


def test_a_chunk_tells_all_its_registers() -> None:
    cfg = make("corf_plus", register_names=64)
    metadata = Metadata(cfg)
    for operand in (sides(1, {26: RIGHT, 51: LEFT}), sides(0, {25: LEFT}), sides(2, {52: 3, 63: RIGHT})):
        metadata.tell(operand.operand)
        metadata.edge()
    assert {register: side for register, side in enumerate(metadata.side) if side} == {
        25: LEFT, 26: RIGHT, 51: LEFT, 52: 3, 63: RIGHT,
    }  # fmt: skip
    metadata.tell(sides(1, {30: LEFT}).operand)
    metadata.edge()
    assert metadata.side[26] == 0 and metadata.side[30] == LEFT
