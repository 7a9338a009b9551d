"""Steps 2 to 6: allocation, collection and dispatch in caching units, cycle by cycle."""

from __future__ import annotations

import pytest

from tests.golden.collectors.malekeh.scenario import NEAR, hinted, malekeh_config, run_malekeh
from tests.golden.collectors.malekeh.view import units_of
from tests.golden.scenario import NOP, Run, hand_trace, op
from warpfile.spec.trace import Access, Port, Space

# Bank of a register of slot 0: its number modulo two; of other slots too, where the kernel has an even number of them.
CFG = malekeh_config(
    **{"warps": 4, "banks": 2, "bank_skew": "none", "collectors": 2, "unit_entries": 4, "source_slots": 3},
    **{"alu_latency": 4, "alu_interval": 1, "sfu_latency": 60, "shared_latency": 60, "wait_control": "fixed"},
)
ONE = CFG.replace(collectors=1)
TWO_ENTRIES = CFG.replace(unit_entries=2, source_slots=2)


def hits(result: Run) -> list[int]:
    """Slots that hit, beat by beat."""
    return [f["hit"] for f in result.fields if f["allocate"]]


def test_a_hit_is_ready_in_the_cycle_after_its_allocation() -> None:
    result = run_malekeh(CFG, hinted(hand_trace([op((2,), 8), op((2,), 9)]), [0, 0, 0]))
    # Granted in 3, filled in 4, dispatched in 5; the unit is free from 6.
    assert result.issues()[:2] == [(2, 0), (6, 0)]
    assert result.when("dispatch") == [5, 7]
    assert hits(result) == [0, 1]
    assert [f["filled"] for f in result.fields[2:9]] == [0, 0, 0, 1, 0, 1, 0]
    assert [f["busy"] for f in result.fields[2:9]] == [0, 1, 1, 1, 0, 1, 0]


def test_only_misses_ask_their_bank_one_fill_per_cycle() -> None:
    result = run_malekeh(CFG, hinted(hand_trace([op((3,), 8), op((2, 3, 5), 9)]), [0, 0, 0]))
    assert hits(result) == [0, 0b010]
    assert result.events("request")[1:] == [(7, 0b101), (8, 0b100)]
    assert result.events("grant")[1:] == [(7, 0b001), (8, 0b100)]
    assert result.when("dispatch")[1] == 10


def test_a_bank_passes_over_a_unit_that_a_lower_bank_serves() -> None:
    result = run_malekeh(CFG, hinted(hand_trace([op((3, 2), 8)]), [0, 0]))
    assert result.events("grant") == [(3, 0b10), (4, 0b01)]


def test_the_unit_allocated_first_is_served_first() -> None:
    # Two warps of ten registers; both ask bank 0 in 4 and 5.
    trace = hand_trace([op((2, 4), 8)], [op((2, 4), 9)], ctas=[0, 1])
    result = run_malekeh(CFG, hinted(trace, [0] * 4))
    slots = CFG.source_slots
    assert result.events("grant") == [(3, 1), (4, 2), (5, 1 << slots), (6, 2 << slots)]


@pytest.mark.parametrize("cycles", [1, 3])
def test_data_arrive_when_they_leave_the_bank(cycles: int) -> None:
    result = run_malekeh(CFG.replace(bank_cycles=cycles), hinted(hand_trace([op((2,), 8)]), [0, 0]))
    assert result.when("dispatch") == [3 + cycles + 1]


def test_a_beat_without_sources_takes_a_unit_and_leaves_at_once() -> None:
    result = run_malekeh(CFG, hinted(hand_trace([op((), 8), op((), 9)]), [0, 0, 0]))
    assert result.issues()[:2] == [(2, 0), (4, 0)]
    assert result.when("dispatch") == [3, 5]
    assert result.when("take_empty") == [2] and result.when("take_own") == [4]  # its unit is empty, and still its own


def test_a_warp_waits_for_its_unit_whatever_its_head_beat_is() -> None:
    result = run_malekeh(CFG, hinted(hand_trace([op((2,), 8), NOP]), [0, 0, 0]))
    assert result.issues()[1] == (6, 0)
    assert [f["room"] for f in result.fields[2:7]] == [1, 0, 0, 0, 1]


def test_sources_become_the_most_recently_used_in_slot_order() -> None:
    result = run_malekeh(CFG, hinted(hand_trace([op((2, 3, 5)), op((5, 2))]), [0, 0, 0]))
    assert units_of(CFG, result.fields[3])[0].rank == [1, 2, 3, 0]
    second = result.issues()[1][0]
    assert units_of(CFG, result.fields[second + 1])[0].rank == [3, 1, 2, 0]


def test_near_bits_are_those_of_the_last_beat() -> None:
    result = run_malekeh(CFG, hinted(hand_trace([op((2, 3, 5)), op((5, 2))]), [0b011 << 4, 0b01 << 4, 0]))
    assert units_of(CFG, result.fields[3])[0].near == [True, True, False, False]
    second = result.issues()[1][0]
    assert units_of(CFG, result.fields[second + 1])[0].near == [False, True, True, False]


def test_misses_replace_in_order_around_the_hits() -> None:
    # R2 near, R3 far, R5 near, one empty; then R5 hits, R6 takes the empty entry and R7 the far one.
    result = run_malekeh(CFG, hinted(hand_trace([op((2, 3, 5)), op((6, 5, 7))]), [0b101 << 4, 0, 0]))
    second = result.fields[result.issues()[1][0]]
    assert (second["hit"], second["miss"]) == (0b010, 0b101)
    assert (second["miss_empty"], second["miss_far"], second["miss_near"]) == (0b001, 0b100, 0)
    after = units_of(CFG, result.fields[result.issues()[1][0] + 1])[0]
    assert after.registers == [2, 7, 5, 6]
    assert after.locked == [False, True, True, True]
    assert after.lfsr == 0xB8


def test_far_sources_are_replaced_from_the_lfsr_on() -> None:
    # All four far, LFSR 1: the order is entry 1, 2, 3, 0.
    trace = hand_trace([op((2, 3, 5)), op((6,)), op((7, 8, 9))])
    result = run_malekeh(CFG, hinted(trace, [0] * 4))
    third = result.issues()[2][0]
    assert units_of(CFG, result.fields[third])[0].registers == [2, 3, 5, 6]
    assert units_of(CFG, result.fields[third + 1])[0].registers == [2, 7, 8, 9]
    assert result.fields[third]["miss_far"] == 0b111


def test_near_sources_are_replaced_the_least_recently_used_first() -> None:
    trace = hand_trace([op((2, 3, 5)), op((6, 2)), op((7, 8))])
    result = run_malekeh(CFG, hinted(trace, [NEAR, NEAR, NEAR, 0]))
    third = result.issues()[2][0]
    assert units_of(CFG, result.fields[third + 1])[0].registers == [2, 7, 8, 6]
    assert result.fields[third]["miss_near"] == 0b11
    assert result.fields[third + 1]["lfsr"] & 0xFF == 1


def test_a_beat_hits_what_a_result_that_it_meets_would_have_replaced() -> None:
    # R4 comes in 9 and would replace R3 (far, LFSR 1); in 9 a beat with source R3 issues.
    cfg = TWO_ENTRIES.replace(alu_latency=6)
    trace = hand_trace([op((), 4), op((2, 3), 8), op((3,), 9)])
    result = run_malekeh(cfg, hinted(trace, [1, 0, 0, 0]))
    assert result.issues()[2] == (9, 0) and result.events("met") == [(9, 1)]
    f = result.fields[9]
    assert (f["cache"], f["hit"], f["miss"]) == (0, 1, 0)
    after = units_of(cfg, result.fields[10])[0]
    assert after.registers == [2, 3]
    assert after.lfsr == 1  # nothing far was replaced


@pytest.mark.parametrize(
    ("register", "near", "kind", "after", "lfsr"),
    [
        (3, 0b00, "miss_far", [2, 5], 0xB8),  # LFSR 1: R3 is replaced first, stale or not
        (2, 0b00, "miss_far", [-1, 5], 0xB8),
        (2, 0b11, "miss_near", [5, 3], 1),  # R2 was used before R3
        (3, 0b11, "miss_near", [5, -1], 1),
    ],
)
def test_a_miss_does_not_see_what_a_result_empties_in_its_cycle(
    register: int, near: int, kind: str, after: list[int], lfsr: int
) -> None:
    # R2 and R3 are kept. The NOPs bring the last beat into the cycle in which one of them comes, far.
    trace = hand_trace([op((2, 3), 8), op((), register), NOP, NOP, NOP, op((5,), 10)])
    result = run_malekeh(TWO_ENTRIES, hinted(trace, [near << 4, *[0] * 6]))
    assert hits(result) == [0, 0, 0]
    issue = result.when("allocate")[2]
    f, unit = result.fields[issue], units_of(TWO_ENTRIES, result.fields[issue + 1])[0]
    assert result.events("invalidate") == [(issue, 1 << [2, 3].index(register))]
    assert f[kind] == f["miss"] == 1
    assert (unit.registers, unit.lfsr) == (after, lfsr)
    assert unit.near == [bool(near) and kept == 3 for kept in after]  # R5 is far, and so is an empty entry


def test_a_miss_takes_the_entry_that_a_result_that_it_meets_would_have_taken() -> None:
    # One empty entry is left when R4 comes.
    cfg = CFG.replace(unit_entries=4, source_slots=3, alu_latency=7)
    trace = hand_trace([op((), 4), op((2, 3, 5), 8), op((6,), 9)])
    result = run_malekeh(cfg, hinted(trace, [1, 0, 0, 0]))
    assert result.issues()[2] == (10, 0) and result.events("met") == [(10, 1)]
    assert result.fields[10]["miss_empty"] == 1
    assert units_of(cfg, result.fields[11])[0].registers == [2, 3, 5, 6]


def test_a_result_does_not_enter_a_unit_that_is_taken_from_its_owner_in_that_cycle() -> None:
    # Warp 1 is refused in 3 (busy) and takes the empty unit of warp 0 in 4, when R4 of warp 0 comes.
    cfg = ONE.replace(alu_latency=1)
    trace = hand_trace([op((), 4), op((4,), 5)], [op((2,), 8)], ctas=[0, 1])
    result = run_malekeh(cfg, hinted(trace, [1, 0, 0, 0, 0]))
    assert result.when("refuse_busy")[0] == 3
    f = result.fields[4]
    assert (f["met"], f["cache"], f["take_empty"], f["lost"]) == (1, 0, 1, 0)
    after = units_of(cfg, result.fields[5])[0]
    assert (after.owner, after.registers, after.rank) == (1, [2, -1, -1, -1], [3, 0, 1, 2])


@pytest.mark.parametrize(("hint", "outcome"), [(1, "met"), (0, "far")])
def test_what_is_lost_is_near_before_results_and_a_source_of_the_new_owner_stays(hint: int, outcome: str) -> None:
    # Warp 0 has R4 and R2 in the unit, near. Its beats leave in 6 and 8, so R4 comes in 10. Warp 1 is refused as the
    # unit is busy up to 8, waits in 9 and takes it in 10. Its source is R4 too, and gets the entry that R4 had.
    cfg = ONE.replace(alu_latency=2)
    trace = hand_trace([op((4, 2), 8), op((), 4)], [op((4,), 9)], ctas=[0, 1])
    result = run_malekeh(cfg, hinted(trace, [NEAR & ~1, hint, 0, 0, 0]))
    assert result.when("refuse_wait") == [9] and result.when("take_near") == [10]
    f = result.fields[10]
    assert (f[outcome], f["invalidate"], f["lost"]) == (1, 0b0001, 0b0011)
    assert (f["hit"], f["miss_empty"]) == (0, 1)
    after = units_of(cfg, result.fields[11])[0]
    assert (after.owner, after.registers, after.locked) == (1, [4, -1, -1, -1], [True, False, False, False])
    assert result.model.counters["near_lost"] == 2


def test_the_warp_that_lost_its_unit_reads_its_registers_again() -> None:
    trace = hand_trace([op((2,), 8, port=Port.SFU), op((8, 2), 9)], [op((2,), 8)], ctas=[0, 1])
    result = run_malekeh(ONE, hinted(trace, [NEAR, 0, 0, 0, 0]))
    assert hits(result) == [0, 0, 0]
    assert result.model.counters["bank_reads"] == 4


def test_owners_issue_before_older_warps() -> None:
    # Warp 0 only has NOPs; warp 1 owns a unit with R2 from its first beat on.
    trace = hand_trace([NOP] * 12, [op((2,), 8), NOP, NOP, NOP], ctas=[0, 1])
    result = run_malekeh(CFG, hinted(trace, [0] * 18))
    for f in result.fields:
        eligible = f["clear"] & ~f["waiting"] & f["room"]
        if eligible & f["prefer"]:
            assert f["issue_warp"] == 1
    both = [f for f in result.fields if f["clear"] & f["room"] == 0b11 and f["prefer"] == 0b10]
    assert both
    assert result.model.counters["issued_preferred"] == 4  # three NOPs and the EXIT of warp 1


def test_an_owner_of_an_empty_unit_is_not_preferred() -> None:
    result = run_malekeh(CFG, hinted(hand_trace([op((), 8), op((), 9)]), [0, 0, 0]))
    assert any(f["owned"] for f in result.fields)
    assert not any(f["prefer"] for f in result.fields)


def test_an_exit_leaves_the_unit_empty_and_without_an_owner() -> None:
    result = run_malekeh(CFG, hinted(hand_trace([op((2, 3), 8)], [NOP] * 30, ctas=[0, 1]), [NEAR] + [0] * 32))
    leaves = result.when("exit")[0]
    before, after = units_of(CFG, result.fields[leaves])[0], units_of(CFG, result.fields[leaves + 1])[0]
    assert before.owner == 0 and before.used
    assert (after.owner, after.used, after.near) == (-1, [], [False] * 4)
    assert after.rank == before.rank
    assert result.model.counters["near_lost"] == 0


def test_a_new_warp_in_the_slot_finds_nothing_of_the_old_one() -> None:
    cfg = ONE.replace(ctas=1)
    result = run_malekeh(cfg, hinted(hand_trace([op((2,), 8)], [op((2,), 8)], ctas=[0, 1]), [NEAR] * 4))
    assert [f["issue_warp"] for f in result.fields if f["issue"]] == [0] * 4
    assert hits(result) == [0, 0]


def test_of_two_dispatches_in_one_cycle_that_of_the_higher_port_is_the_more_recent() -> None:
    # Unit 0 has a load and unit 1 an ALU beat; both leave in 6. Warp 2 waits once and takes unit 1.
    load = op((2, 4), 8, port=Port.LSU, space=Space.SHARED, access=Access.LOAD)
    rest = op((8,), 9)
    trace = hand_trace([load, rest], [op((3,), 8), rest], [op((2,), 8)], ctas=[0, 1, 2])
    cfg = CFG.replace(alu_latency=60)
    result = run_malekeh(cfg, hinted(trace, [NEAR, 0, 0, NEAR, 0, 0, 0, 0]))
    assert result.events("dispatch")[0] == (6, 1 << cfg.port_of[Port.LSU] | 1 << cfg.port_of[Port.ALU])
    assert result.when("refuse_wait") == [7]
    assert result.when("take_near") == [8]
    assert result.fields[8]["allocate"] == 0b10


def test_a_beat_that_does_not_execute_takes_no_unit() -> None:
    result = run_malekeh(CFG, hinted(hand_trace([(op((2,), 8), 0)]), [0, 0]))
    assert not result.when("allocate")
    assert result.issues() == [(2, 0), (3, 0)]


def test_intervals_end_and_move_the_threshold_from_the_next_cycle_on() -> None:
    cfg = CFG.replace(interval=4, wait_control="adaptive")
    result = run_malekeh(cfg, hinted(hand_trace([NOP] * 20), [0] * 21))
    assert result.when("interval_end") == list(range(3, result.cycles, 4))
    # Issues from 2 on, one per cycle: 2 beats, then 4 in every interval.
    assert result.model.trail[:4] == [(2, 1, 0), (4, 2, 4), (4, 3, 8), (4, 2, 12)]
    assert [f["threshold"] for f in result.fields[:13]] == [0] * 4 + [4] * 4 + [8] * 4 + [12]
    assert [f["threshold_state"] for f in result.fields[:13:4]] == [1, 2, 3, 2]
