"""What results, kills and sweeps do to shared rows (docs/schemes/larf.md, sections 10 and 12)."""

from __future__ import annotations

import pytest

from tests.golden.rf.shared.bench import BASE, Bench, machine
from warpfile.golden.entry import Entry
from warpfile.golden.rf.renaming import UNMAPPED
from warpfile.spec.cta_dispatcher import Launch
from warpfile.spec.schemes.shared import MISS, PERFECT
from warpfile.spec.workload import Kernel


def test_a_full_result_of_an_unmapped_register_takes_the_lowest_free_row_of_its_bank() -> None:
    bench = Bench()
    bench.step({0: bench.result(3, 4)})
    bench.steps(4)
    assert bench.when("search") == [1] == bench.when("decision") and bench.fields[1]["decision"] == 4
    assert bench.fields[1]["target"] == 1 | 1 << bench.cfg.bank_bits + bench.cfg.row_bits
    assert bench.when("table_writes") == [1] and bench.when("stored") == [2] and bench.row(3, 4) == 1


def test_a_row_of_the_next_bank_is_taken_if_there_is_none() -> None:
    bench = Bench(machine(warps=4, rows=32))
    bench.settle(*[bench.result(warp, r) for warp in range(4) for r in range(16) if (warp + r) % 2 == 0])
    bench.settle(*[bench.result(warp, r) for warp in range(2) for r in range(16) if (warp + r) % 2])
    assert bench.file.counts._free[0] == 0
    bench.settle(bench.load(2, 1), bench.load(2, 3))
    assert bench.row(2, 3) == bench.row(2, 1)
    bench.file.mapping.drop(bench.row(0, 0))
    bench.file.counts.edge()
    assert bench.file.counts.fresh(0) == bench.row(0, 0) and bench.file.counts.fresh(1) % 2 == 1


def test_a_second_result_of_a_row_of_its_own_is_in_place() -> None:
    bench = Bench()
    bench.settle(bench.result(3, 4))
    bench.step({0: bench.result(3, 4, 9, mask=0xF)})
    bench.steps(4)
    assert bench.when("decision") == [1] and bench.fields[1]["decision"] == 1 and not bench.when("search")
    assert not bench.when("table_writes")
    assert bench.file.contents.words[bench.row(3, 4)] == bench.packed([9] * 4 + [1] * 28)


def test_a_partial_result_of_an_unmapped_register_clears_the_other_lanes() -> None:
    bench = Bench()
    bench.settle(bench.result(3, 4, 7))
    row = bench.row(3, 4)
    bench.step(death=bench.death(3, 4))
    bench.settle(bench.result(3, 4, 9, mask=0xF))
    assert bench.row(3, 4) == row and bench.file.contents.words[row] == bench.packed([9] * 4 + [0] * 28)


def test_a_result_of_a_marked_row_ends_its_entry_and_stays() -> None:
    bench = Bench()
    bench.settle(bench.load(3, 4))
    row = bench.row(3, 4)
    bench.step({0: bench.result(3, 4)})
    bench.steps(4)
    assert bench.when("search") == [1] == bench.when("ended") and bench.fields[1]["decision"] == 1
    assert bench.row(3, 4) == row and not bench.when("table_writes") and bench.fields[2]["valid_entries"] == 0


@pytest.mark.parametrize("acts", [False, True])
def test_one_result_changes_per_cycle_and_none_when_an_access_acts(acts: bool) -> None:
    bench = Bench()
    bench.settle(bench.load(6, 6))
    if acts:
        bench.step(access=bench.load(7, 7))
        bench.steps(3)
        bench.fields.clear()
    bench.step({0: bench.result(1, 1), 2: bench.result(2, 2)})
    bench.steps(5)
    first = 2 if acts else 1
    assert [fields["search"] for fields in bench.fields[1:4]] == ([0, 4, 1] if acts else [4, 1, 0])
    assert [fields["search_wait"] for fields in bench.fields[1:4]] == ([5, 1, 0] if acts else [1, 0, 0])
    assert bench.when("outcome") == ([1] if acts else []) and bench.when("decision") == [first, first + 1]


def test_a_kill_waits_for_a_result_that_gives_up_a_row() -> None:
    """(7, R4) and (2, R4) share a row, that of (2, R4) is dead, and (7, R4) is written."""
    bench = Bench()
    bench.settle(bench.load(2, 4), bench.load(7, 4))
    row = bench.row(2, 4)
    bench.step({0: bench.result(7, 4)})
    death = bench.death(2, 4)
    killed = [bench.step(death=death)["killed"] for _ in range(2)]
    assert killed == [0, 1] and bench.when("decision") == [1] and bench.fields[1]["decision"] == 3
    assert bench.count(row) == 0


def test_a_kill_does_not_wait_for_a_result_that_takes_a_free_row() -> None:
    bench = Bench()
    bench.settle(bench.load(2, 4))
    bench.step({0: bench.result(7, 4)})
    assert bench.step(death=bench.death(2, 4))["killed"] and bench.fields[1]["search"]


def test_who_would_drop_or_write_a_row_that_a_merge_has_yet_to_read_waits() -> None:
    bench = Bench()
    bench.settle(bench.load(0, 1), bench.load(0, 2, BASE + 0x80))
    bench.step(access=bench.load(1, 3, BASE + 4))
    bench.steps(5)
    bench.fields.clear()
    bench.step(death=bench.death(0, 2), results={0: bench.result(0, 1)})
    assert bench.fields[0]["merge_state"] == 1 and not bench.fields[0]["killed"]
    assert not bench.step(death=bench.death(0, 2))["killed"], "the second row is busy until it is read"
    assert bench.fields[1]["search"], "the first one is not"
    assert bench.step(death=bench.death(0, 2))["killed"]


def test_a_kill_of_a_busy_row_leaves_the_merge_right() -> None:
    bench = Bench()
    bench.settle(bench.load(0, 1), bench.load(0, 2, BASE + 0x80))
    request = bench.load(1, 3, BASE + 4)
    bench.step(access=request)
    bench.steps(5)
    deaths = [bench.death(0, 1), bench.death(0, 2)]
    while deaths:
        if bench.step(death=deaths[0])["killed"]:
            deaths.pop(0)
    bench.rest()
    assert bench.file.contents.words[bench.row(1, 3)] == request.entry.beat.result_words


def test_banks_serve_the_merge_slot_behind_results_and_before_units() -> None:
    bench = Bench(machine(banks=1, rows=128))
    bench.settle(bench.load(0, 1), bench.load(0, 2, BASE + 0x80), bench.result(5, 5))
    bench.begin(bench.load(1, 3, BASE + 4))
    bench.steps(3)
    bench.step({0: bench.result(5, 5)})
    bench.steps(8)
    assert bench.when("stored") == [5] == bench.when("merge_hold") and bench.when("merge_read") == [6, 7]


def exit_of(bench: Bench) -> Entry:
    """A warp's EXIT."""
    entry = bench.load(0, 0).entry
    entry.exits = True
    return entry


def test_a_sweep_drops_what_a_warp_shares_and_the_row_stays() -> None:
    bench = Bench()
    bench.file.launched(Launch(7, 0, 0, 0))
    bench.settle(bench.load(2, 4), bench.load(7, 4), bench.load(7, 5, BASE + 0x100))
    row, own = bench.row(2, 4), bench.row(7, 5)
    bench.file.issued(7, exit_of(bench))
    bench.steps(20)
    assert bench.row(7, 4) == bench.row(7, 5) == -1 and bench.count(row) == 1 and bench.count(own) == 0
    assert bench.when("ended") == [3], "R4 is read in 1, R5 in 2, which is dropped in 3"
    assert bench.when("retired") == [3] and bench.file.table.entry(7, 4) == UNMAPPED


def test_a_hit_behind_the_exit_of_the_warp_that_loaded_is_lost_with_the_row() -> None:
    bench = Bench()
    bench.file.launched(Launch(7, 0, 0, 0))
    bench.settle(bench.load(7, 4))
    bench.file.issued(7, exit_of(bench))
    bench.steps(20)
    bench.begin(bench.load(2, 4))
    bench.rest()
    assert max(bench.seen("outcome")) == MISS and not any(bench.seen("lost"))


def test_a_sweep_waits_for_e_and_goes_on() -> None:
    bench = Bench()
    bench.file.launched(Launch(7, 0, 0, 0))
    bench.settle(bench.load(2, 0), bench.load(7, 0))
    row = bench.row(7, 0)
    bench.step(access=bench.load(3, 0))
    bench.steps(2)
    bench.file.issued(7, exit_of(bench))
    bench.fields.clear()
    bench.steps(4)
    assert bench.when("outcome") == [2] and bench.fields[2]["outcome"] == PERFECT
    assert bench.when("sweep_read") == [1] and bench.when("sweep_free") == [3], "in 2 an access acts"
    assert bench.count(row) == 2


def test_a_kernel_begins_with_an_empty_table_at_entry_0() -> None:
    bench = Bench()
    bench.settle(bench.load(2, 4), bench.load(2, 5, BASE + (1 << 33)))
    assert bench.file.addresses.pointer == 1 and bench.file.addresses.valid == 1
    bench.file.kernel(Kernel(8, {}))
    bench.step()
    bench.step()
    assert bench.fields[0]["valid_entries"] == 1 and not bench.fields[0]["flushed"]
    assert bench.fields[1]["valid_entries"] == bench.fields[1]["table_pointer"] == 0
    assert bench.file.addresses.upper < 0


def test_a_kernel_waits_for_an_access_in_the_port() -> None:
    bench = Bench()
    bench.step(access=bench.store(BASE), ready=False)
    for _ in range(5):
        assert not bench.file.kernel_ready and not bench.file.quiet
        bench.step(ready=False)
    bench.steps(1)
    assert bench.file.kernel_ready and bench.file.quiet
