"""What becomes of a result, cycle by cycle (docs/schemes/rfc.md, step 1)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.golden.rf.rfc.scenario import hint, lines, one_warp, queued, rfc_config
from tests.golden.scenario import NOP, Run, Step, op
from warpfile.spec.trace import Access, Port, Space, StaticInstruction

CFG = rfc_config(
    warps=4,
    active_warps=2,
    cache_entries=2,
    alu_latency=4,
    sfu_latency=4,
    sfu_interval=1,
    shared_latency=4,
    hit_latency=4,
    banks=4,
    bank_skew="none",
)
SOME = 0x0000FFFF


def go(*program: Step, hints: dict[int, int] | None = None, **changes: Any) -> Run:
    return one_warp(CFG.replace(**changes), program, hints)


def load(sources: tuple[int, ...], dest: int, space: Space = Space.GLOBAL) -> StaticInstruction:
    """A load; without addresses it hits."""
    return op(sources, dest, port=Port.LSU, space=space, access=Access.LOAD, bytes=4)


def sfu(dest: int) -> StaticInstruction:
    return op((), dest, port=Port.SFU)


KINDS = ("cache_write", "cache_write_hit", "bypass_hint", "bypass_partial", "bypass_full", "long", "long_merge")


def kinds(result: Run) -> dict[int, set[str]]:
    """What results became, by cycle."""
    return {cycle: set(found) for cycle, f in enumerate(result.fields) if (found := [k for k in KINDS if f[k]])}


def test_a_result_takes_the_lowest_line_that_is_free() -> None:
    result = go(op((), 4), op((), 5))
    assert kinds(result) == {7: {"cache_write"}, 8: {"cache_write"}}
    assert lines(CFG, result.fields[9]) == {0: 4, 1: 5}
    assert not result.when("bank_write")


@pytest.mark.parametrize("mask", [0xFFFFFFFF, SOME])
def test_a_register_that_is_there_is_written_in_place(mask: int) -> None:
    # The partial result and the reader behind it find the value whole.
    result = go(op((), 4), (op((), 4), mask), op((4,), 5))
    assert list(kinds(result).values())[:2] == [{"cache_write"}, {"cache_write", "cache_write_hit"}]
    assert result.model.operands_checked == 1
    assert result.fields[-1]["head"] == 0


def test_some_lanes_go_to_the_queue() -> None:
    result = go((op((), 4), SOME), op((4,), 5))
    assert kinds(result)[7] == {"bypass_partial"}
    assert queued(CFG, result.fields[8]) == [1, 0, 0, 0]
    assert result.model.counters["cache_misses"] == 1


@pytest.mark.parametrize(
    ("allocation", "given", "mask", "expected"),
    [
        ("hinted", True, 0xFFFFFFFF, "bypass_hint"),
        ("hinted", True, SOME, "bypass_hint"),
        ("hinted", False, SOME, "bypass_partial"),
        ("hinted", False, 0xFFFFFFFF, "cache_write"),
        ("all", True, 0xFFFFFFFF, "cache_write"),
    ],
)
def test_the_hint_is_looked_at_before_the_lanes(allocation: str, given: bool, mask: int, expected: str) -> None:
    result = go((op((), 4), mask), hints={0: hint(no_allocate=given)}, allocation=allocation)
    assert kinds(result) == {7: {expected}}


def test_the_hint_says_nothing_about_a_register_that_is_there() -> None:
    result = go(op((), 4), op((), 4), hints={1: hint(no_allocate=True)}, allocation="hinted")
    assert list(kinds(result).values()) == [{"cache_write"}, {"cache_write", "cache_write_hit"}]


@pytest.mark.parametrize(("mask", "expected"), [(0xFFFFFFFF, "bypass_full"), (SOME, "bypass_partial")])
def test_without_lines_everything_is_queued(mask: int, expected: str) -> None:
    assert kinds(go((op((), 4), mask), cache_entries=0)) == {7: {expected}}


def test_the_oldest_register_leaves() -> None:
    result = go(op((), 4), op((), 5), op((), 6), op((), 7), *[NOP] * 6)
    assert result.when("evict") == [9, 10]
    assert [result.fields[cycle]["head"] for cycle in (9, 10, 11)] == [0, 1, 0]
    assert lines(CFG, result.fields[11]) == {0: 6, 1: 7}
    # R4 is in bank 0, R5 in bank 1.
    assert [queued(CFG, result.fields[cycle]) for cycle in (10, 11)] == [[1, 0, 0, 0], [0, 1, 0, 0]]
    assert result.events("bank_write") == [(10, 0b0001), (11, 0b0010)]


def test_the_least_recently_used_register_leaves() -> None:
    # R4 is read after R5 was written.
    result = go(op((), 4), op((), 5), op((4,), port=Port.ALU), *[NOP] * 4, op((), 6), *[NOP] * 6, replacement="lru")
    assert lines(CFG, result.fields[-1]) == {0: 4, 1: 6}
    assert not any(f["head"] for f in result.fields)


def test_without_use_the_order_of_writes_counts_and_of_two_reads_the_higher_slot_is_later() -> None:
    both = op((5, 4), port=Port.ALU)
    result = go(op((), 4), op((), 5), both, *[NOP] * 4, op((), 6), *[NOP] * 6, replacement="lru")
    assert lines(CFG, result.fields[-1]) == {0: 4, 1: 6}


@pytest.mark.parametrize("given", [{"dead": 1}, {"evict_first": 1}])
@pytest.mark.parametrize(("replacement", "expected"), [("evict_first", {0: 4, 1: 6}), ("fifo", {0: 6, 1: 5})])
def test_what_is_not_read_again_leaves_first(given: dict[str, int], replacement: str, expected: dict[int, int]) -> None:
    program = [op((), 4), op((), 5), op((5,), port=Port.ALU), *[NOP] * 4, op((), 6), *[NOP] * 6]
    result = go(*program, hints={2: hint(**given)}, replacement=replacement)
    assert lines(CFG, result.fields[-1]) == expected
    assert result.fields[-1]["head"] == (replacement == "fifo")


def test_a_dead_register_is_dropped_unless_dead_bits_are_ignored() -> None:
    program = [op((), 4), op((4,), 5), op((), 6), op((), 7), *[NOP] * 6]
    for dead_bits, dropped in (("honoured", True), ("ignored", False)):
        result = go(*program, hints={1: hint(dead=1)}, cache_entries=1, dead_bits=dead_bits)
        assert [bool(f["dead"]) for f in result.fields[9:12]] == [False, False, True]
        first = result.when("evict_dead" if dropped else "evict")[0]
        assert first == result.when("cache_write")[1]
        assert bool(result.model.counters["evictions_dead"]) is dropped


def test_a_dead_register_that_is_written_lives_again() -> None:
    result = go(op((), 4), op((4,), 5), (op((), 4), SOME), op((4,), 6), hints={1: hint(dead=1, evict_first=1)})
    assert result.fields[11]["dead"] == result.fields[11]["evict_first"] == 1
    again = result.when("cache_write_hit")[0]
    assert result.fields[again]["dead"] == 1
    assert result.fields[again + 1]["dead"] == result.fields[again + 1]["evict_first"] == 0


def test_a_dead_bit_counts_only_where_all_lanes_are_there() -> None:
    program = [op((), 4), (op((4,), 5), SOME)]
    result = go(*program, hints={1: hint(dead=1, evict_first=1)})
    assert not result.when("dead") and result.when("evict_first")


def test_a_load_passes_the_cache_by() -> None:
    result = go(load((), 4), *[NOP] * 6)
    assert kinds(result) == {7: {"long"}}
    assert result.events("bank_write") == [(8, 0b0001)]


def test_a_load_from_shared_memory_does_not() -> None:
    assert kinds(go(load((), 4, Space.SHARED))) == {7: {"cache_write"}}


def test_loads_are_like_all_others_where_they_may_enter() -> None:
    result = go(load((), 4), long_results="allocate", suspend="never", active_warps=4)
    assert kinds(result) == {7: {"cache_write"}}


def test_a_load_makes_the_line_void_that_has_its_register() -> None:
    result = go(op((), 4), load((), 4), op((4,), 5))
    assert result.events("long_drop") == [(13, 0b100)]
    assert result.fields[13]["held"] == 1 and result.fields[14]["held"] == 0
    assert result.model.operands_checked == 1


def test_a_load_of_some_lanes_is_written_to_the_line() -> None:
    result = go(op((), 4), (load((), 4), SOME), op((4,), 5))
    merge = {"long_merge", "cache_write", "cache_write_hit"}
    assert kinds(result)[13] == merge
    assert result.model.counters["long_results"] == 0


def test_a_load_of_some_lanes_goes_to_the_queue_where_no_line_has_its_register() -> None:
    assert kinds(go((load((), 4), SOME), *[NOP] * 6)) == {7: {"long"}}


def test_one_short_and_one_long_result_are_accepted_per_cycle() -> None:
    # All three come in cycle 9: ALU, SFU and memory.
    changes = {"alu_latency": 4, "sfu_latency": 5, "hit_latency": 6}
    result = go(load((), 4), sfu(5), op((), 6), *[NOP] * 6, **changes)
    assert result.events("write")[:2] == [(9, 0b110), (10, 0b001)]
    assert result.events("write_wait") == [(9, 0b001)]
    assert kinds(result) == {9: {"long", "cache_write"}, 10: {"cache_write"}}


def test_a_result_without_a_register_is_accepted_beside_all_others() -> None:
    test = op((), port=Port.ALU, token_writes=1)
    result = go(load((), 4), sfu(5), test, *[NOP] * 6, alu_latency=4, sfu_latency=5, hit_latency=6)
    assert result.events("write")[0] == (9, 0b111)


def test_short_goes_before_long_into_the_same_queue() -> None:
    # R4 and R8 are both in bank 0, and both arrive in 9.
    result = go(load((), 4), sfu(8), *[NOP] * 6, sfu_latency=5, hit_latency=6, cache_entries=0)
    assert kinds(result) == {9: {"bypass_full"}, 10: {"long"}}
    assert result.model.counters["write_waits"] == 1


def test_a_victim_goes_before_a_load_into_the_same_queue() -> None:
    # R4 is evicted by R5 in 10, when R8 arrives, whose bank is the same.
    result = go(op((), 4), load((), 8), NOP, op((), 5), *[NOP] * 6, cache_entries=1, hit_latency=6)
    assert (result.when("evict"), result.when("long")) == ([10], [11])


def test_a_full_queue_takes_nothing() -> None:
    changes = {"cache_entries": 0, "banks": 1, "bank_cycles": 4, "write_queue": 1}
    result = go(op((), 4), op((), 5), op((), 6), *[NOP] * 12, **changes)
    # Queued in 7, written in 8; the second is queued in 9, when there is room again, and waits for its bank until 12.
    assert result.when("bypass_full") == [7, 9, 13]
    assert result.when("bank_write")[:2] == [8, 12]


@pytest.mark.parametrize(("nops", "evicted"), [(1, 12), (2, 14), (3, 14)])
def test_a_victim_needs_a_read_port(nops: int, evicted: int) -> None:
    # All ports read in 13. R9, which drives R4 out, comes in 11 + nops.
    program = [op((), 4), op((), 5), op((), 6), op((), 7), *[NOP] * nops, op((), 9), op((5, 6, 7)), *[NOP] * 6]
    result = go(*program, cache_entries=4)
    assert (result.when("near_read"), result.when("evict")) == ([13], [evicted])
    assert result.when("write_wait") == ([13] if nops == 2 else [])


def test_a_load_waits_for_the_write_port() -> None:
    # The result of the SFU and the load of some lanes of R4 come in the same cycle.
    program = [op((), 4), NOP, NOP, NOP, NOP, NOP, (load((), 4), SOME), sfu(5), *[NOP] * 6]
    result = go(*program, hit_latency=5)
    short = next(cycle for cycle, ports in result.events("cache_write") if ports == 0b010)
    assert result.when("long_merge") == [short + 1]
    assert (short, 0b100) in result.events("write_wait")


def test_a_load_finds_the_lines_as_the_short_result_leaves_them() -> None:
    # R4 is dead, so that R5 takes its line in the very cycle in which the load of R4 arrives.
    program = [op((), 4), op((4,), port=Port.ALU), *[NOP] * 4, load((), 4), sfu(5), op((4,), 6), op((5,), 7)]
    result = go(*program, hints={1: hint(dead=1)}, cache_entries=1, hit_latency=5)
    both = result.when("evict_dead")[0]
    assert kinds(result)[both] == {"cache_write", "long"}
    assert not result.when("long_drop")
    assert lines(CFG, result.fields[both + 1]) == {0: 5}
    assert result.model.operands_checked == 3
