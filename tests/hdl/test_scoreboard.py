"""The drain rule of a scoreboard, case by case (docs/machine.md, section 4)."""

import pytest
from amaranth.sim import Simulator

from warpfile.hdl.scoreboard import WarpScoreboard
from warpfile.spec.beat import SCHEME_PINS
from warpfile.spec.config import Config
from warpfile.spec.trace import Drain, Kind

CFG = Config(warps=4, lanes=1, ctas=2, banks=2, rows=16, collectors=2, register_names=16, payload_bits=16)


class Draining(Config):
    """Knows pseudo-instructions."""

    @property
    def operand_bits(self):
        """Width of the operand."""
        return 4


PENDING = ("nothing", "register", "token")


def clear(part, kind, drain, collecting, pending):
    """Whether such a head beat is clear, and whether it waits for a load, while something is pending."""
    found = {}

    async def bench(ctx):
        ctx.set(part.reserve, 1)
        ctx.set(part.reserve_registers, (pending == "register") << 5)
        ctx.set(part.reserve_tokens, (pending == "token") << 3)
        ctx.set(part.reserve_long, 1)
        await ctx.tick()
        ctx.set(part.reserve, 0)
        ctx.set(part.valid, 1)
        ctx.set(part.head.kind, kind)
        ctx.set(part.head.drain, drain)
        ctx.set(part.collecting, collecting)
        found["clear"], found["long"] = ctx.get(part.clear), ctx.get(part.touches_long)
        ctx.set(part.release, 1)
        ctx.set(part.release_registers[0], 1 << 5)
        ctx.set(part.release_tokens[0], 1 << 3)
        await ctx.tick()
        found["after"] = ctx.get(part.clear)

    simulator = Simulator(part)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    return found


@pytest.mark.parametrize("pending", PENDING)
@pytest.mark.parametrize("collecting", (0, 1))
@pytest.mark.parametrize("drain", list(Drain))
def test_a_pseudo_instruction_waits_for_what_its_class_says(drain, collecting, pending):
    cfg = Draining(**CFG.replace(scheduler="two_level", active_warps=2).to_json())
    busy = collecting if drain != Drain.NONE else 0
    waits = drain == Drain.EMPTY and pending != "nothing"
    assert clear(WarpScoreboard(cfg), SCHEME_PINS, drain.value, collecting, pending) == {
        "clear": not busy and not waits,
        "long": drain == Drain.EMPTY and pending == "register",
        "after": not busy,
    }


@pytest.mark.parametrize("pending", PENDING)
@pytest.mark.parametrize("kind", (Kind.NORMAL, Kind.BARRIER, Kind.EXIT))
def test_other_beats_wait_as_ever_beside_pseudo_instructions(kind, pending):
    cfg = Draining(**CFG.replace(scheduler="two_level", active_warps=2).to_json())
    waits = kind == Kind.EXIT and pending != "nothing"
    found = clear(WarpScoreboard(cfg), kind.value, 0, 0, pending)
    assert found == {"clear": not waits, "long": 0, "after": 1}
    assert clear(WarpScoreboard(cfg), kind.value, 0, 1, pending)["clear"] == (kind == Kind.NORMAL)


class Weak(WarpScoreboard):
    """Takes no drain class seriously."""

    def _undrained(self, pending, tokens):
        return super()._undrained(pending, tokens) & (self.head.kind != SCHEME_PINS)


@pytest.mark.parametrize(
    ("drain", "collecting", "pending"),
    [(Drain.DISPATCHED, 1, "nothing"), (Drain.EMPTY, 1, "nothing"), (Drain.EMPTY, 0, "register")],
)
def test_a_weak_scoreboard_is_found(drain, collecting, pending):
    cfg = Draining(**CFG.replace(scheduler="two_level", active_warps=2).to_json())
    case = (SCHEME_PINS, drain.value, collecting, pending)
    assert (clear(WarpScoreboard(cfg), *case)["clear"], clear(Weak(cfg), *case)["clear"]) == (0, 1)
