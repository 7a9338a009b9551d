"""The frame as a whole: what keeps a head beat from being offered."""

from amaranth.sim import Simulator

from tests.hdl.unstamped import inside
from warpfile.hdl import frame
from warpfile.hdl.frame import Frame
from warpfile.hdl.scheduler.policy import Lrr
from warpfile.spec.config import Config

CFG = Config(warps=2, lanes=1, collectors=1, rows=8, register_names=8, source_slots=1)


def test_a_beat_is_not_clear_while_the_collectors_block_its_warp(monkeypatch):
    monkeypatch.setattr(frame, "stamp", inside)
    part = Frame(CFG, Lrr)

    async def bench(ctx):
        for port in (part.launch_ready, part.launch.valid, part.decode_valid):
            ctx.set(port, 1)
        ctx.set(part.room, 0b11)
        ctx.set(part.decode, {"executes": 1, "dest": 5, "dest_count": 1})
        for warp in range(2):
            ctx.set(part.launch.payload.warp, warp)
            ctx.set(part.decode.warp, warp)
            await ctx.tick()
        ctx.set(part.launch.valid, 0)
        ctx.set(part.decode_valid, 0)
        for blocked in (0b11, 0b10, 0b01, 0b00):
            ctx.set(part.blocked, blocked)
            free = ~blocked & 0b11
            assert (ctx.get(part.clear), ctx.get(part.offer_valid)) == (free, free > 0)

    simulator = Simulator(part)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
