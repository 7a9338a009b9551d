"""Registers of resident warps that change places: whose turn it is, in which cycle, and what is written."""

import pytest

from tests.hdl.rf.pilot.bench import config, run
from warpfile.hdl.rf.pilot.awaited import AwaitedResults
from warpfile.hdl.rf.pilot.kernel_state import KernelState
from warpfile.hdl.rf.pilot.mover import Mover, StagingLane
from warpfile.spec.schemes.pilot import State

CFG = config(remap="migrate", warps=5)
FAST_READ, SLOW_READ, SLOW_WRITE, FAST_WRITE = range(4)


def moves(resident, pairs, fast_cycles, *, busy=0):
    """Accesses as (cycle, warp, pair, access), and how many cycles MOVE takes; no bank is free in ``busy`` of them."""
    found, cycles = [], 0

    async def bench(ctx):
        nonlocal cycles
        ctx.set(part.resident, resident)
        ctx.set(part.pairs, (1 << pairs) - 1)
        ctx.set(part.fast_cycles, fast_cycles)
        ctx.set(part.moving, 1)
        while not ctx.get(part.ends):
            granted = bool(ctx.get(part.asks)) and cycles >= busy
            ctx.set(part.grant, granted)
            if granted:
                found.append((cycles, ctx.get(part.warp), ctx.get(part.pair), ctx.get(part.access)))
            await ctx.tick()
            ctx.set(part.grant, 0)
            cycles += 1
        cycles += 1

    part = Mover(CFG)
    run(part, bench)
    return found, cycles


@pytest.mark.parametrize(("fast_cycles", "length"), [(1, 8), (2, 10)])
def test_a_pair_takes_twice_a_slow_and_a_fast_access(fast_cycles, length):
    found, cycles = moves(0b00010, 1, fast_cycles)
    starts = (1, 1 + fast_cycles, 4 + fast_cycles, 7 + fast_cycles)
    assert found == [(cycle, 1, 0, access) for access, cycle in enumerate(starts)]
    assert cycles == CFG.warps + length


def test_all_pairs_of_all_warps_move():
    found, cycles = moves(0b10101, 4, 1)
    accesses = [(warp, pair, access) for warp in (0, 2, 4) for pair in range(4) for access in range(4)]
    assert [access for _, *access in found] == [list(access) for access in accesses]
    assert cycles == CFG.warps + 3 * 4 * 8


@pytest.mark.parametrize(("resident", "pairs"), [(0, 4), (0b11111, 0)])
def test_where_nothing_moves_every_slot_takes_a_cycle(resident, pairs):
    assert moves(resident, pairs, 1) == ([], CFG.warps)


def test_an_access_waits_for_its_bank():
    found, cycles = moves(1, 1, 1, busy=3)
    assert [cycle for cycle, *_ in found] == [3, 4, 7, 10]
    assert cycles == CFG.warps + 8 + 3


def test_two_words_change_places():
    async def bench(ctx):
        for number, word in enumerate((0x1234, 0xABCD)):
            ctx.set(part.fill, 1 << number)
            ctx.set(part.read, word)
            await ctx.tick()
        ctx.set(part.fill, 0)
        for write, word in ((0, 0x1234), (1, 0xABCD)):
            ctx.set(part.write, write)
            assert ctx.get(part.data) == word

    part = StagingLane(CFG)
    run(part, bench)


def test_what_is_issued_and_not_accepted_is_awaited():
    async def bench(ctx):
        counts = []
        for issue, executes, dests, accepted in ((1, 1, 4, 0), (1, 0, 2, 1), (1, 1, 1, 3), (0, 1, 4, 1), (0, 0, 0, 1)):
            counts.append(ctx.get(part.count))
            ctx.set(part.issue, issue)
            ctx.set(part.beat.executes, executes)
            ctx.set(part.beat.dest_count, dests)
            ctx.set(part.accepted, accepted)
            await ctx.tick()
        assert [*counts, ctx.get(part.count)] == [0, 4, 3, 2, 1, 0]

    part = AwaitedResults(CFG)
    run(part, bench)


def test_the_states_of_a_kernel_whose_warps_move():
    async def bench(ctx):
        ctx.set(part.kernel_valid, 1)
        ctx.set(part.kernel.registers, 3)
        await ctx.tick()
        ctx.set(part.kernel_valid, 0)
        await ctx.tick().repeat(4)
        for warp in (2, 0):
            ctx.set(part.launch_valid, 1)
            ctx.set(part.launch.warp, warp)
            await ctx.tick()
        ctx.set(part.launch_valid, 0)
        ctx.set(part.exits, 4)
        await ctx.tick()
        ctx.set(part.exits, 0)
        seen = []
        for cycle in range(16):
            assert ctx.get(part.launch_ready) == (not ctx.get(part.held)) and ctx.get(part.resident) == 1
            ctx.set(part.drained, cycle == 4)
            ctx.set(part.moved, cycle in (6, 13))
            shown = (ctx.get(part.held), ctx.get(part.undone), ctx.get(part.current))
            seen.append((State(ctx.get(part.state)).name, *shown))
            await ctx.tick()
        states = [("SORT", 0)] * 3 + [("DRAIN", 1)] * 2 + [("MOVE", 1)] * 2 + [("REMAP", 1)] * 4 + [("MOVE", 1)] * 3
        assert [state[:2] for state in seen] == [*states, ("RUN", 0), ("RUN", 0)]
        assert [cycle for cycle, state in enumerate(seen) if state[2]] == [6]
        assert [state[3] for state in seen] == [0] * 11 + [1] * 5

    part = KernelState(config(remap="migrate", fast_registers=4))
    run(part, bench)
