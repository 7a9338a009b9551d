"""Collectors that stand in for the scoreboard: a head beat is clear unless they say that it is blocked."""

import dataclasses

import pytest
from amaranth.sim import Simulator

from tests.hdl.unstamped import inside
from warpfile.hdl import frame
from warpfile.hdl.frame import Frame
from warpfile.hdl.scheduler.policy import Lrr
from warpfile.spec.config import Config


class Guarded(Config):
    """Collectors that decide over every head beat."""

    @property
    def asks(self):
        return dataclasses.replace(super().asks, guards=True)


CFG = Guarded(warps=2, lanes=1, collectors=1, rows=8, register_names=8, source_slots=1)


def test_a_warp_issues_whatever_is_pending_once_nothing_blocks_it(monkeypatch):
    monkeypatch.setattr(frame, "stamp", inside)
    part = Frame(CFG, Lrr)

    async def bench(ctx):
        for port in (part.launch_ready, part.launch.valid, part.accept):
            ctx.set(port, 1)
        ctx.set(part.room, 0b11)
        ctx.set(part.blocked, 0b01)
        await ctx.tick()
        ctx.set(part.launch.valid, 0)
        ctx.set(part.decode_valid, 1)
        ctx.set(part.decode, {"executes": 1, "dest": 5, "dest_count": 1, "source_valid": 1, "sources": [5]})
        await ctx.tick().repeat(2)
        ctx.set(part.decode_valid, 0)
        assert (ctx.get(part.buffered), ctx.get(part.clear), ctx.get(part.issue)) == (0b01, 0, 0)
        ctx.set(part.blocked, 0)
        for _ in range(2):  # the second beat reads and writes what the first one writes
            assert (ctx.get(part.clear), ctx.get(part.issue)) == (0b01, 1)
            await ctx.tick()
        assert ctx.get(part.clear) == 0

    simulator = Simulator(part)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()


def test_a_scheduler_with_places_is_refused():
    with pytest.raises(ValueError, match="scheduler must be one without places, not two_level: there is no scoreboard"):
        CFG.replace(scheduler="two_level")
