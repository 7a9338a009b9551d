"""Which entries have the words of a request, and what a merge makes of them (docs/schemes/larf.md, sections 8, 11)."""

from __future__ import annotations

import pytest

from tests.golden.rf.shared.bench import BASE, Bench, machine
from warpfile.golden.rf.shared.addresses import Known
from warpfile.golden.rf.shared.search import Search, source
from warpfile.golden.rf.shared.vectors import Vector
from warpfile.spec.schemes.shared import DOUBLE, MISS, SINGLE

LANES = 8
ALL = (1 << LANES) - 1


def asked(at: int, stride: int = 4, lanes: int = ALL) -> Vector:
    """A request."""
    return Vector(True, lanes, 0, lanes.bit_length() - 1, stride, at)


def known(at: int, stride: int = 4, lanes: int = ALL, row: int = 0) -> Known:
    """An entry."""
    return Known(at, stride, lanes, row)


@pytest.mark.parametrize(
    ("shift", "lanes"), [(0, ALL), (1, 0x7F), (7, 0x01), (8, None), (-1, 0xFE), (-7, 0x80), (-8, None)]
)
@pytest.mark.parametrize("stride", [4, 12, 1020])
def test_a_shift_below_the_lanes_matches(shift: int, lanes: int | None, stride: int) -> None:
    found = source(asked(0x4000 + shift * stride, stride), 0, known(0x4000, stride), LANES)
    assert (found and found.lanes) == lanes
    assert found is None or found.distance == shift


def test_strides_and_remainders_must_be_equal() -> None:
    assert source(asked(0x4000, 8), 0, known(0x4000, 4), LANES) is None
    assert source(asked(0x4004, 8), 0, known(0x4000, 8), LANES) is None
    assert source(asked(0x4000, 0), 0, known(0x4000, 0), LANES) is not None
    assert source(asked(0x4004, 0), 0, known(0x4000, 0), LANES) is None
    assert source(asked(0), 0, known(0xFFFFFFFC), LANES) is None, "addresses do not wrap"


def test_a_smaller_mask_is_a_perfect_hit_on_a_larger_one_and_not_the_other_way_round() -> None:
    small, large = 0x3F, ALL
    assert Search(asked(0, lanes=small), [(0, known(0, lanes=large))], LANES).perfect
    search = Search(asked(0, lanes=large), [(0, known(0, lanes=small))], LANES)
    assert search.perfect is None and search.first is not None and search.first.lanes == small


def test_the_most_recent_perfect_one_and_the_nearest_others_are_taken() -> None:
    entries = [(3, known(4, row=3)), (1, known(0, row=1)), (0, known(0, row=0)), (7, known(-8 + 16, row=7))]
    search = Search(asked(4 * 1, lanes=ALL), [(n, k) for n, k in entries if n != 3], LANES)
    assert search.first is not None and search.first.number == 1, "of equal shifts the most recent one"
    assert search.second is not None and search.second.number == 7
    assert Search(asked(4), entries, LANES).decided(True).sources[0].row == 3
    far = Search(asked(0x100), [(0, known(0x108)), (1, known(0x104)), (2, known(0xF4)), (3, known(0xF8))], LANES)
    assert far.second is not None and far.first is not None
    assert (far.second.number, far.first.number) == (1, 3), "nearest to 0"


def test_single_comes_before_double_and_three_rows_are_too_many() -> None:
    assert Search(asked(4, lanes=0x0F), [(0, known(0)), (1, known(8))], LANES).covered().outcome == SINGLE
    one = Search(asked(4, lanes=0x06), [(0, known(0, lanes=1)), (1, known(8))], LANES).covered()
    assert one.outcome == SINGLE and one.sources[0].number == 1
    thirds = [(0, known(0, lanes=0x0F)), (1, known(16, lanes=0x03)), (2, known(24))]
    assert Search(asked(4), thirds, LANES).covered().outcome == MISS


def test_the_second_row_gives_what_the_first_one_does_not() -> None:
    match = Search(asked(4), [(0, known(0)), (1, known(8))], LANES).covered()
    assert match.outcome == DOUBLE
    assert [s.lanes for s in match.sources] == [0x7F, 0x80]


@pytest.mark.parametrize("ahead", range(-7, 1))
def test_a_merge_is_a_gather_for_all_pairs_of_shifts(ahead: int) -> None:
    for behind in range(1, 8):
        for lanes in (ALL, 0x1F):
            bench = Bench(machine(lanes=LANES))
            bench.settle(bench.load(0, 1, BASE + 4 * ahead), bench.load(0, 2, BASE + 4 * behind))
            request = bench.load(1, 3, BASE, mask=lanes)
            bench.begin(request)
            bench.rest()
            there = [k for k in range(LANES) if k - ahead < LANES or k >= behind]
            covered = all(k in there for k in range(LANES) if lanes >> k & 1)
            assert (max(bench.seen("outcome")) != MISS) == covered
            if covered:
                held, words = bench.file.contents.words[bench.row(1, 3)], request.entry.beat.result_words
                assert words is not None and (held ^ words) & bench.file.contents.bits(lanes) == 0
