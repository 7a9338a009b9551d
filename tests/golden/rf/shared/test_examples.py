"""The worked examples of docs/schemes/larf.md, section 17, cycle by cycle."""

from __future__ import annotations

import pytest

from tests.golden.rf.shared.bench import BASE, Bench, machine
from warpfile.golden.rf.shared.addresses import Known
from warpfile.golden.rf.shared.search import Search
from warpfile.golden.rf.shared.vectors import Vector
from warpfile.spec.schemes.shared import (
    ACT,
    COMPARE,
    DECIDE,
    DOUBLE,
    MISS,
    PERFECT,
    READ1,
    READ2,
    SELECT,
    SEND,
    SPAN,
    VECTOR,
    WRITE,
)

ALL = (1 << 32) - 1


def entries(bench: Bench) -> list[Known]:
    """Valid entries, in the order of their numbers."""
    return [entry for entry in bench.file.addresses.entries if entry is not None]


def test_a_hit_takes_four_cycles_and_completes_in_the_fifth() -> None:
    bench = Bench()
    bench.settle(bench.load(2, 4))
    row = bench.row(2, 4)
    assert entries(bench) == [Known(BASE, 4, ALL, row)] and bench.count(row) == 1 and bench.file.counts.ready[row]
    bench.begin(bench.load(7, 4))
    bench.step(access=bench.load(1, 3, BASE + 0x4000))
    bench.steps(5)
    assert bench.seen("access_state")[:5] == [VECTOR, COMPARE, SELECT, ACT, VECTOR]
    assert bench.seen("outcome")[:5] == [0, 0, 0, PERFECT, 0] and bench.fields[3]["outcome_row"] == row
    assert bench.row(7, 4) == row and [fields["shared_rows"] for fields in bench.fields[:5]] == [0, 0, 0, 0, 1]
    memory = (4 + 7) % 2
    assert [f["table_reads"] >> 2 * memory & 3 for f in bench.fields[:4]] == [1, 0, 0, 0], "it asks once, in V"
    assert bench.when("table_writes")[0] == 3
    assert bench.when("absorbed") == bench.when("absorbed_done") == [4] == bench.when("completed")
    assert bench.file.unpacked(bench.file.table.entry(7, 4), 7, 4) > 0


def test_a_miss_is_sent_behind_e_and_its_row_is_ready_when_it_is_written() -> None:
    bench = Bench()
    bench.settle(bench.load(2, 4))
    load = bench.load(7, 4, BASE + 0x4000)
    bench.begin(load)
    bench.steps(10)
    assert bench.seen("access_state")[:6] == [VECTOR, COMPARE, SELECT, ACT, SEND, 0]
    assert bench.seen("outcome")[3] == MISS and list(bench.sent) == [4] and bench.sent[4] is load
    row = bench.row(7, 4)
    assert bench.fields[3]["outcome_row"] == row and not bench.file.counts.ready[row]
    assert entries(bench)[1] == Known(BASE + 0x4000, 4, ALL, row)
    x = bench.cycle
    bench.fields.clear()
    bench.step({2: bench.answer(load)})
    bench.steps(2)
    assert bench.when("write") == [0] and bench.when("deciding") == [1] and bench.when("storing") == [2]
    assert bench.when("decision") == [1] and bench.when("stored") == [2] == bench.when("completed")
    assert bench.when("row_ready") == [2] and bench.cycle == x + 3 and bench.file.counts.ready[row]


def test_a_hit_on_a_load_under_way_completes_behind_it() -> None:
    bench = Bench()
    first = bench.load(7, 4, BASE + 0x4000)
    bench.step(access=first)
    bench.steps(6)
    second = bench.load(3, 6, BASE + 0x4000)
    bench.begin(second)
    bench.steps(4)
    assert bench.fields[3]["outcome"] == PERFECT and bench.row(3, 6) == bench.row(7, 4)
    bench.fields.clear()
    bench.step({2: bench.answer(first)})
    bench.steps(4)
    assert bench.when("absorbed_waiting") == [0, 1, 2] and bench.when("stored") == [2]
    assert bench.when("absorbed_done") == [3] and bench.when("absorbed") == [0, 1, 2, 3]


def test_eviction_before_the_fill_changes_nothing_of_that() -> None:
    bench = Bench(machine(table_entries=1))
    first, other = bench.load(7, 4, BASE + 0x4000), bench.load(1, 1, BASE + 0x8000)
    bench.step(access=first)
    bench.steps(6)
    bench.step(access=bench.load(3, 6, BASE + 0x4000))
    bench.step(access=other)
    bench.steps(12)
    assert bench.when("evicted") and len(entries(bench)) == 1 and bench.file.absorbed.waiting == 1
    bench.fields.clear()
    bench.step({2: bench.answer(first)})
    bench.steps(4)
    assert bench.when("absorbed_done") == [3]


def test_a_hit_that_acts_as_the_row_becomes_ready_does_not_wait() -> None:
    bench = Bench()
    first = bench.load(7, 4, BASE + 0x4000)
    bench.step(access=first)
    bench.steps(6)
    bench.begin(bench.load(3, 6, BASE + 0x4000))
    bench.step()
    bench.step({2: bench.answer(first)})
    bench.steps(3)
    assert bench.when("outcome") == [3] == bench.when("stored")
    assert not bench.when("absorbed_waiting") and bench.when("absorbed_done") == [4]


def test_a_merge_of_two_rows() -> None:
    bench = Bench()
    bench.settle(bench.load(2, 4), bench.load(2, 5, BASE + 0x80))
    rows = bench.row(2, 4), bench.row(2, 5)
    bench.begin(bench.load(7, 4, BASE + 0xC))
    bench.step(access=bench.load(7, 5, BASE + 0x9000))
    bench.steps(4)
    busy = [[bench.file.slot.busy(row) for row in rows]]
    bench.step()
    busy.append([bench.file.slot.busy(row) for row in rows])
    bench.steps(4)
    assert busy == [[True, True], [False, True]]
    assert bench.seen("access_state")[:6] == [VECTOR, COMPARE, SELECT, DECIDE, ACT, VECTOR]
    assert bench.fields[4]["outcome"] == DOUBLE
    assert bench.seen("merge_state") == [0, 0, 0, 0, 0, READ1, READ2, WRITE, WRITE, 0]
    assert bench.when("merge_read") == [5, 6] and bench.when("merge_write") == [8] == bench.when("row_ready")
    assert bench.when("absorbed_waiting") == [5, 6, 7, 8] and bench.when("absorbed_done") == [9]
    target = bench.row(7, 4)
    assert (
        target not in rows and bench.file.contents.words[target] == bench.load(0, 0, BASE + 0xC).entry.beat.result_words
    )


def test_words_1_to_8_and_9_to_16_give_2_to_9() -> None:
    """Fig. 5.2b on eight lanes."""
    known = [(0, Known(36, 4, 0xFF, 1)), (1, Known(4, 4, 0xFF, 0))]
    match = Search(Vector(True, 0xFF, 0, 7, 4, 8), known, 8).covered()
    assert match.outcome == DOUBLE
    assert [(s.row, s.distance, s.lanes) for s in match.sources] == [(0, 1, 0x7F), (1, -7, 0x80)]


def test_a_store_ends_the_entry_whose_last_word_it_meets() -> None:
    bench = Bench()
    bench.settle(bench.load(2, 4), bench.load(2, 5, BASE + 0x80))
    value = bench.file.contents.words[bench.row(2, 4)]
    bench.begin(bench.store(BASE + 0x7C, mask=1))
    bench.memory.store(BASE + 0x7C, 77, 4)
    bench.step(access=bench.load(2, 6))
    bench.steps(6)
    assert bench.seen("access_state")[:7] == [VECTOR, SPAN, SEND, VECTOR, COMPARE, SELECT, ACT]
    assert bench.fields[2]["deleted"] == 1 and bench.fields[3]["valid_entries"] == 1
    assert bench.fields[6]["outcome"] == MISS
    assert bench.file.contents.words[bench.row(2, 4)] == value, "who has the old value keeps it"


def shared_row(bench: Bench) -> int:
    """(7, R4) and (2, R4) have one row."""
    bench.settle(bench.load(2, 4), bench.load(7, 4))
    row = bench.row(2, 4)
    assert bench.row(7, 4) == row and bench.count(row) == 2
    return row


def test_a_partial_write_of_a_shared_row_is_a_merge_on_its_way_in() -> None:
    bench = Bench()
    row = shared_row(bench)
    held = bench.file.contents.words[row]
    bench.step({0: bench.result(7, 4, 5, mask=0xF)})
    bench.steps(6)
    assert bench.when("merge") == [2] and bench.when("search") == [4] == bench.when("decision")
    assert bench.fields[4]["decision"] & 7 == 3 and bench.when("stored") == [5] == bench.when("completed")
    fresh = bench.row(7, 4)
    assert fresh != row and bench.count(row) == 1 and bench.count(fresh) == 1
    lanes = (1 << 4 * 32) - 1
    assert bench.file.contents.words[fresh] == held & ~lanes | bench.packed([5] * 4)
    assert bench.file.contents.words[row] == held


@pytest.mark.parametrize("killed", [1, 2, 3])
def test_a_result_that_is_to_merge_does_so_and_is_in_place_if_nobody_shares_its_row_any_more(killed: int) -> None:
    bench = Bench()
    row = shared_row(bench)
    bench.step({0: bench.result(7, 4, 5, mask=0xF)})
    bench.steps(killed - 1)
    assert bench.step(death=bench.death(2, 4))["killed"]
    bench.steps(6 - killed)
    assert bench.when("merge") == [2] and bench.when("killed") == [killed]
    assert bench.when("decision") == [4] == bench.when("search") and bench.fields[4]["decision"] & 7 == 1
    assert bench.row(7, 4) == row and bench.when("stored") == [5] and bench.when("ended") == [4]


def full_file() -> Bench:
    """Every register has a row of its own, and no row is free."""
    bench = Bench(machine(warps=4, rows=32, register_names=16))
    bench.settle(*[bench.result(warp, register) for warp in range(4) for register in range(16)])
    assert bench.file.counts.used == 64
    return bench


def test_a_miss_in_a_full_file_keeps_the_row_of_its_register() -> None:
    bench = full_file()
    row = bench.row(1, 5)
    bench.settle(bench.load(1, 5))
    assert bench.row(1, 5) == row and [entry.row for entry in entries(bench)] == [row]
    bench.begin(bench.load(1, 5, BASE + 0x4000))
    bench.steps(5)
    assert bench.fields[3]["outcome"] == MISS and bench.when("ended") == [3] and bench.when("table_writes") == []
    assert entries(bench) == [Known(BASE + 0x4000, 4, ALL, row)] and bench.row(1, 5) == row


def test_a_full_result_of_a_shared_register_takes_the_row_that_is_free() -> None:
    bench = full_file()
    bench.settle(bench.load(1, 5), bench.load(2, 5))
    row = bench.row(1, 5)
    assert bench.count(row) == 2 and bench.file.counts.used == 63
    bench.step({0: bench.result(2, 5)})
    bench.steps(4)
    assert bench.count(row) == 1 and bench.row(2, 5) != row and bench.file.counts.used == 64


def test_a_kill_in_the_cycle_of_a_hit_waits() -> None:
    bench = Bench()
    bench.settle(bench.load(2, 4))
    row = bench.row(2, 4)
    bench.begin(bench.load(7, 4))
    bench.steps(3)
    death = bench.death(2, 4)
    assert not bench.step(death=death)["killed"] and bench.count(row) == 2
    assert bench.step(death=death)["killed"] and bench.count(row) == 1


def test_a_kill_before_the_hit_makes_it_a_miss() -> None:
    bench = Bench()
    bench.settle(bench.load(2, 4))
    bench.begin(bench.load(7, 4))
    bench.steps(2)
    assert bench.step(death=bench.death(2, 4))["killed"] and bench.fields[2]["ended"]
    bench.step()
    assert bench.fields[3]["outcome"] == MISS and bench.fields[3]["lost"]
