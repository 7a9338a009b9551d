"""Tiny scenarios, cycle by cycle. A lone warp is launched in 0, decodes from 1 and issues from 2 on."""

from __future__ import annotations

import pytest

from tests.golden.scenario import BAR, BRA, FULL, NOP, hand_trace, op, run
from warpfile.spec.config import Config
from warpfile.spec.trace import Access, Kind, Port, Space

# Bank of a register of warp 0: its number modulo two.
PLAIN = Config(banks=2, bank_ports="1RW", collect="all", alu_latency=4, uniform_latency=6, branch_delay=4)


@pytest.mark.parametrize(
    ("collect", "bank_cycles", "sources", "grants", "dispatch"),
    [
        ("all", 1, (), [], 3),
        ("all", 1, (2, 3), [(3, 0b11)], 5),
        ("one", 1, (2, 3), [(3, 0b01), (4, 0b10)], 6),
        ("lowest", 1, (2, 3), [(3, 0b01), (4, 0b10)], 6),
        ("all", 1, (2, 4), [(3, 0b01), (4, 0b10)], 6),
        ("lowest", 2, (2, 3), [(3, 0b01), (4, 0b10)], 7),
        ("all", 2, (2, 4), [(3, 0b01), (5, 0b10)], 8),
        ("all", 3, (2, 4), [(3, 0b01), (6, 0b10)], 10),
        ("one", 3, (2, 3), [(3, 0b01), (4, 0b10)], 8),
    ],
)
def test_a_beat_dispatches_when_its_last_operand_is_filled(
    collect: str, bank_cycles: int, sources: tuple[int, ...], grants: list[tuple[int, int]], dispatch: int
) -> None:
    cfg = PLAIN.replace(collect=collect, bank_cycles=bank_cycles)
    result = run(cfg, hand_trace([op(sources, 8)]))
    assert result.events("grant") == grants
    assert result.when("dispatch") == [dispatch]
    assert result.when("write") == [dispatch + cfg.alu_latency]


def test_requests_show_what_a_unit_presents() -> None:
    for collect, first in (("lowest", 0b001), ("one", 0b111), ("all", 0b111)):
        result = run(PLAIN.replace(collect=collect), hand_trace([op((2, 3, 5), 8)]))
        assert result.events("request")[0] == (3, first)


def test_a_dependent_beat_issues_the_cycle_after_the_write() -> None:
    result = run(PLAIN, hand_trace([op((2, 3), 4), op((4,), 5)]))
    assert result.events("write") == [(9, 0b001), (17, 0b001)]
    assert result.issues() == [(2, 0), (10, 0), (18, 0)]


def test_a_source_that_was_not_granted_protects_its_register() -> None:
    result = run(PLAIN.replace(collect="lowest"), hand_trace([op((2, 4, 6), 8), op((), 4)]))
    assert result.issues()[:2] == [(2, 0), (5, 0)]  # R4 is granted in 4


@pytest.mark.parametrize(("ports", "grant"), [("1RW", 5), ("1R1W", 4)])
def test_a_write_takes_a_single_ported_bank_from_a_read(ports: str, grant: int) -> None:
    cfg = PLAIN.replace(bank_ports=ports, alu_latency=1)
    result = run(cfg, hand_trace([op((), 4), op((2,), 6)]))
    assert result.when("write")[0] == 4
    assert result.when("request")[0] == 4
    assert result.when("grant") == [grant]


def test_the_load_store_port_writes_first() -> None:
    load = op((), 4, port=Port.LSU, space=Space.SHARED, access=Access.LOAD)
    result = run(PLAIN.replace(shared_latency=5), hand_trace([load, op((), 6)]))
    assert result.events("write") == [(8, 0b100), (9, 0b001)]
    assert result.events("write_wait") == [(8, 0b001)]
    assert result.model.counters["write_waits"] == 1


def test_a_busy_bank_holds_the_next_write_back() -> None:
    cfg = PLAIN.replace(shared_latency=5, bank_cycles=3, bank_ports="1R1W")
    load = op((), 4, port=Port.LSU, space=Space.SHARED, access=Access.LOAD)
    result = run(cfg, hand_trace([load, op((), 6)]))
    assert result.events("write") == [(8, 0b100), (11, 0b001)]


def test_registers_of_one_result_are_written_one_per_cycle() -> None:
    result = run(PLAIN, hand_trace([op((), 4, dest_count=4), op((5,), 8), op((6,), 9)]))
    assert result.when("write")[:4] == [7, 8, 9, 10]
    assert result.issues()[:3] == [(2, 0), (9, 0), (10, 0)]


def test_beats_of_a_warp_leave_a_port_in_order() -> None:
    slow, fast = op((2, 4, 6), 8), op((3,), 9)
    assert run(PLAIN, hand_trace([slow, fast])).when("dispatch") == [7, 8]
    other = run(PLAIN, hand_trace([slow, op((3,), 9, port=Port.SFU)]))
    assert other.events("dispatch") == [(6, 0b010), (7, 0b001)]
    shared = run(PLAIN.replace(ports=1), hand_trace([slow, op((3,), 9, port=Port.SFU)]))
    assert shared.when("dispatch") == [7, 8]


def test_a_beat_that_leaves_now_is_not_waited_for() -> None:
    # The first dispatches in 3, the cycle in which the second is allocated: the second goes in 4.
    assert run(PLAIN, hand_trace([op((), 4), op((), 5)])).when("dispatch") == [3, 4]


def test_wide_instructions_are_cut_into_beats_of_distinct_sources() -> None:
    wide = op((2, 3, 2, 5, 7, 9, 11, 13), 16, dest_count=2)
    result = run(PLAIN, hand_trace([wide]))
    units = [f["dispatch_payload0"] for f in result.fields if f["dispatch"]]
    assert units == [0, 1, 2]
    counted = [result.model.counters[name] for name in ("beats", "instructions", "bank_reads", "bank_writes")]
    assert counted == [4, 2, 7, 2]


def test_without_a_free_unit_only_unitless_beats_issue() -> None:
    cfg = PLAIN.replace(collectors=1)
    result = run(cfg, hand_trace([op((2,), 4), op((2,), 5)]))
    assert result.issues()[:2] == [(2, 0), (6, 0)]  # dispatched in 5, free in 6
    assert result.model.counters["issue_room"] == 3
    assert run(cfg, hand_trace([op((2,), 4), NOP, op((2,), 5)])).issues()[:3] == [(2, 0), (3, 0), (6, 0)]


def test_a_warp_at_a_barrier_runs_again_two_cycles_after_the_last_arrival() -> None:
    result = run(PLAIN, hand_trace([BAR, NOP], [NOP, NOP, BAR, NOP]))
    assert result.events("waiting") == [*((t, 0b01) for t in range(4, 9)), (9, 0b11)]
    assert result.issues() == [(3, 0), (4, 1), (6, 1), (8, 1), (10, 1), (11, 1), (12, 0), (13, 0)]


def test_an_exit_counts_as_arrival_of_the_others() -> None:
    result = run(PLAIN, hand_trace([BAR], [NOP]))
    assert result.issues() == [(3, 0), (4, 1), (6, 1), (8, 0)]
    assert result.events("exit") == [(6, 1), (8, 1)]


def test_barriers_of_other_ctas_do_not_matter() -> None:
    result = run(PLAIN, hand_trace([BAR, NOP], [NOP] * 9, ctas=[0, 1]))
    assert result.when("waiting") == [3]


def test_a_barrier_drains_the_units_and_an_exit_also_the_results() -> None:
    result = run(PLAIN, hand_trace([op((2,), 4), BAR]))
    assert result.when("dispatch") == [5]
    assert result.issues() == [(2, 0), (6, 0), (10, 0)]


@pytest.mark.parametrize(("delay", "issue"), [(0, 4), (4, 8)])
def test_the_beat_behind_a_branch_is_sent_after_its_delay(delay: int, issue: int) -> None:
    result = run(PLAIN.replace(branch_delay=delay), hand_trace([BRA, NOP]))
    assert result.issues()[:2] == [(2, 0), (issue, 0)]


def test_a_branch_with_a_source_holds_until_it_dispatched() -> None:
    result = run(PLAIN, hand_trace([op((2,), kind=Kind.BRANCH), NOP]))
    assert result.when("dispatch") == [5]
    assert result.issues()[:2] == [(2, 0), (11, 0)]


def test_an_exit_inside_the_stream_acts_as_a_branch() -> None:
    partial = op(port=Port.NONE, kind=Kind.EXIT, text="EXIT")
    result = run(PLAIN, hand_trace([(partial, 1), NOP]))
    assert result.issues() == [(2, 0), (8, 0), (9, 0)]
    assert result.when("exit") == [9]


def test_an_empty_mask_reserves_nothing_but_waits_like_any_other() -> None:
    free = run(PLAIN, hand_trace([(op((2,), 4), 0), op((4,), 5)]))
    assert free.issues()[:2] == [(2, 0), (3, 0)]
    assert free.when("allocate") == [3]
    bound = run(PLAIN, hand_trace([op((2,), 4), (op((4,), 6), 0)]))
    assert bound.issues()[:2] == [(2, 0), (10, 0)]
    assert bound.model.counters["bank_writes"] == 1


def test_lanes_that_are_not_built_count_for_execution() -> None:
    narrow = PLAIN.replace(lanes=2)
    assert run(narrow, hand_trace([(op((2,), 4), 1 << 31)])).when("dispatch") == [5]


def test_tokens_beside_the_operand_stage_come_back_on_port_0() -> None:
    logic = op(port=Port.NONE, token_reads=1 << 2, token_writes=1 << 3)
    user = op((2,), 4, token_reads=1 << 3)
    result = run(PLAIN, hand_trace([logic, user]))
    assert result.events("write")[0] == (8, 0b001)
    assert result.issues()[:2] == [(2, 0), (9, 0)]
    assert result.model.counters["bank_writes"] == 1


def test_a_token_result_of_an_alu_instruction_takes_no_bank() -> None:
    setp = op((2,), token_writes=1)
    result = run(PLAIN, hand_trace([setp, op(port=Port.NONE, token_writes=1)]))
    assert result.events("write") == [(9, 1), (16, 1)]
    assert result.model.counters["bank_writes"] == 0


def test_the_port_interval_holds_an_offered_unit() -> None:
    cfg = PLAIN.replace(sfu_interval=4)
    result = run(cfg, hand_trace([op((), 4, port=Port.SFU), op((), 5, port=Port.SFU)]))
    assert result.when("offer") == [3, 4, 5, 6, 7]
    assert result.when("dispatch") == [3, 7]
    assert result.model.counters["dispatch_waits"] == 3
    assert not result.when("lacking")  # neither of them waits for an operand


def test_a_slot_is_launched_again_the_cycle_after_its_exit() -> None:
    result = run(PLAIN.replace(warps=1), hand_trace([NOP], [NOP], ctas=[0, 1]))
    assert result.when("launch") == [0, 4]
    assert result.when("exit") == [3, 7]
    assert result.cycles == 8


def test_a_run_is_counted_by_hand() -> None:
    result = run(PLAIN, hand_trace([op((2, 4), 6), (op((3,), 5), FULL >> 16)]))
    assert result.issues() == [(2, 0), (3, 0), (12, 0)]  # the second waits for the first
    assert result.model.counters == {
        "cycles": 13,
        "start_cycles": 0,
        "beats": 3,
        "instructions": 3,
        "issue_idle": 2,
        "issue_hazard": 8,
        "issue_barrier": 0,
        "issue_room": 0,
        "issue_full": 0,
        "bank_reads": 3,
        "bank_writes": 2,
        "bank_conflicts": 1,
        "write_waits": 0,
        "dispatches": 2,
        "dispatch_waits": 0,
        "unit_cycles": 8,
        "operand_waits": 5,  # three cycles for two reads, two for one, which then waits for its turn to leave
        "resident_cycles": 12,
    }
    assert result.model.operands_checked == 0
