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


def kept(missed, *, registers=REGISTERS, hot=(7, 15, 3, 0), **changes):
    """What follows SORT if the pilot has not accessed these registers, and in which of its cycles a list is kept."""
    found = {}

    async def bench(ctx):
        for place, register in enumerate(hot):
            ctx.set(part.kernel[f"hot{place}"], register)
        await begin(ctx, part, registers)
        await launch(ctx, part, 0)
        await leave(ctx, part, 0)
        shown = []
        while ctx.get(part.state) == State.SORT:
            ctx.set(part.unused, ctx.get(part.scan) in missed)
            shown += [ctx.get(part.scan)] if ctx.get(part.keeps) else []
            await ctx.tick()
        found.update(state=State(ctx.get(part.state)), current=ctx.get(part.current), shown=shown)

    part = KernelState(config(fast_registers=FAST, **changes))
    run(part, bench)
    return found["state"].name, found["current"], found["shown"]


def test_a_list_is_kept_if_the_pilot_has_missed_a_register_of_it():
    assert kept({7}) == kept({0}) == kept({3, 5}) == ("RUN", 0, [11])
    assert kept({11}, hot=(11, 15, 3, 0)) == ("RUN", 0, [11])
    assert kept({7}, remap="migrate") == ("RUN", 0, [11])


def test_other_registers_and_the_marker_may_be_missed():
    assert kept(set()) == kept({1, 2, 4, 5, 6, 8, 9, 10, 11}) == ("REMAP", 0, [])
    assert kept(set(range(15)), registers=16, hot=(15, 15, 15, 15)) == ("REMAP", 0, [])
    assert kept({1}, remap="migrate") == ("DRAIN", 0, [])


def test_what_was_missed_is_forgotten_with_the_kernel():
    async def bench(ctx):
        ctx.set(part.unused, 1)
        await begin(ctx, part)
        await launch(ctx, part, 0)
        await leave(ctx, part, 0)
        await ctx.tick().repeat(REGISTERS - 1)
        assert states(ctx, part)[0] == "SORT" and ctx.get(part.keeps)
        ctx.set(part.kernel_valid, 1)
        assert not ctx.get(part.keeps)
        ctx.set(part.unused, 0)
        await begin(ctx, part)
        await launch(ctx, part, 0)
        await leave(ctx, part, 0)
        await ctx.tick().repeat(REGISTERS)
        assert states(ctx, part)[0] == "REMAP"

    part = KernelState(config(fast_registers=FAST))
    run(part, bench)


def test_a_pilot_may_be_trusted_always():
    async def bench(ctx):
        await begin(ctx, part)
        await launch(ctx, part, 0)
        await leave(ctx, part, 0)
        await ctx.tick().repeat(REGISTERS)
        assert states(ctx, part)[0] == "REMAP"

    for changes in ({"pilot_map": "always"}, {"profile": "pilot"}):
        part = KernelState(config(fast_registers=FAST, **changes))
        assert not hasattr(part, "unused")
        run(part, bench)
