"""Lines of warps that lose their place, cycle by cycle (docs/schemes/rfc.md, step 3)."""

from __future__ import annotations

from typing import Any

from tests.golden.rf.rfc.scenario import hint, hinted, lines, one_warp, queued, rfc_config, run_rfc
from tests.golden.scenario import BAR, NOP, Run, Step, hand_trace, op
from warpfile.spec.trace import Access, Port, Space, StaticInstruction, Trace

CFG = rfc_config(
    warps=4, active_warps=2, cache_entries=4, alu_latency=4, hit_latency=60, banks=4, bank_skew="none", sfu_latency=4
)
SOME = 0x0000FFFF
SUSPEND = hint(suspend=True)


def load(sources: tuple[int, ...], dest: int) -> StaticInstruction:
    return op(sources, dest, port=Port.LSU, space=Space.GLOBAL, access=Access.LOAD, bytes=4)


def go(*program: Step, hints: dict[int, int] | None = None, **changes: Any) -> Run:
    return one_warp(CFG.replace(**changes), program, hints)


#: Fills three lines and waits for R10; the three are issued in 3 to 5 and written in 8 to 10.
PROGRAM = [load((), 10), op((), 4), op((), 5), op((), 6), op((10, 4, 5), 7)]


def test_lines_are_sent_one_per_cycle_from_the_lowest() -> None:
    result = go(*PROGRAM, hints={4: SUSPEND})
    # The consumer is the head from 6 on. The place drains from 7 on, until R6 is complete in 11.
    assert result.when("suspend_long") == [6]
    assert [result.when("draining")[0], result.when("draining")[-1]] == [7, 11]
    assert result.events("flush") == [(12, 0b001), (13, 0b010), (14, 0b100)]
    assert result.events("releasing") == [(12, 1), (13, 1), (14, 1), (15, 1)]
    assert result.events("released") == [(15, 1)]
    assert [queued(CFG, result.fields[cycle]) for cycle in (13, 14)] == [[1, 0, 0, 0], [0, 1, 0, 0]]
    assert result.model.operands_checked == 3
    assert (result.model.counters["cache_misses"], result.model.counters["bank_reads"]) == (3, 3)


def test_an_empty_place_is_let_go_at_once() -> None:
    result = go(load((), 10), op((10,), 7), hints={1: SUSPEND})
    assert result.when("releasing") == result.when("released")
    assert not result.when("flush")


def test_dead_lines_go_at_once_and_only_the_others_are_sent() -> None:
    reader = op((4, 6), port=Port.ALU)
    program = [*PROGRAM[:4], reader, op((10, 5), 7)]
    result = go(*program, hints={4: hint(dead=0b11), 5: SUSPEND})
    first = result.when("releasing")[0]
    assert result.events("flush_dead") == [(first, 0b101)]
    assert result.events("flush") == [(first, 0b010)]
    assert result.when("released") == [first + 1]


def test_a_place_with_dead_lines_only_sends_nothing() -> None:
    program = [*PROGRAM[:2], op((4,), port=Port.ALU), op((10,), 7)]
    result = go(*program, hints={2: hint(dead=0b1), 3: SUSPEND})
    assert (result.when("flush"), len(result.when("flush_dead"))) == ([], 1)
    assert len(result.when("releasing")) == 2


def test_dead_lines_are_sent_where_dead_bits_are_ignored() -> None:
    program = [*PROGRAM[:4], op((4, 6), port=Port.ALU), op((10, 4), 7)]
    result = go(*program, hints={4: hint(dead=0b11), 5: SUSPEND}, dead_bits="ignored")
    first = result.when("releasing")[0]
    assert result.fields[first]["dead"] == 0b101
    assert result.events("flush") == [(first, 0b001), (first + 1, 0b010), (first + 2, 0b100)]
    assert not result.when("flush_dead")


def test_a_flush_waits_for_room_in_its_queue() -> None:
    result = go(*PROGRAM, hints={4: SUSPEND}, banks=1, bank_cycles=4, write_queue=1)
    # The first leaves its queue in 13, so that there is room in 14; the second not before its bank is free in 17.
    assert result.when("flush") == [12, 14, 18]
    assert result.when("bank_write")[:3] == [13, 17, 21]


def test_a_barrier_flushes_too() -> None:
    trace = hand_trace([op((), 4), BAR, op((4,), 5)], [NOP] * 20 + [BAR])
    result = run_rfc(CFG, hinted(trace, [0] * len(trace.instruction)))
    assert len(result.when("suspend_barrier")) == 1
    assert result.events("flush") == [(result.when("releasing")[0], 0b0001)]
    assert (result.model.counters["cache_misses"], result.model.operands_checked) == (1, 1)


def two_warps(first: list[Step], second: list[Step], **changes: Any) -> Run:
    """Two warps; every beat may suspend."""
    trace = hand_trace(first, second)
    return run_rfc(CFG.replace(**changes), hinted(trace, [SUSPEND] * len(trace.instruction)))  # type: ignore[arg-type]


def test_the_lowest_place_goes_first() -> None:
    program: list[Step] = [*PROGRAM[:3], op((10,), 7)]
    result = two_warps(program, program)
    both = [cycle for cycle, places in result.events("releasing") if places == 0b11]
    assert both
    assert sorted(line for _, line in result.events("flush")) == [1, 2, 1 << 4, 1 << 5]
    for cycle in both:
        mine = result.fields[cycle]["held"] & 0b1111
        line = result.fields[cycle]["flush"]
        assert not mine or line == mine & -mine


BUSY = CFG.replace(sfu_latency=25)


def busy_ports() -> Trace:
    """Warp 0 loses its place when R4 comes, and warp 1 reads three lines in every cycle from before to after that."""
    reads: list[Step] = [op((), 4), op((), 5), op((), 6), *[op((4, 5, 6))] * 40]
    trace = hand_trace([load((), 10), op((), 4, port=Port.SFU), op((10,), 7)], reads)
    return hinted(trace, [SUSPEND] * len(trace.instruction))


def test_a_flush_needs_a_read_port() -> None:
    result = run_rfc(BUSY, busy_ports())  # type: ignore[arg-type]
    first = result.when("releasing")[0]
    sent = next(cycle for cycle, line in result.events("flush") if line < 1 << 4)
    cache_reads = result.when("near_read")
    assert sent > first
    assert all(cycle in cache_reads for cycle in range(first, sent))
    assert sent not in cache_reads


def test_a_load_of_some_lanes_meets_a_line_while_the_place_is_released() -> None:
    # The loads issue in 9 and 10 and arrive in 12 and 13; the consumer of the first is the head from 11 on.
    program: list[Step] = [op((), 4), *[NOP] * 6, load((), 10), (load((), 4), SOME), op((10,), 7), op((4,), 8)]
    result = go(*program, hints={9: SUSPEND}, hit_latency=2, lsu_interval=1)
    assert result.when("suspend_long") == [11]
    assert result.when("releasing") == [13, 14, 15]
    assert result.when("long_merge") == [13]
    # What is written in 13 is not sent in it.
    assert result.events("flush") == [(14, 0b0001)]
    assert result.model.operands_checked == 2


def test_a_dead_line_that_a_load_revives_in_the_last_moment_is_sent() -> None:
    reader = op((4,), port=Port.ALU)
    program: list[Step] = [op((), 4), reader, *[NOP] * 6, load((), 10), (load((), 4), SOME), op((10,), 7), op((4,), 8)]
    result = go(*program, hints={1: hint(dead=1), 10: SUSPEND}, hit_latency=2)
    merged = result.when("long_merge")[0]
    assert result.fields[merged]["releasing"] and result.fields[merged]["dead"]
    assert not result.when("flush_dead")
    assert result.when("flush") == [merged + 1]


def test_a_load_that_voids_the_candidate_stops_the_flush_for_its_cycle() -> None:
    # R4 and R5 are in lines 0 and 1. The load of all lanes of R4 comes when the place begins to be released.
    program: list[Step] = [op((), 4), op((), 5), *[NOP] * 6, load((), 10), load((), 4), op((10,), 7), op((4, 5), 8)]
    result = go(*program, hints={10: SUSPEND}, hit_latency=2)
    (voided,) = result.when("long_drop")
    assert result.fields[voided]["releasing"] and result.fields[voided]["held"] == 0b11
    assert result.events("flush") == [(voided + 1, 0b10)]
    assert result.model.operands_checked == 3


def test_a_load_that_revives_a_dead_line_lets_the_candidate_go() -> None:
    # R4 in line 0 is dead and R5 in line 1 is not; lanes of R4 come when the place begins to be released.
    start: list[Step] = [op((), 4), op((), 5), op((4,), port=Port.ALU), *[NOP] * 6]
    program: list[Step] = [*start, load((), 10), (load((), 4), SOME), op((10,), 7), op((4, 5), 8)]
    result = go(*program, hints={2: hint(dead=1), 11: SUSPEND}, hit_latency=2)
    (merged,) = result.when("long_merge")
    assert result.fields[merged]["releasing"] and result.fields[merged]["dead"] == 0b01
    assert result.events("flush") == [(merged, 0b10), (merged + 1, 0b01)]
    assert not result.when("flush_dead")


def test_a_load_makes_a_line_void_while_its_place_drains() -> None:
    # The two loads arrive one after the other; the second one finds R4 in its line.
    program: list[Step] = [op((), 4), *[NOP] * 6, load((), 10), load((), 4), op((), 5, port=Port.SFU), op((10,), 7)]
    result = go(*program, hints={10: SUSPEND}, hit_latency=6, sfu_latency=20)
    dropped = result.when("long_drop")[0]
    assert result.fields[dropped]["draining"]
    assert lines(CFG, result.fields[dropped]) == {0: 4}
    # R5 comes later, takes the line that is free again, and is sent.
    assert lines(CFG, result.fields[result.when("releasing")[0]]) == {0: 5}
    assert [line for _, line in result.events("flush")] == [0b0001]


def test_the_head_returns_to_0_in_a_free_place() -> None:
    program = [load((), 10), op((), 4), op((), 5), op((10,), 7)]
    result = go(*program, hints={3: SUSPEND}, cache_entries=1)
    assert not any(f["head"] for f in result.fields)
    result = go(load((), 10), op((), 4), op((), 5), op((), 6), op((10,), 7), hints={4: SUSPEND}, cache_entries=2)
    released = result.when("released")[0]
    assert [result.fields[cycle]["head"] for cycle in (released, released + 1, released + 2)] == [1, 1, 0]


def test_an_exit_drops_what_is_there() -> None:
    result = go(op((), 4), op((), 5))
    assert result.events("drop") == [(result.when("exit")[0], 0b0011)]
    assert not result.when("bank_write")
