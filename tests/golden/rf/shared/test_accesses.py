"""The access port: what is tracked, what stores delete, when an access acts (docs/schemes/larf.md, sections 6 to 9)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.golden.rf.shared.bench import BASE, Bench, machine
from tests.golden.scenario import FULL
from warpfile.golden.rf.contract import Sent
from warpfile.golden.rf.shared.addresses import Known
from warpfile.spec.schemes.shared import (
    ACT,
    DELETE,
    DONE,
    FLUSH,
    LOAD,
    MISS,
    PERFECT,
    PLAIN,
    RECHECK,
    SPAN,
    STORE,
    THROUGH,
)

PARTIAL, IRREGULAR, STRIDE, UPPER = 1, 2, 4, 8
ALL = FULL


def entries(bench: Bench) -> list[Known]:
    """Valid entries, in the order of their numbers."""
    return [entry for entry in bench.file.addresses.entries if entry is not None]


def at(bench: Bench, values: list[int], **more: int) -> Sent:
    """A load from these addresses."""
    return bench.access(LOAD, values, **more)


def line(base: int, stride: int = 4) -> list[int]:
    """Addresses that grow from lane to lane."""
    return [base + stride * lane for lane in range(32)]


@pytest.mark.parametrize(
    ("make", "reason", "cycle"),
    [
        (lambda b: b.load(0, 1, mask=0xF, full=0), PARTIAL, 0),
        (lambda b: b.load(0, 1, mask=0), IRREGULAR, 0),
        (lambda b: b.load(0, 1, mask=0xFFFFFFFE), IRREGULAR, 0),
        (lambda b: b.load(0, 1, mask=0xFFFF00FF), IRREGULAR, 0),
        (lambda b: b.load(0, 1, stride=-4), IRREGULAR, 0),
        (lambda b: b.load(0, 1, stride=1024), IRREGULAR, 0),
        (lambda b: at(b, [*line(BASE)[:31], BASE]), IRREGULAR, 0),
        (lambda b: at(b, line(0xFFFFFFC0)), IRREGULAR, 0),
        (lambda b: at(b, [*line(BASE)[:31], line(BASE)[31] + (1 << 32)]), IRREGULAR, 0),
        (lambda b: b.load(0, 1, stride=6), STRIDE, 0),
        (lambda b: b.load(0, 1, BASE + 2), STRIDE, 0),
        (lambda b: b.load(0, 1, 0xFFFFFFC0, mask=0xFFFF), UPPER, 1),
        (lambda b: b.load(0, 1, 0xFFFFFF84, mask=0x7FFFFFFF), UPPER, 1),
        (lambda b: b.load(0, 1, 0x1_0000_0000), UPPER, 1),
    ],
)
def test_what_is_not_tracked_passes(make: Callable[[Bench], Sent], reason: int, cycle: int) -> None:
    bench = Bench()
    bench.settle(bench.load(3, 3))
    bench.begin(make(bench))
    bench.steps(6)
    assert bench.when("untracked") == [cycle] and bench.fields[cycle]["untracked"] == reason
    assert list(bench.sent) == [3 + cycle] and not bench.when("outcome"), "UPPER is found in C, behind which is S"
    assert len(entries(bench)) == 1


@pytest.mark.parametrize("stride", [0, 4, 8, 12, 512, 1020])
@pytest.mark.parametrize("strides", ["any", "powers"])
def test_strides_that_are_tracked(stride: int, strides: str) -> None:
    bench = Bench(machine(strides=strides))
    bench.begin(bench.load(0, 1, stride=stride))
    bench.steps(6)
    tracked = strides == "any" or stride in (0, 4, 8, 512)
    assert bench.when("outcome") == ([4] if tracked else [])
    assert (bench.fields[0]["untracked"] == STRIDE) != tracked


def test_a_vector_that_ends_at_4_gb_is_tracked_and_says_what_is_above() -> None:
    bench = Bench()
    bench.settle(bench.load(0, 1, 0x7_FFFF_FF80))
    assert entries(bench) == [Known(0xFFFFFF80, 4, ALL, bench.row(0, 1))] and bench.file.addresses.upper == 7
    bench.begin(bench.load(0, 2, 0x7_FFFF_FF80))
    bench.rest()
    assert max(bench.seen("outcome")) == PERFECT


def test_one_lane_has_stride_0() -> None:
    bench = Bench()
    bench.settle(bench.load(0, 1, mask=1))
    assert entries(bench) == [Known(BASE, 0, 1, bench.row(0, 1))]


@pytest.mark.parametrize(
    ("make", "left"),
    [
        (lambda b: b.store(BASE + 0x7F, mask=1, size=0), [1]),
        (lambda b: b.store(BASE + 0x80, mask=1, size=0), [0]),
        (lambda b: b.store(BASE - 1, mask=1, size=0), [0, 1]),
        (lambda b: b.store(BASE - 12, mask=1, size=4), [1]),
        (lambda b: b.store(BASE - 16, mask=1, size=4), [0, 1]),
        (lambda b: b.store(BASE + 0xFF, mask=1, size=4), [0]),
        (lambda b: b.store(BASE, stride=4), [1]),
        (lambda b: b.store(BASE - 0x100, stride=16, mask=0x1FFFF), [1]),
        (lambda b: b.store(BASE - 0x400, stride=-4), []),
        (lambda b: b.store(BASE - 0x400, mask=0b101), []),
        (lambda b: b.store(0xFFFFFFFC, mask=1, size=3), []),
        (lambda b: b.store(0xFFFFFFFC, mask=1, size=2), [0, 1]),
        (lambda b: b.store(BASE + (1 << 32), mask=1), [0, 1]),
        (lambda b: b.store(BASE, mask=0), [0, 1]),
        (lambda b: b.access(FLUSH, [0] * 32), []),
        (lambda b: b.access(PLAIN, line(BASE)), [0, 1]),
    ],
)
def test_a_store_ends_the_entries_with_a_word_of_its_range(make: Callable[[Bench], Sent], left: list[int]) -> None:
    bench = Bench()
    bench.settle(bench.load(0, 1), bench.load(0, 2, BASE + 0x80))
    rows = [bench.row(0, 1), bench.row(0, 2)]
    access = make(bench)
    bench.begin(access)
    bench.steps(6)
    kind = access.entry.beat.hints >> bench.cfg.hint_at("access") & 3
    assert [rows.index(entry.row) for entry in entries(bench)] == left
    assert sum(bench.seen("deleted")) == (2 - len(left) if kind == STORE else 0)
    assert bench.when("deleted") == ([2] if kind == STORE and len(left) < 2 else [])
    assert bench.when("flushed") == ([2] if kind == FLUSH else [])
    assert list(bench.sent) == [0 if kind == PLAIN else 4]


def test_a_flush_lets_another_upper_in_and_a_store_does_not() -> None:
    for kind, outcomes in ((FLUSH, 1), (STORE, 0)):
        bench = Bench()
        bench.settle(bench.load(0, 1))
        bench.settle(bench.access(kind, [0] * 32, mask=0b101))
        assert not entries(bench)
        bench.begin(bench.load(0, 2, BASE + (1 << 32)))
        bench.rest()
        assert len(bench.when("outcome")) == outcomes


def test_a_store_deletes_in_k_alone_however_long_it_stays_in_any_stage() -> None:
    bench = Bench()
    bench.settle(bench.load(0, 1), bench.load(0, 2, BASE + 0x100))
    bench.begin(bench.load(1, 3, BASE + 0x200))
    for cycle in range(16):
        store = bench.store(BASE + 0x100 * (cycle // 2), mask=1) if cycle in (1, 3) else None
        bench.step(access=store, ready=cycle >= 12)
    assert bench.seen("access_search")[3:7] == [SPAN, DELETE, SPAN, DELETE]
    assert (
        bench.seen("access_search")[7:13] == [THROUGH] * 6 and bench.seen("access_act")[5:13] == [RECHECK] + [DONE] * 7
    )
    assert bench.when("deleted") == [4, 6] and list(bench.sent) == [12, 13, 14]


def test_the_pointer_goes_round_and_evicts_what_is_valid() -> None:
    bench = Bench(machine(table_entries=2))
    bench.settle(bench.load(0, 1), bench.load(0, 2, BASE + 0x100))
    rows = [bench.row(0, 1), bench.row(0, 2)]
    bench.begin(bench.load(0, 3, BASE + 0x200))
    bench.steps(5)
    assert bench.when("evicted") == [4] and bench.step()["table_pointer"] == 1
    assert [entry.row for entry in entries(bench)] == [bench.row(0, 3), rows[1]]
    assert bench.count(rows[0]) == 1 and bench.file.counts.marked[rows[0]], "the row and its mark stay"


def test_the_pointer_does_not_fill_holes_out_of_turn() -> None:
    bench = Bench(machine(table_entries=2))
    bench.settle(bench.load(0, 1), bench.load(0, 2, BASE + 0x100), bench.store(BASE + 0x100, mask=1))
    bench.begin(bench.load(0, 3, BASE + 0x200))
    bench.steps(5)
    assert bench.when("evicted") == [4] and [entry.base for entry in entries(bench)] == [BASE + 0x200]


def test_an_entry_that_ends_with_the_insertion_is_not_evicted() -> None:
    bench = Bench(machine(table_entries=1))
    bench.settle(bench.load(0, 1))
    bench.begin(bench.load(0, 1, BASE + 0x200))
    bench.steps(5)
    assert bench.when("ended") == [4] and not bench.when("evicted")
    assert [entry.base for entry in entries(bench)] == [BASE + 0x200]


def test_a_mark_that_no_entry_has_ends_nothing() -> None:
    bench = Bench(machine(table_entries=1))
    bench.settle(bench.load(0, 1), bench.load(0, 2, BASE + 0x100))
    assert bench.file.counts.marked[bench.row(0, 1)]
    bench.step({0: bench.result(0, 1)})
    bench.steps(3)
    assert bench.when("search") == [1] and not bench.when("ended")
    assert not bench.file.counts.marked[bench.row(0, 1)]


def test_a_count_does_not_exceed_its_bits() -> None:
    bench = Bench(machine(count_bits=2))
    bench.settle(bench.load(0, 1), bench.load(0, 2), bench.load(0, 3))
    assert bench.count(bench.row(0, 1)) == 3
    bench.begin(bench.load(0, 4))
    bench.steps(5)
    assert bench.fields[4]["outcome"] == MISS and bench.fields[4]["lost"] and bench.count(bench.row(0, 1)) == 3


def test_with_one_bit_nothing_is_shared() -> None:
    bench = Bench(machine(count_bits=1))
    bench.settle(bench.load(0, 1), bench.load(0, 2))
    assert bench.row(0, 1) != bench.row(0, 2)


def test_a_hit_on_the_own_row_changes_nothing_and_completes() -> None:
    bench = Bench()
    bench.settle(bench.load(0, 1))
    row = bench.row(0, 1)
    bench.begin(bench.load(0, 1))
    bench.steps(6)
    assert bench.fields[4]["outcome"] == PERFECT and bench.fields[4]["outcome_row"] == row
    assert not bench.when("table_writes") and bench.count(row) == 1 and bench.when("absorbed_done") == [5]


def test_a_hit_drops_the_old_row_and_ends_its_entry() -> None:
    bench = Bench()
    bench.settle(bench.load(0, 1), bench.load(0, 2, BASE + 0x100))
    old = bench.row(0, 2)
    bench.begin(bench.load(0, 2))
    bench.steps(6)
    assert bench.fields[4]["outcome"] == PERFECT and bench.when("ended") == [4]
    assert bench.count(old) == 0 and bench.count(bench.row(0, 1)) == 2


def test_a_merge_may_read_the_row_that_it_writes() -> None:
    bench = Bench()
    bench.settle(bench.load(0, 1), bench.load(0, 2, BASE + 0x80))
    row = bench.row(0, 1)
    request = bench.load(0, 1, BASE + 8)
    bench.begin(request)
    bench.rest()
    assert max(bench.seen("outcome")) == 3 and bench.row(0, 1) == row and bench.when("ended") == [4]
    assert bench.file.contents.words[row] == request.entry.beat.result_words


def test_both_sources_may_be_in_one_bank() -> None:
    bench = Bench()
    bench.settle(bench.load(0, 1), bench.load(0, 3, BASE + 0x80))
    assert bench.row(0, 1) % 2 == bench.row(0, 3) % 2
    bench.begin(bench.load(0, 2, BASE + 8))
    bench.rest()
    assert bench.when("merge_read") == [5, 6]


def test_a_merge_of_a_row_that_is_not_filled_is_a_lost_miss() -> None:
    bench = Bench()
    bench.step(access=bench.load(0, 1))
    bench.steps(6)
    bench.begin(bench.load(1, 2, BASE, mask=0xFFFF))
    bench.steps(6)
    assert bench.fields[4]["outcome"] == PERFECT
    bench.begin(bench.load(1, 3, BASE + 4, mask=0xFFFF))
    bench.steps(6)
    assert bench.fields[4]["outcome"] == MISS and bench.fields[4]["lost"]


def test_a_nearer_row_that_is_not_filled_hides_a_ready_one() -> None:
    bench = Bench()
    bench.settle(bench.load(0, 1))
    bench.step(access=bench.load(0, 3, BASE + 4))
    bench.begin(bench.load(1, 3, BASE + 8, mask=0xFFFF))
    bench.steps(12)
    assert [fields["outcome"] for fields in bench.fields if fields["outcome"]] == [MISS, MISS]
    assert bench.when("lost") == bench.when("outcome")[1:]


def test_a_source_that_is_dropped_before_e_is_lost() -> None:
    bench = Bench()
    bench.settle(bench.load(0, 1))
    bench.begin(bench.load(1, 3, BASE + 4, mask=0xFFFF))
    bench.steps(2)
    bench.step(death=bench.death(0, 1))
    bench.steps(2)
    assert bench.fields[4]["outcome"] == MISS and bench.fields[4]["lost"]


def busy_slot(merge_wait: int) -> Bench:
    """A merge whose bank is taken by results for a while, and another one behind it."""
    bench = Bench(machine(merge_wait=merge_wait, banks=1, rows=128))
    bench.settle(*[bench.result(3, register) for register in range(8)])
    bench.settle(*[bench.load(0, n, BASE + at) for n, at in enumerate((0, 0x80, 0x200, 0x280))])
    bench.begin(bench.load(1, 3, BASE + 4))
    bench.step(access=bench.load(1, 4, BASE + 0x204))
    while len(bench.when("outcome")) < 2:
        now = len(bench.fields)
        bench.step({0: bench.result(3, now % 8)} if 3 <= now <= 14 and 0 not in bench.pins else None)
    bench.rest()
    return bench


def test_an_access_waits_for_the_merge_slot_only_so_long() -> None:
    for wait in (0, 1, 3):
        bench = busy_slot(wait)
        first = bench.seen("access_act").index(ACT, 6)
        assert bench.when("merge_busy") == [*range(first, first + wait)] == bench.when("act_wait")
        assert bench.when("outcome")[1] == first + wait == bench.when("fallback")[0]
        assert bench.fields[first + wait]["outcome"] == MISS and not bench.fields[first + wait]["lost"]
    bench = busy_slot(63)
    idle = next(n for n, f in enumerate(bench.fields) if n > 5 and not f["merge_state"])
    assert bench.when("outcome")[1] == idle and not bench.when("fallback") and bench.fields[idle]["outcome"] == 3


def test_a_hit_waits_for_the_list_and_a_miss_does_not() -> None:
    bench = Bench(machine(absorbed_loads=1))
    first = bench.load(0, 1)
    bench.step(access=first)
    bench.steps(6)
    bench.step(access=bench.load(0, 2))
    bench.steps(6)
    assert bench.file.absorbed.full
    bench.begin(bench.load(0, 3, BASE + 0x400))
    bench.step()
    bench.step(access=bench.load(0, 4))
    bench.steps(12)
    assert bench.when("outcome") == [4] and bench.when("act_wait")[0] == 6 and bench.step()["act_wait"]
    bench.fields.clear()
    bench.step({2: bench.answer(first)})
    bench.steps(6)
    assert bench.when("absorbed_done") == [3, 5] and bench.when("outcome") == [4]


def test_a_completion_of_the_port_goes_before_an_absorbed_load() -> None:
    bench = Bench()
    bench.settle(bench.load(0, 1), bench.result(3, 3), bench.result(3, 4))
    bench.begin(bench.load(0, 2))
    bench.steps(3)
    bench.step({2: bench.result(3, 3)})
    bench.step({2: bench.result(3, 4)})
    bench.steps(5)
    assert bench.when("stored") == [5, 6] and bench.when("absorbed_done") == [7]
    assert bench.seen("completed")[5:8] == [1, 1, 1]


def test_an_access_asks_for_its_old_row_until_the_table_serves_it() -> None:
    """R1, R3 of warp 0 and R1 of warp 2 have their entries in memory 1."""
    bench = Bench()
    bench.settle(bench.load(3, 3))
    bench.begin(bench.load(0, 1))
    results = {port: bench.result(2, 1 + 2 * port) for port in range(2)}
    bench.step()
    bench.step(results)
    bench.steps(2)
    assert [fields["table_reads"] >> 2 & 3 for fields in bench.fields] == [0, 2, 1, 0]


def test_an_access_does_not_act_before_it_knows_its_old_row() -> None:
    bench = Bench()
    bench.settle(bench.load(3, 3))
    bench.begin(bench.load(0, 1))
    bench.step()
    for number in range(6):
        pair = {0: bench.result(2, 1 + 2 * number % 8), 1: bench.result(4, 1 + 2 * number % 8)}
        bench.step({port: result for port, result in pair.items() if port not in bench.pins})
    bench.steps(8)
    asked = next(n for n, f in enumerate(bench.fields) if n >= 0 and f["outcome"])
    assert asked > 4 and bench.when("act_wait") == [*range(4, asked)]


def test_plain_accesses_alone_pass_in_every_cycle() -> None:
    bench = Bench()
    bench.begin(bench.access(PLAIN, [0] * 32))
    for _ in range(4):
        bench.step(access=bench.access(PLAIN, [0] * 32))
    bench.steps(2)
    assert list(bench.sent) == [0, 1, 2, 3, 4] and not bench.when("access_vector") and bench.file.port.empty


def test_plain_accesses_fill_all_stages_while_the_pins_do_not_take() -> None:
    bench = Bench()
    bench.begin(bench.access(PLAIN, [0] * 32))
    for cycle in range(14):
        bench.step(ready=cycle >= 5, access=bench.access(PLAIN, [0] * 32) if cycle < 5 else None)
    assert bench.seen("access_vector")[:10] == [0, *[1] * 7, 0, 0]
    assert bench.seen("access_search")[:10] == [0, 0, *[THROUGH] * 7, 0]
    assert bench.seen("access_act")[:11] == [0, 0, 0, *[DONE] * 7, 0]
    assert list(bench.sent) == [5, 6, 7, 8, 9, 10] and bench.file.port.empty


@pytest.mark.parametrize("taken", range(5))
def test_a_plain_access_does_not_pass_others(taken: int) -> None:
    """In whatever stage the load is as it is taken."""
    bench = Bench()
    load, plain = bench.load(0, 1), bench.access(PLAIN, [0] * 32)
    bench.begin(load)
    for cycle in range(9):
        bench.step(access=plain if cycle == taken else None)
    assert bench.when("access_vector")[1:] == [*range(taken + 1, taken + 2 + (taken == 0))]
    assert bench.seen("access_search").count(THROUGH) == 1 + (taken <= 1), "in 3 the load is in D"
    assert list(bench.sent) == [5, max(6, taken + 4)] and bench.sent[5] is load


def test_the_file_rests_when_the_port_the_list_and_the_slot_do() -> None:
    bench = Bench()
    bench.settle(bench.load(0, 1), bench.load(0, 2, BASE + 0x80))
    bench.begin(bench.load(1, 3, BASE + 4))
    rest = []
    for _ in range(12):
        rest.append(bench.file.quiet)
        bench.step()
    assert rest == [False] * 10 + [True] * 2, "the list is empty behind 9"
