"""A kernel from its start to the next one's, cycle by cycle."""

from tests.hdl.rf.pilot.bench import config, run
from warpfile.hdl.rf.pilot.kernel_state import KernelState
from warpfile.spec.schemes.pilot import State

FAST, REGISTERS = 4, 12


def states(ctx, part):
    """What is shown in a cycle: state, turn of LOAD and of REMAP, and what a launched warp gets."""
    return State(ctx.get(part.state)).name, ctx.get(part.loading), ctx.get(part.remapping), ctx.get(part.current)


async def begin(ctx, part, registers=REGISTERS):
    """A kernel is taken; ends in the first cycle after LOAD."""
    ctx.set(part.kernel_valid, 1)
    ctx.set(part.kernel.registers, registers)
    assert ctx.get(part.kernel_ready) and ctx.get(part.taken)
    await ctx.tick()
    ctx.set(part.kernel_valid, 0)
    for turn in range(FAST):
        assert states(ctx, part) == ("LOAD", 1 << turn, 0, 0)
        assert not ctx.get(part.kernel_ready) and not ctx.get(part.launch_ready)
        await ctx.tick()
    assert ctx.get(part.launch_ready)


async def launch(ctx, part, warp):
    """A warp is launched in this cycle."""
    ctx.set(part.launch_valid, 1)
    ctx.set(part.launch.warp, warp)
    await ctx.tick()
    ctx.set(part.launch_valid, 0)


async def leave(ctx, part, warp):
    """The EXIT of a warp issues in this cycle."""
    ctx.set(part.exits, 1 << warp)
    await ctx.tick()
    ctx.set(part.exits, 0)


def test_the_pilot_is_profiled_sorted_and_mapped():
    async def bench(ctx):
        assert states(ctx, part)[0] == "IDLE" and not ctx.get(part.launch_ready)
        await begin(ctx, part)
        assert states(ctx, part) == ("PROFILE", 0, 0, 0) and ctx.get(part.profiling)
        for warp in (3, 1, 0):
            await launch(ctx, part, warp)
        assert ctx.get(part.pilot) == 3 and not ctx.get(part.kernel_ready)
        await leave(ctx, part, 1)
        assert states(ctx, part)[0] == "PROFILE"
        await leave(ctx, part, 3)
        for register in range(REGISTERS):
            assert states(ctx, part) == ("SORT", 0, 0, 0) and ctx.get(part.scan) == register
            assert not ctx.get(part.profiling)
            await (launch(ctx, part, 3) if register == 2 else ctx.tick())
        for turn in range(FAST):
            assert states(ctx, part) == ("REMAP", 0, 1 << turn, 0)
            await ctx.tick()
        assert states(ctx, part) == ("RUN", 0, 0, 1) and ctx.get(part.pilot) == 3
        await leave(ctx, part, 3)
        await ctx.tick().repeat(20)
        assert states(ctx, part) == ("RUN", 0, 0, 1)

    part = KernelState(config(fast_registers=FAST))
    run(part, bench)


def test_the_next_kernel_breaks_off_what_goes_on():
    async def bench(ctx):
        await begin(ctx, part)
        for cycles in (3, REGISTERS + 2, REGISTERS + FAST):
            await launch(ctx, part, 2)
            await leave(ctx, part, 2)
            await ctx.tick().repeat(cycles)
            assert ctx.get(part.state) == {3: State.SORT, 14: State.REMAP, 16: State.RUN}[cycles]
            await begin(ctx, part)
            assert states(ctx, part) == ("PROFILE", 0, 0, 0)

    part = KernelState(config(fast_registers=FAST))
    run(part, bench)


def test_only_counters_that_are_there_are_sorted():
    async def bench(ctx):
        await begin(ctx, part, registers=16)
        await launch(ctx, part, 0)
        await leave(ctx, part, 0)
        await ctx.tick().repeat(14)
        assert states(ctx, part)[0] == "SORT"
        await ctx.tick()
        assert states(ctx, part)[0] == "REMAP"

    part = KernelState(config(fast_registers=FAST))
    run(part, bench)


def test_without_a_pilot_the_kernel_runs_at_once():
    async def bench(ctx):
        await begin(ctx, part)
        await launch(ctx, part, 0)
        await leave(ctx, part, 0)
        assert states(ctx, part) == ("RUN", 0, 0, 0) and ctx.get(part.kernel_ready)

    part = KernelState(config(fast_registers=FAST, profile="compiler"))
    run(part, bench)


def test_the_list_is_that_of_the_kernel():
    async def bench(ctx):
        for place, register in enumerate((7, 15, 3, 0)):
            ctx.set(part.kernel[f"hot{place}"], register)
        await begin(ctx, part)
        found = [ctx.get(place.register) if ctx.get(place.valid) else None for place in part.hot]
        assert found == [7, None, 3, 0]

    part = KernelState(config(fast_registers=FAST))
    run(part, bench)
