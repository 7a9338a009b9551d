"""Parts of the read window against docs/schemes/modern.md, told cycle by cycle."""

from __future__ import annotations

import pytest

from tests.hdl.rf.packed.bench import run
from warpfile.hdl.collectors.read_window.control import ControlStage
from warpfile.hdl.collectors.read_window.dependences import WarpDependences
from warpfile.hdl.collectors.read_window.lanes import QueueLane, WindowLane
from warpfile.hdl.collectors.read_window.pending import IssuedDistances
from warpfile.hdl.collectors.read_window.queues import VariableQueues
from warpfile.hdl.collectors.read_window.schedule import PortSchedule, ReadPlan
from warpfile.hdl.collectors.read_window.window import HistoryNames
from warpfile.schemes import find

CFG = find("modern").configuration("tiny", lanes=1)
EXIT = 3


def set_all(ctx, part, **values: int) -> None:
    for name, value in values.items():
        ctx.set(getattr(part, name), value)


def test_the_second_beat_of_the_worked_example_does_not_fit_behind_the_first() -> None:
    """R10, R12, R14 have bank 0 for three cycles; R16 and R18 need two reads of it, one cycle later one is free."""
    part = ReadPlan(CFG)

    async def bench(ctx) -> None:
        set_all(ctx, part, wanted=0b111, banks=0b000)
        ctx.set(part.free[0], 0b111)
        assert ctx.get(part.fits)
        assert [ctx.get(place) for place in part.places] == [1, 2, 4]
        set_all(ctx, part, banks=0b100)
        ctx.set(part.free[0], 0b100)
        ctx.set(part.free[1], 0b111)
        assert not ctx.get(part.fits)
        assert [ctx.get(need) for need in part.need] == [2, 1]
        ctx.set(part.free[0], 0b110)
        assert ctx.get(part.fits)
        assert [ctx.get(place) for place in part.places] == [0b010, 0b100, 0b001]

    run(part, bench, clocked=False)


def test_reads_come_due_cycle_by_cycle() -> None:
    part = PortSchedule(CFG)

    async def bench(ctx) -> None:
        set_all(ctx, part, plan=1, banks=0b100)
        for slot, (place, row) in enumerate(((1, 8), (2, 9), (2, 10))):
            ctx.set(part.places[slot], place)
            ctx.set(part.rows[slot], row)
        await ctx.tick()
        ctx.set(part.plan, 0)
        seen = []
        for _ in range(3):
            seen.append([(ctx.get(part.now[bank]), ctx.get(part.now_rows[bank])) for bank in range(2)])
            await ctx.tick()
        assert seen[0][0] == (1, 8) and seen[0][1][0] == 0
        assert seen[1] == [(1, 9), (1, 10)]
        assert [valid for valid, _ in seen[2]] == [0, 0]

    run(part, bench)


def hints(**values: int) -> int:
    """Hints of a beat that names no counter, unless told."""
    widths = {hint.name: hint.bits for hint in CFG.hints()}
    assert widths.keys() >= values.keys()
    return sum(value << CFG.hint_at(name) for name, value in ({"write_barrier": 7, "read_barrier": 7} | values).items())


@pytest.mark.parametrize(
    ("stall", "yields", "blocked"),
    [(0, 0, 0), (1, 0, 0), (1, 1, 1), (2, 0, 1), (2, 1, 1), (4, 0, 3), (15, 0, 14)],
)
def test_a_warp_waits_for_its_stall_count(stall: int, yields: int, blocked: int) -> None:
    part = WarpDependences(CFG)

    async def bench(ctx) -> None:
        ctx.set(part.head.hints, hints())
        set_all(ctx, part, tick=1, issue=1, stall=stall, yields=yields)
        await ctx.tick()
        ctx.set(part.issue, 0)
        waited = 0
        while ctx.get(part.blocked):
            waited += 1
            await ctx.tick()
        assert waited == blocked

    run(part, bench)


def test_no_tick_passes_in_a_freeze_but_counters_go_on() -> None:
    part = WarpDependences(CFG)

    async def bench(ctx) -> None:
        ctx.set(part.head.hints, hints(wait_mask=0b10))
        set_all(ctx, part, tick=1, issue=1, stall=2)
        ctx.set(part.ups[1], 0b11)  # both barriers of one beat name counter 1
        await ctx.tick()
        set_all(ctx, part, tick=0, issue=0)
        ctx.set(part.ups[1], 0)
        ctx.set(part.downs[1], 0b00001)
        await ctx.tick()
        assert (ctx.get(part.stalled), ctx.get(part.counting), ctx.get(part.awaits)) == (1, 0b10, 1)
        await ctx.tick()
        assert (ctx.get(part.stalled), ctx.get(part.counting), ctx.get(part.awaits)) == (1, 0, 0)
        ctx.set(part.downs[1], 0)
        ctx.set(part.tick, 1)
        await ctx.tick()
        assert (ctx.get(part.stalled), ctx.get(part.blocked)) == (0, 0)

    run(part, bench)


def test_an_exit_waits_for_beats_and_results() -> None:
    part = WarpDependences(CFG)

    async def bench(ctx) -> None:
        ctx.set(part.head.hints, hints())
        ctx.set(part.head.kind, EXIT)
        set_all(ctx, part, issue=1, results=2)
        await ctx.tick()
        set_all(ctx, part, issue=0, done=0b101)
        assert ctx.get(part.blocked) and ctx.get(part.flying)
        await ctx.tick()
        ctx.set(part.done, 0)
        assert not ctx.get(part.blocked)
        ctx.set(part.under_way, 1)
        assert ctx.get(part.blocked)
        ctx.set(part.head.kind, 0)
        assert not ctx.get(part.blocked)

    run(part, bench)


@pytest.mark.parametrize(
    ("results", "busy"), [(0, (0, 0, 0)), (1, (2, 0, 0)), (2, (2, 0, 0)), (3, (3, 2, 0)), (4, (3, 3, 2))]
)
def test_a_unit_of_half_a_warp_and_results_keep_the_next_beats(results: int, busy: tuple[int, ...]) -> None:
    """The result port is taken for every beat (bit 0) or for those of several results (bit 1), tick by tick."""
    part = ControlStage(CFG.replace(unit_interval=2))

    async def bench(ctx) -> None:
        set_all(ctx, part, tick=1, comes=1, fixed=1, fma=1, returns=results > 0)
        ctx.set(part.beat.dest_count, results)
        await ctx.tick()
        set_all(ctx, part, comes=0, returns=0)
        for tick, taken in enumerate(busy):
            for ticks in (0, 1):  # first a freeze
                ctx.set(part.tick, ticks)
                assert (ctx.get(part.valid), ctx.get(part.busy)) == ((1, 0b10) if tick == 0 else (0, 0))
                assert ctx.get(part.result_busy) == taken
                await ctx.tick()

    run(part, bench)


def test_the_queues_take_turns_at_a_bank_and_leave_the_window_its_ports() -> None:
    """Both heads want a register of bank 0 from the cycle in which their wait counts are 0; V - 2 is 3."""
    part = VariableQueues(CFG)

    async def bench(ctx) -> None:
        set_all(ctx, part, issue=0b11, push=0b11)
        ctx.set(part.beat.source_valid, 0b001)
        ctx.set(part.beat.registers[0], 16)
        ctx.set(part.beat.rows[0], 5)
        ctx.set(part.beat.read_barrier, 2)
        assert ctx.get(part.room) == 0b11
        await ctx.tick()
        set_all(ctx, part, issue=0, push=0)
        assert ctx.get(part.room) == 0b01  # two places for the LSU, one for the SFU
        for _ in range(CFG.variable_delay - 2):
            assert ctx.get(part.fetch) == ctx.get(part.fetch_wait) == 0
            await ctx.tick()
        ctx.set(part.busy[0], 1)
        assert (ctx.get(part.fetch), ctx.get(part.fetch_wait)) == (0, 0b0101)
        await ctx.tick()
        ctx.set(part.busy[0], 0)
        assert (ctx.get(part.fetch), ctx.get(part.fetch_wait)) == (0b0001, 0b0100)  # the LSU goes first
        assert (ctx.get(part.rows[0]), ctx.get(part.counts), ctx.get(part.barriers[0])) == (5, 0b01, 2)
        await ctx.tick()
        set_all(ctx, part, ready=0b01)
        assert (ctx.get(part.read), ctx.get(part.arrived[0]), ctx.get(part.fetch)) == (0b01, 1, 0b0100)
        await ctx.tick()
        assert (ctx.get(part.read), ctx.get(part.room), ctx.get(part.lsu_valid)) == (0b10, 0b01, 0)

    run(part, bench)


def test_an_operand_takes_each_lane_from_the_youngest_result_that_has_it() -> None:
    """R15 of the worked example: read as it was, and replaced by the result that was accepted in the cycle before."""
    names, lane = HistoryNames(CFG), WindowLane(CFG)

    async def named(ctx) -> None:
        set_all(ctx, names, comes=1, warp=1, register=15, mask=1)
        await ctx.tick()
        set_all(ctx, names, comes=0, valid=0b101, reader=1)
        ctx.set(names.registers[0], 15)
        ctx.set(names.registers[1], 15)  # not a source
        ctx.set(names.registers[2], 14)
        for age in range(CFG.read_window):
            assert ctx.get(names.forward) == 1 << age
            await ctx.tick()
        assert ctx.get(names.forward) == 0

    async def chosen(ctx) -> None:
        for result, word in ((100, 1), (101, 2), (102, 3)):
            set_all(ctx, lane, result=result, banks=word << 32)  # bank 1 has read
            await ctx.tick()
        ctx.set(lane.banks, 4 << 32)
        for place, expected in ((2, 4), (1, 3), (0, 2)):  # place 2 was read last
            ctx.set(lane.places, 1 << 3 + place)
            assert ctx.get(lane.operands) & 0xFFFFFFFF == expected
        set_all(ctx, lane, forward=0b110, masks=0b111)
        assert ctx.get(lane.operands) & 0xFFFFFFFF == 101
        ctx.set(lane.masks, 0b101)
        assert ctx.get(lane.operands) & 0xFFFFFFFF == 100
        ctx.set(lane.masks, 0b001)
        set_all(ctx, lane, keep=0b10, kept=1)
        await ctx.tick()
        set_all(ctx, lane, places=0, entries=0b10, keep=0)
        assert ctx.get(lane.operands) & 0xFFFFFFFF == 2

    run(names, named)
    run(lane, chosen)


def test_the_head_of_a_queue_keeps_what_it_has_read() -> None:
    part = QueueLane(CFG)

    async def bench(ctx) -> None:
        set_all(ctx, part, banks=8 << 32 | 7, arrived=0b001001, odd=0b001000)
        assert (ctx.get(part.operands) & 0xFFFFFFFF, ctx.get(part.operands) >> 96 & 0xFFFFFFFF) == (7, 8)
        await ctx.tick()
        set_all(ctx, part, banks=0, arrived=0)
        assert (ctx.get(part.operands) & 0xFFFFFFFF, ctx.get(part.operands) >> 96 & 0xFFFFFFFF) == (7, 8)

    run(part, bench)


def test_a_pair_is_too_close_for_as_long_for_both_registers_and_a_third_one_a_tick_longer() -> None:
    """D is 3 and Dv is 4 here, with an ``alu_latency`` of 2."""
    part = IssuedDistances(CFG)
    assert (CFG.fixed_distance, CFG.variable_distance) == (3, 4)

    async def bench(ctx) -> None:
        set_all(ctx, part, tick=1, comes=1, warp=2, dest=4, dest_count=3)
        await ctx.tick()
        ctx.set(part.comes, 0)
        seen = []
        for age in range(5):
            assert ctx.get(part.valid) == 1 << age and ctx.get(part.groups[age]) == 1
            seen.append((ctx.get(part.for_reader[age]), ctx.get(part.for_others[age])))
            await ctx.tick()
        # m = 1 to 5; the registers are bits 0 to 2 of their group, and too close as long as m < D, the last one D + 1
        assert seen == [(7, 7), (7, 7), (4, 7), (0, 4), (0, 0)]

    run(part, bench)
