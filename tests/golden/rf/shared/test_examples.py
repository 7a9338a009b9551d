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
    DELETE,
    DONE,
    DOUBLE,
    MISS,
    PERFECT,
    READ1,
    READ2,
    RECHECK,
    SELECT,
    SPAN,
    WRITE,
)

ALL = (1 << 32) - 1


def entries(bench: Bench) -> list[Known]:
    """Valid entries, in the order of their numbers."""
    return [entry for entry in bench.file.addresses.entries if entry is not None]


def test_a_hit_acts_in_the_fifth_cycle_and_completes_in_the_sixth() -> None:
    bench = Bench()
    bench.settle(bench.load(2, 4))
    row = bench.row(2, 4)
    assert entries(bench) == [Known(BASE, 4, ALL, row)] and bench.count(row) == 1 and bench.file.counts.ready[row]
    bench.begin(bench.load(7, 4))
    bench.step()
    bench.step(access=bench.load(1, 3, BASE + 0x4000))
    bench.steps(5)
    assert bench.seen("access_vector") == [1, 0, 1, 0, 0, 0, 0], "the next one is taken in 1"
    assert bench.seen("access_search") == [0, COMPARE, SELECT, COMPARE, SELECT, 0, 0]
    assert bench.seen("access_act") == [0, 0, 0, DECIDE, ACT, DECIDE, ACT]
    assert bench.seen("outcome") == [0, 0, 0, 0, PERFECT, 0, MISS] and bench.fields[4]["outcome_row"] == row
    assert bench.row(7, 4) == row and bench.seen("shared_rows") == [0, 0, 0, 0, 0, 1, 1]
    memory = (4 + 7) % 2
    assert [f["table_reads"] >> 2 * memory & 3 for f in bench.fields[:3]] == [0, 1, 0], "it asks once, in C"
    assert bench.when("table_writes")[0] == 4
    assert bench.when("absorbed") == bench.when("absorbed_done") == [5] == bench.when("completed")
    assert bench.file.unpacked(bench.file.table.entry(7, 4), 7, 4) > 0


def test_a_miss_is_sent_behind_e_and_its_row_is_ready_when_it_is_written() -> None:
    bench = Bench()
    bench.settle(bench.load(2, 4))
    load = bench.load(7, 4, BASE + 0x4000)
    bench.begin(load)
    bench.steps(10)
    assert bench.seen("access_search")[:4] == [0, COMPARE, SELECT, 0]
    assert bench.seen("access_act")[:6] == [0, 0, 0, DECIDE, ACT, 0] and bench.when("access_send") == [5]
    assert bench.seen("outcome")[4] == MISS and list(bench.sent) == [5] and bench.sent[5] is load
    row = bench.row(7, 4)
    assert bench.fields[4]["outcome_row"] == row and not bench.file.counts.ready[row]
    assert entries(bench)[1] == Known(BASE + 0x4000, 4, ALL, row)
    x = bench.cycle
    bench.fields.clear()
    bench.step({2: bench.answer(load)})
    bench.steps(2)
    assert bench.when("write") == [0] and bench.when("deciding") == [1] and bench.when("storing") == [2]
    assert bench.when("decision") == [1] and bench.when("stored") == [2] == bench.when("completed")
    assert bench.when("row_ready") == [2] and bench.cycle == x + 3 and bench.file.counts.ready[row]


def test_the_same_vector_right_behind_a_miss_is_a_perfect_hit() -> None:
    bench = Bench()
    bench.settle(bench.load(2, 4))
    bench.begin(bench.load(7, 4, BASE + 0x4000))
    bench.step()
    bench.step(access=bench.load(5, 6, BASE + 0x4000))
    bench.steps(7)
    assert bench.seen("access_vector")[:4] == [1, 0, 1, 0]
    assert bench.seen("access_search")[:6] == [0, COMPARE, SELECT, COMPARE, SELECT, 0]
    assert bench.seen("access_act")[:8] == [0, 0, 0, DECIDE, ACT, DECIDE, ACT, 0]
    assert bench.seen("outcome")[:8] == [0, 0, 0, 0, MISS, 0, PERFECT, 0] and bench.when("ahead") == [5]
    row = bench.row(7, 4)
    assert bench.row(5, 6) == row == bench.fields[6]["outcome_row"] and bench.count(row) == 2
    assert list(bench.sent) == [5] and bench.when("absorbed") == [7, 8] == bench.when("absorbed_waiting")


def test_an_access_waits_in_s_until_the_load_ahead_has_acted() -> None:
    """In 1 to 3 results in X take both ports of memory 1, which has (7, R4): the load knows its old row in 5."""
    bench = Bench()
    bench.settle(bench.load(2, 4), bench.result(0, 1), bench.result(4, 1))
    bench.begin(bench.load(7, 4, BASE + 0x4000))
    for cycle in range(10):
        results = {0: bench.result(0, 1), 1: bench.result(4, 1)} if 1 <= cycle <= 3 else {}
        bench.step(results, access=bench.load(5, 6, BASE + 0x4000) if cycle == 1 else None)
    assert bench.seen("access_act")[3:8] == [DECIDE, ACT, ACT, DECIDE, ACT] and bench.when("act_wait") == [4]
    assert bench.seen("access_search")[3:7] == [COMPARE, SELECT, SELECT, 0]
    assert bench.seen("outcome")[5:8] == [MISS, 0, PERFECT] and bench.when("ahead") == [6]
    assert bench.row(5, 6) == bench.row(7, 4) and bench.count(bench.row(7, 4)) == 2


def test_a_hit_on_a_load_under_way_completes_behind_it() -> None:
    bench = Bench()
    first = bench.load(7, 4, BASE + 0x4000)
    bench.step(access=first)
    bench.steps(6)
    second = bench.load(3, 6, BASE + 0x4000)
    bench.begin(second)
    bench.steps(5)
    assert bench.fields[4]["outcome"] == PERFECT and bench.row(3, 6) == bench.row(7, 4)
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
    bench.steps(2)
    bench.step({2: bench.answer(first)})
    bench.steps(3)
    assert bench.when("outcome") == [4] == bench.when("stored")
    assert not bench.when("absorbed_waiting") and bench.when("absorbed_done") == [5]


def test_a_merge_of_two_rows() -> None:
    bench = Bench()
    bench.settle(bench.load(2, 4), bench.load(2, 5, BASE + 0x80))
    rows = bench.row(2, 4), bench.row(2, 5)
    bench.begin(bench.load(7, 4, BASE + 0xC))
    bench.steps(5)
    busy = [[bench.file.slot.busy(row) for row in rows]]
    bench.step()
    busy.append([bench.file.slot.busy(row) for row in rows])
    bench.steps(4)
    assert busy == [[True, True], [False, True]]
    assert bench.seen("access_search")[:4] == [0, COMPARE, SELECT, 0]
    assert bench.seen("access_act")[:6] == [0, 0, 0, DECIDE, ACT, 0]
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


def test_a_store_deletes_the_entry_whose_last_word_it_meets() -> None:
    bench = Bench()
    bench.settle(bench.load(2, 4), bench.load(2, 5, BASE + 0x80))
    value = bench.file.contents.words[bench.row(2, 4)]
    bench.begin(bench.store(BASE + 0x7C, mask=1))
    bench.memory.store(BASE + 0x7C, 77, 4)
    bench.step()
    bench.step(access=bench.load(2, 6))
    bench.steps(6)
    assert bench.seen("access_search")[:5] == [0, SPAN, DELETE, COMPARE, SELECT]
    assert bench.seen("access_act")[:7] == [0, 0, 0, RECHECK, 0, DECIDE, ACT] and list(bench.sent) == [4, 7]
    assert bench.when("deleted") == [2] and bench.fields[2]["deleted"] == 1 and bench.fields[3]["valid_entries"] == 1
    assert bench.fields[6]["outcome"] == MISS and not bench.fields[6]["lost"]
    assert bench.file.contents.words[bench.row(2, 4)] == value, "who has the old value keeps it"


def test_a_load_a_store_and_a_load_of_the_same_words() -> None:
    bench = Bench()
    bench.begin(bench.load(2, 4, BASE + 0x4000))
    bench.step()
    store = bench.store(BASE + 0x4000, mask=1)
    bench.step(access=store)
    bench.memory.store(BASE + 0x4000, 77, 4)
    bench.step()
    bench.step(access=bench.load(2, 6, BASE + 0x4000))
    bench.steps(7)
    assert bench.seen("access_vector")[:6] == [1, 0, 1, 0, 1, 0]
    assert bench.seen("access_search")[:8] == [0, COMPARE, SELECT, SPAN, DELETE, COMPARE, SELECT, 0]
    assert bench.seen("access_act")[:9] == [0, 0, 0, DECIDE, ACT, RECHECK, 0, DECIDE, ACT]
    assert bench.when("outcome") == [4, 8] and bench.when("lost") == [8]
    assert bench.when("ahead") == [5] == bench.when("deleted") and bench.seen("valid_entries")[4:7] == [0, 1, 0]
    assert list(bench.sent) == [5, 6, 9] and bench.sent[6] is store


def test_pins_that_do_not_take() -> None:
    bench = Bench()
    bench.begin(bench.load(0, 1, BASE + 0x1000))
    for cycle in range(26):
        access = bench.load(0, 2 + cycle // 2, BASE + 0x2000 + 0x1000 * cycle) if cycle in (1, 3, 5) else None
        bench.step(access=access, ready=cycle < 5 or cycle >= 19)
    act, search = bench.seen("access_act"), bench.seen("access_search")
    assert bench.when("outcome") == [4, 6, 21, 23] and act[5:7] == [DECIDE, ACT]
    assert act[7:24] == [DONE] * 13 + [DECIDE, ACT, DECIDE, ACT]
    assert search[5:23] == [COMPARE] + [SELECT] * 14 + [COMPARE, SELECT, 0]
    assert bench.seen("access_vector")[:22] == [1, 0, 1, 0, 1, 0] + [1] * 14 + [0, 0]
    assert list(bench.sent) == [19, 20, 22, 24]


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
def test_a_result_that_is_to_merge_does_so_and_is_in_place_if_its_row_is_no_longer_shared(killed: int) -> None:
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
    bench.steps(6)
    assert bench.fields[4]["outcome"] == MISS and bench.when("ended") == [4] and bench.when("table_writes") == []
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
    bench.steps(4)
    death = bench.death(2, 4)
    assert not bench.step(death=death)["killed"] and bench.count(row) == 2
    assert bench.step(death=death)["killed"] and bench.count(row) == 1


def test_a_kill_before_the_hit_makes_it_a_miss() -> None:
    bench = Bench()
    bench.settle(bench.load(2, 4))
    bench.begin(bench.load(7, 4))
    bench.steps(3)
    assert bench.step(death=bench.death(2, 4))["killed"] and bench.fields[3]["ended"]
    bench.step()
    assert bench.fields[4]["outcome"] == MISS and bench.fields[4]["lost"]
