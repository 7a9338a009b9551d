"""Collectors in a simulator, between a frame and a register file that a test plays."""

from amaranth.sim import Simulator

from tests.hdl.unstamped import inside


def simulate(monkeypatch, build, modules, scene):
    """Run a scene against the part that ``build`` makes, with what ``modules`` stamp in one tree."""
    for module in modules:
        monkeypatch.setattr(module, "stamp", inside)
    part = build()

    async def bench(ctx):
        await scene(ctx, part)

    simulator = Simulator(part)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()


def offer(ctx, part, warp=None, **beat):
    """Offer the head beat of a warp, or none. All other warps have the same beat at their heads."""
    for number, head in enumerate(part.heads):
        ctx.set(head, {"warp": number, "executes": 1, **beat})
    ctx.set(part.buffered, (1 << len(part.heads)) - 1)
    ctx.set(part.offer_valid, warp is not None)
    ctx.set(part.offer, {} if warp is None else {"warp": warp, "executes": 1, **beat})
    ctx.set(part.offer_warp, 0 if warp is None else 1 << warp)


def accept(ctx, part, *ports):
    """These execution ports are ready, the others are not."""
    for number, port in enumerate(part.dispatch):
        ctx.set(port.ready, number in ports)


def payloads(ctx, part):
    """What leaves in this cycle, by port."""
    return {
        number: ctx.get(port.payload.payload)
        for number, port in enumerate(part.dispatch)
        if ctx.get(port.valid) and ctx.get(port.ready)
    }
