"""Accesses right behind one another in the access port (docs/schemes/larf.md, sections 7 to 9)."""

from __future__ import annotations

import pytest

from tests.golden.rf.shared.bench import BASE, Bench, machine
from warpfile.golden.rf.contract import Sent
from warpfile.golden.rf.shared.addresses import Known
from warpfile.spec.schemes.shared import DOUBLE, FLUSH, MISS, PERFECT, STORE

#: Byte addresses of vectors that have nothing in common.
HERE, THERE = BASE, BASE + 0x1000
#: In these cycles results that take both ports of memory 1 keep a load of (7, R4) from acting in 4: it acts in 5.
BUSY = (1, 2, 3)


def bases(bench: Bench) -> list[int]:
    """Where the valid entries begin."""
    return [entry.base for entry in bench.file.addresses.entries if entry is not None]


def pair(bench: Bench, first: Sent, second: Sent, late: bool = False, cycles: int = 12) -> None:
    """An access in V in 0, and another one in V in 2; ``late``: the first one is a load that acts in 5, not in 4."""
    bench.begin(first)
    for cycle in range(cycles):
        results = {0: bench.result(0, 1), 1: bench.result(4, 1)} if late and cycle in BUSY else {}
        bench.step(results, access=second if cycle == 1 else None)


def begun(*first: Sent | int, **changes: object) -> Bench:
    """A bench in which registers that the late loads' results go to are mapped, and these vectors were loaded."""
    bench = Bench(machine(**changes))
    bench.settle(bench.result(0, 1), bench.result(4, 1))
    bench.settle(*[bench.load(2, 8 + number, at) for number, at in enumerate(first) if isinstance(at, int)])
    return bench


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("kind", [STORE, FLUSH])
def test_what_a_load_inserts_in_front_of_a_store_or_a_fence_is_deleted(kind: int, late: bool) -> None:
    bench = begun(THERE)
    last = bench.access(kind, [HERE + 0x40] * 32, mask=1)
    pair(bench, bench.load(7, 4, HERE), last, late)
    assert bench.when("outcome") == [4 + late] and bench.when("ahead") == [5 + late]
    assert bench.when("deleted") == ([5 + late] if kind == STORE else [])
    assert bench.when("flushed") == ([] if kind == STORE else [4, 5 + late])
    assert bases(bench) == ([THERE] if kind == STORE else []) and list(bench.sent) == [5 + late, 6 + late]


@pytest.mark.parametrize("late", [False, True])
def test_a_store_of_other_words_leaves_what_the_load_ahead_inserts(late: bool) -> None:
    bench = begun()
    pair(bench, bench.load(7, 4, HERE), bench.store(HERE + 0x80, mask=1), late)
    assert not bench.when("ahead") and not bench.when("deleted") and bases(bench) == [HERE]


def test_a_load_ahead_that_hits_leaves_nothing_to_delete() -> None:
    """The entry that was inserted last is another one, and stays."""
    bench = begun(HERE, THERE)
    pair(bench, bench.load(7, 4, HERE), bench.store(HERE, mask=1))
    assert bench.seen("outcome")[4] == PERFECT and bench.when("deleted") == [4] and not bench.when("ahead")
    assert bases(bench) == [THERE]


@pytest.mark.parametrize("late", [False, True])
def test_a_load_that_acts_behind_k_does_not_find_what_the_store_deleted(late: bool) -> None:
    bench = begun(HERE)
    pair(bench, bench.load(7, 4, HERE), bench.store(HERE, mask=1), late)
    assert bench.when("outcome") == [4 + late] and bench.when("lost") == ([5] if late else [])
    assert bench.seen("outcome")[4 + late] == (MISS if late else PERFECT)
    assert bases(bench) == [] and bench.when("ahead") == ([6] if late else [])
    assert list(bench.sent) == ([6, 7] if late else [6])


def test_a_shifted_vector_right_behind_a_miss_is_a_lost_merge() -> None:
    bench = begun()
    pair(bench, bench.load(7, 4, HERE), bench.load(5, 6, HERE + 4, mask=0xFFFF))
    assert bench.when("ahead") == [5] and bench.when("outcome") == [4, 6] and bench.when("lost") == [6]
    assert bench.fields[6]["outcome"] == MISS and bases(bench) == [HERE, HERE + 4]


def test_the_load_ahead_is_nearer_than_an_entry_only_if_it_is() -> None:
    """From 4 on: an entry is one word below, the load ahead two; the words above are those of another entry."""
    bench = begun(HERE, HERE + 0x80)
    pair(bench, bench.load(7, 4, HERE - 4), bench.load(5, 6, HERE + 4))
    assert not bench.when("ahead") and bench.fields[6]["outcome"] == DOUBLE


def test_a_vector_that_was_loaded_in_between_takes_the_place_of_an_equally_near_one() -> None:
    """The row of (2, R8) cannot be shared any more; (7, R4) loads its words anew, and (5, R6) shares that row."""
    bench = begun(HERE, count_bits=1)
    pair(bench, bench.load(7, 4, HERE), bench.load(5, 6, HERE))
    assert bench.when("lost") == [4, 6] and bench.when("ahead") == [5], "one bit: no row is shared at all"
    bench = begun(HERE, count_bits=2)
    bench.settle(bench.load(1, 8, HERE), bench.load(3, 8, HERE))
    assert bench.count(bench.row(2, 8)) == 3
    pair(bench, bench.load(7, 4, HERE), bench.load(5, 6, HERE))
    assert bench.seen("outcome")[4:7] == [MISS, 0, PERFECT] and bench.when("lost") == [4]
    assert bench.row(5, 6) == bench.row(7, 4)


def test_an_entry_that_the_load_ahead_takes_is_not_used() -> None:
    bench = begun(HERE, table_entries=1)
    pair(bench, bench.load(7, 4, THERE), bench.load(5, 6, HERE))
    assert bench.when("evicted") == [4, 6] and bench.seen("outcome")[4:7] == [MISS, 0, MISS]
    assert not bench.when("lost") and bench.row(5, 6) != bench.row(7, 4), "D knows that it is another one"


def test_a_load_that_is_not_tracked_is_no_load_ahead() -> None:
    bench = begun(THERE)
    pair(bench, bench.load(7, 4, HERE, mask=0xFFFE), bench.load(5, 6, HERE, mask=0xFFFF))
    assert bench.when("outcome") == [6] and not bench.when("ahead") and bench.fields[6]["outcome"] == MISS


def test_other_upper_bits_right_behind_a_load_are_not_tracked() -> None:
    bench = begun()
    pair(bench, bench.load(7, 4, HERE), bench.load(5, 6, HERE + (1 << 32)))
    assert bench.when("untracked") == [3] and bench.when("outcome") == [4] and list(bench.sent) == [5, 6]


def test_a_fence_in_between_lets_other_upper_bits_in() -> None:
    bench = begun()
    other = bench.load(5, 6, HERE + (1 << 32))
    bench.begin(bench.load(7, 4, HERE))
    for cycle in range(12):
        access = {1: bench.access(FLUSH, [0] * 32), 3: other}.get(cycle)
        bench.step(access=access)
    assert bench.when("flushed") == [5] and bench.when("outcome") == [4, 8]
    assert bench.fields[8]["outcome"] == MISS and bench.fields[8]["lost"], "C saw the entry that R deletes"
    assert [e for e in bench.file.addresses.entries if e] == [Known(HERE, 4, (1 << 32) - 1, bench.row(5, 6))]
    assert bench.file.addresses.upper == 1


def test_the_word_of_the_load_ahead_that_a_store_meets_last() -> None:
    for at, ends in ((HERE + 0x7F, True), (HERE + 0x80, False), (HERE - 1, False), (HERE, True)):
        bench = begun()
        pair(bench, bench.load(7, 4, HERE), bench.store(at, mask=1, size=0))
        assert bool(bench.when("ahead")) == ends and (bases(bench) == []) == ends


def test_a_table_that_finds_nothing_inserts_and_sends_everything() -> None:
    bench = begun(HERE, search="none")
    pair(bench, bench.load(7, 4, HERE), bench.load(5, 6, HERE))
    assert bench.seen("outcome")[4:7] == [MISS, 0, MISS] and not bench.when("ahead") and not bench.when("lost")
    assert bases(bench) == [HERE] * 3 and len({bench.row(2, 8), bench.row(7, 4), bench.row(5, 6)}) == 3
    assert list(bench.sent) == [5, 7]
